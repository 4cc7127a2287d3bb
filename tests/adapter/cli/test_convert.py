"""A public runtime file as this program has it: every connection keeps who calls and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from activities.catalogue import Catalogue
from adapter.authoring.proof import prove_project
from adapter.config.loading import load_runtime
from tests.adapter.authoring.public_projects import FOLDER
from tests.adapter.cli.conftest import Run
from tests.adapter.config.test_runtime_file import sound

_PROJECTS = sorted(one.parent for one in FOLDER.glob("*/runtime.yaml"))


_VARIABLES = {
    "RECORDS_PRODUCT": "breg",
    "LETTERS_ORIGIN": "https://letters.example.org",
    "LOGIN_ORIGIN": "https://login.example.org",
    "CLIENT_ID": "desk",
    "STAGE": "one",
    "MOST_BYTES": "4096",
}


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in _VARIABLES.items():
        monkeypatch.setenv(name, value)


def _converted(run: Run, file: Path) -> dict[str, Any]:
    written = run("convert-runtime", "--environment", str(file))
    assert (written.code, written.err) == (0, "")
    document: dict[str, Any] = yaml.safe_load(written.out)
    return document


@pytest.mark.parametrize("project", _PROJECTS, ids=lambda one: one.name)
def test_a_converted_file_binds_the_project_as_the_public_one_does(
    run: Run, tmp_path: Path, project: Path
) -> None:
    file = tmp_path / "runtime.yaml"
    converted = _converted(run, project / "runtime.yaml")
    rest = sound()
    whole = rest | converted | {"secrets": rest["secrets"] | converted["secrets"]}
    file.write_text(yaml.safe_dump(whole))
    assert load_runtime(file, {}).document.connections
    assert prove_project(project, Catalogue.standard(), runtime=file).errors == ()


def test_a_task_authority_keeps_every_member(run: Run) -> None:
    file = FOLDER / "counter_booking" / "runtime.yaml"
    public = yaml.safe_load(file.read_text())["connections"]["calendar"]
    calendar = _converted(run, file)["connections"]["calendar"]
    for key in ("authorization", "observationAuthorization"):
        assert calendar[key] == {"type": "client-credentials", **public[key]}


def test_a_file_with_errors_is_not_converted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runtime.yaml"
    text = (FOLDER / "counter_booking" / "runtime.yaml").read_text()
    file.write_text(text.replace("product: scheduling", "product: breg"))
    refused = run("convert-runtime", str(file))
    assert (refused.code, refused.out) == (1, "")
    assert "coordinator.adapter.configuration" in refused.err


def test_a_file_of_this_program_is_not_converted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "runtime.yaml"
    file.write_text(yaml.safe_dump(sound()))
    assert run("convert-runtime", str(file)).err.startswith("error[runtime.not-public]")


def test_a_variable_is_read_only_when_asked_and_the_remedy_says_how(run: Run) -> None:
    refused = run("convert-runtime", str(FOLDER / "office_lookup" / "runtime.yaml"))
    assert (refused.code, refused.out) == (1, "")
    assert "config.substitution" in refused.err
    assert "give --environment" in refused.err


def test_the_role_and_the_root_certificate_of_the_database_are_not_lost(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "runtime.yaml"
    public = yaml.safe_load((FOLDER / "late-reminder" / "runtime.yaml").read_text())
    public["database"]["trustedRootCertificateRef"] = "secret:file/roots.pem"
    file.write_text(yaml.safe_dump(public))
    written = run("convert-runtime", "--environment", str(file))
    role = public["deployment"]["runtimeRole"]
    assert yaml.safe_load(written.out)["database"]["runtimeRole"] == role
    assert "sslmode=verify-full&sslrootcert=" in written.out
