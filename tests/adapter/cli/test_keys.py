"""The command `keys`: what is under which sealing key, and a rotation from begin to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.cli.local_files import Addresses, Bound, LocalFiles
from adapter.config.loading import load_runtime
from adapter.crypto import Sealer, new_secret
from adapter.ledger import Ledger
from adapter.wiring.deployment import key_ring
from tests.adapter.cli.conftest import Run
from tests.adapter.ledger.words import PACKAGE, admission
from tests.fixtures.servers import run_apart

_NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def files(tmp_path: Path, database_url: str, owner_url: str) -> LocalFiles:
    """A deployment with one run, under the only version of its key."""
    made = LocalFiles(tmp_path / "deployment")
    made.prepare()
    at = Addresses("127.0.0.1:1", _NOWHERE, 1, _NOWHERE, database_url, owner_url)
    made.write_runtime(at, {}, Bound({}))
    run_apart(admit(made, database_url))
    return made


async def admit(files: LocalFiles, database_url: str) -> None:
    keys = key_ring(load_runtime(files.runtime))
    async with await Ledger.open(database_url, Sealer(keys, "development"), keys) as ledger:
        await ledger.packages.apply(PACKAGE, "deployer")
        await ledger.admissions.admit(admission())


def change(files: LocalFiles, active: int, *versions: int) -> None:
    """Write the key set as a deployer does."""
    for version in versions:
        file = files.secrets / f"state-key-{version}"
        if not file.exists():
            file.write_bytes(new_secret())
            file.chmod(0o600)
    document = yaml.safe_load(files.runtime.read_text())
    known = {str(version): f"secret:file/state-key-{version}" for version in versions}
    document["keys"]["state"] = {"active": active, "versions": known}
    files.runtime.write_text(yaml.safe_dump(document))


def keys(run: Run, files: LocalFiles, action: str) -> dict[int, Any]:
    said = run("keys", action, "--runtime", str(files.runtime), "--format", "json")
    assert said.code == 0
    return {version["version"]: version for version in said.object["versions"]}


def test_a_rotation_from_begin_to_end(run: Run, files: LocalFiles) -> None:
    assert keys(run, files, "status")[1]["runKeys"] == 1
    change(files, 2, 1, 2)
    before = keys(run, files, "status")
    assert (before[1]["mayBeTakenOut"], before[2]["runKeys"]) == (False, 0)
    after = keys(run, files, "reseal")
    assert (after[1]["mayBeTakenOut"], after[2]["runKeys"], after[2]["definitions"]) == (True, 1, 1)
    change(files, 2, 2)
    assert keys(run, files, "status")[1]["inKeySet"] is False


def test_people_see_what_may_be_taken_out(run: Run, files: LocalFiles) -> None:
    change(files, 2, 1, 2)
    said = run("keys", "reseal", "--runtime", str(files.runtime))
    assert said.code == 0
    assert "run keys resealed     1" in said.out
    assert "may be taken out" in said.out


def test_a_version_that_is_taken_out_too_early_is_refused(run: Run, files: LocalFiles) -> None:
    change(files, 2, 2)
    said = run("keys", "status", "--runtime", str(files.runtime), "--format", "json")
    assert said.code == 1
    assert said.object["code"] == "seal.key-missing"
    assert said.object["place"] == "/keys/state/versions/1"


def test_an_action_that_there_is_not_is_a_wrong_usage(run: Run, files: LocalFiles) -> None:
    assert run("keys", "forget", "--runtime", str(files.runtime)).code == 2
