"""The commands `audit …` over a ledger with a few records and checkpoints."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from adapter.audit import ocsf
from adapter.cli.local_files import Addresses, Bound, LocalFiles
from adapter.cli.pretend_connections import pretend_connections
from adapter.config.loading import load_runtime
from adapter.wiring.deployment import open_ledger, signing_keys
from tests.adapter.cli.conftest import Run
from tests.adapter.ledger.words import PACKAGE, admission
from tests.fixtures.postgres import as_owner
from tests.fixtures.servers import run_apart


@pytest.fixture
def runtime(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime file over a ledger with two runs, one under a checkpoint."""
    files = LocalFiles(tmp_path / "deployment")
    files.prepare()
    nowhere = "http://127.0.0.1:1"
    at = Addresses("127.0.0.1:1", nowhere, 1, nowhere, database_url, as_owner(database_url))
    files.write_runtime(at, {"floorSeconds": 1}, Bound(pretend_connections(nowhere)))
    monkeypatch.setenv("COORDINATOR_RUNTIME", str(files.runtime))
    monkeypatch.setattr("adapter.ledger.checkpoints._LEAST_AGE", timedelta(0))
    run_apart(filled(files.runtime))
    return files.runtime


async def filled(file: Path) -> None:
    """Admit two runs, with a checkpoint between."""
    runtime = load_runtime(file)
    keys = signing_keys(runtime)
    assert keys is not None
    async with open_ledger(runtime, pool_size=2) as ledger:
        await ledger.packages.apply(PACKAGE, "deployer")
        await ledger.admissions.admit(admission("one"))
        await ledger.checkpoints(keys).seal()
        await ledger.admissions.admit(admission("two"))


async def held(file: Path, reason: str) -> None:
    """Place the restore hold."""
    async with open_ledger(load_runtime(file), pool_size=2) as ledger:
        await ledger.holds.begin_review(ledger.keyed.reference("actor", "ops"), reason)


def kept(folder: Path, name: str, text: str) -> str:
    """A file with this text."""
    (folder / name).write_text(text)
    return str(folder / name)


def change(url: str, statement: str) -> None:
    """Tamper with the ledger as its owner."""
    with psycopg.connect(as_owner(url)) as owner:
        owner.execute(statement.encode())


def test_the_journal_is_proved_and_a_saved_checkpoint_stays_in_it(
    run: Run, runtime: Path, tmp_path: Path
) -> None:
    saved = kept(tmp_path, "saved.json", run("audit", "checkpoint").out)
    proved = run("audit", "verify", "--checkpoint", saved, "--format", "json").object
    assert (proved["records"], proved["chains"], proved["checkpoints"]) == (4, 3, 1)
    assert proved["unsealedRecords"] == 1
    assert run("audit", "verify").out.endswith("proved\n")


def test_a_database_that_is_away_is_one_error_and_no_warning_of_its_driver(runtime: Path) -> None:
    address = runtime.parent / "secrets" / "database-url"
    address.write_text("postgresql://coordinator_service@127.0.0.1:1/coordinator")
    command = [sys.executable, "-m", "adapter.cli.main", "audit", "verify", "--format", "json"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (said.returncode, said.stderr) == (3, "")
    assert json.loads(said.stdout)["code"] == "ledger.unavailable"


def test_the_first_bad_record_is_named(run: Run, runtime: Path, database_url: str) -> None:
    change(database_url, "update coordinator.journal set kind = 'x' where chain = 'deployment'")
    said = run("audit", "verify")
    assert said.code == 1
    assert said.err.startswith("error[audit.record-changed]: deployment/1: ")


@pytest.mark.parametrize("part", ["whole", "since", "run"])
def test_an_export_is_proved_without_the_ledger(
    run: Run, runtime: Path, tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("audit", "export").out.splitlines()
    run_id = next(
        record["chain"] for record in map(json.loads, whole) if record.get("kind") == "run.admitted"
    )
    options = {"whole": (), "since": ("--since", "2100-01-01T00:00:00Z"), "run": ("--run", run_id)}
    export = kept(tmp_path, "export.jsonl", run("audit", "export", *options[part]).out)
    keys = kept(tmp_path, "keys.json", run("audit", "keys").out)
    monkeypatch.delenv("COORDINATOR_RUNTIME")
    monkeypatch.chdir(tmp_path)
    said = run("audit", "verify", "--file", export, "--keys", keys, "--format", "json").object
    assert said["records"] == {"whole": 4, "since": 1, "run": 1}[part]


def test_events_for_other_tools_are_one_a_line(run: Run, runtime: Path) -> None:
    lines = run("audit", "export", "--format", "ocsf").out.splitlines()
    events = [json.loads(line) for line in lines]
    kinds = [event["api"]["operation"] for event in events]
    assert sorted(kinds) == [
        *("journal.checkpoint", "package.activated", "run.admitted", "run.admitted"),
        "schema.migrated",
    ]
    assert {event["metadata"]["version"] for event in events} == {ocsf.VERSION}


def test_the_records_of_a_chain_are_shown_with_their_checkpoint(run: Run, runtime: Path) -> None:
    shown = run("audit", "show", "deployment", "--format", "json").object
    records = [(one["sequence"], one["kind"], one["checkpoint"]) for one in shown["records"]]
    assert records == [(1, "schema.migrated", 1), (2, "package.activated", 1)]
    assert "package.activated" in run("audit", "show", "deployment").out
    assert run("audit", "show", "nobody").err.startswith("error[audit.chain-unknown]")


@pytest.mark.parametrize("format", ["jsonl", "ocsf"])
def test_a_run_that_the_journal_does_not_know_is_not_exported(
    run: Run, runtime: Path, format: str
) -> None:
    said = run("audit", "export", "--run", "nobody", "--format", format)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error[audit.chain-unknown]: nobody: ")


def test_a_table_shows_short_values_whole_and_marks_the_ones_it_cuts(
    run: Run, runtime: Path
) -> None:
    detail = run("audit", "show", "deployment", "--format", "json").object["records"][1]["detail"]
    shown = run("audit", "show", "deployment").out
    for name, value in detail.items():
        text = str(value)
        cut = text if len(text) <= 48 else f"{text[:17]}…"
        assert f"{name}={cut}" in shown


def test_reasons_are_read_by_an_operator_and_that_is_on_record(run: Run, runtime: Path) -> None:
    run_apart(held(runtime, "the backup of the night"))
    plain = run("audit", "show", "deployment", "--format", "json").out
    assert "backup of the night" not in plain
    shown = run("audit", "show", "deployment", "--reasons", "--format", "json").object["records"]
    assert [one["kind"] for one in shown if one["reason"] == "the backup of the night"] == [
        *("restore-hold.asked", "restore-hold.done")
    ]
    last = run("audit", "show", "deployment", "--format", "json").object["records"][-1]
    assert last["kind"] == "reasons.read"


def test_what_can_not_be_used_is_one_clear_error(run: Run, runtime: Path, tmp_path: Path) -> None:
    empty = kept(tmp_path, "empty.json", "{}")
    for wrong in (
        ("verify", "--keys", empty),
        ("verify", "--checkpoint", empty),
        ("verify", "--file", str(tmp_path)),
        ("verify", "--file", empty),
        ("export", "--since", "yesterday"),
        ("export", "--since", "2026-12-01T00:00:00Z", "--run", "x"),
    ):
        said = run("audit", *wrong)
        assert said.code == 2, said
        assert said.err.startswith("error[")
