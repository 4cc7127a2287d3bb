"""Tests of wrong command lines: one clear error, the right exit code, never a traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from adapter.cli.main import _ENTRIES
from adapter.cli.service_client import problem_error
from adapter.cli.terminal import GONE
from adapter.errors import Refused, Usage
from tests.adapter.cli.conftest import Run

_TEMPORAL = "temporal"
_HERE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        ("strt", "usage.invalid", "coordinatorctl"),
        ("--nonsense", "usage.unknown-option", "--nonsense"),
        ("list --formt json", "usage.unknown-option", "--formt"),
        ("list --format yaml", "usage.invalid-value", "--format"),
        ("list --limit many", "usage.invalid-value", "--limit"),
        ("list --limit 101", "usage.invalid-value", "--limit"),
        ("list --state asleep", "usage.invalid-value", "--state"),
        ("list --limit", "usage.missing", "--limit"),
        ("status", "usage.missing", "RUN"),
        ("status a b", "usage.invalid", "coordinatorctl status"),
        ("start --workflow w", "usage.missing", "--input"),
        ("start --workflow w --input /none.json", "input.unreadable", "/none.json"),
        ("decide perhaps", "usage.invalid-value", "DECISION"),
        ("demo --case nonsense", "demo.unknown-case", "--case"),
        ("dev --port 80", "usage.invalid-value", "--port"),
        ("watch --interval 0 x", "usage.invalid-value", "--interval"),
        ("retain --before yesterday", "usage.invalid-value", "--before"),
        ("retain --before 2026-12-01T00:00:00", "usage.invalid-value", "--before"),
        ("audit export --since yesterday", "usage.invalid-value", "--since"),
        ("status x --runtime /none.yaml", "runtime.absent", "/none.yaml"),
        ("check --runtime /none.yaml", "runtime.unreadable", "/none.yaml"),
        ("temporal workflow list", "runtime.absent", ".coordinator/runtime.yaml"),
        ("status x --url ftp://a --api-key-file /etc/hostname", "service.url-invalid", "--url"),
        ("status x --url http://127.0.0.1:1 --profile /none", "credential.unreadable", "/none"),
    ],
)
def test_a_wrong_line_is_a_usage_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, code: str, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run(*line.split())
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith(f"error[{code}]: {place}: ")
    assert "remedy:" in said.err


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (("start", "--workflow", "w", "--input", "-", "--key", ""), "--key"),
        (("start", "--workflow", "w", "--input", "-", "--revision="), "--revision"),
        (("cancel", "x", "--reason", "y", "--request-id", ""), "--request-id"),
        (("decide", "approved", "--review", ""), "--review"),
        (("status", "--runtime", "", "x"), "--runtime"),
        (("check", ""), "coordinatorctl check"),
    ],
)
def test_an_empty_value_is_not_an_option_left_out(
    run: Run, line: tuple[str, ...], place: str
) -> None:
    said = run(*line)
    assert said.code == 2
    assert said.err.startswith(f"error[usage.invalid-value]: {place}: the value is empty\n")


@pytest.mark.parametrize("key", ["a\nb", "ä", "€", " a", "a ", "x" * 257])
def test_a_key_that_no_service_takes_is_refused_before_it_is_sent(
    run: Run, tmp_path: Path, key: str
) -> None:
    (tmp_path / "input.json").write_text("{}")
    said = run("start", "--workflow", "w", "--input", str(tmp_path / "input.json"), "--key", key)
    assert said.code == 2
    assert said.err.startswith("error[idempotency.key-invalid]: --key: ")


def test_an_id_of_a_signal_is_such_a_key_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k")
    (tmp_path / "payload.json").write_text("{}")
    there = ("--url", "http://127.0.0.1:1", "--api-key-file", str(tmp_path / "key"))
    what = ("--name", "n", "--payload", str(tmp_path / "payload.json"), "--id", "x" * 257)
    said = run("signal", "--run", str(uuid.uuid4()), *what, *there)
    assert said.code == 2
    assert said.err.startswith("error[idempotency.key-invalid]: --id: ")


@pytest.mark.parametrize("command", ["status", "inspect", "watch"])
def test_what_is_no_run_id_is_refused_before_it_is_sent(
    run: Run, tmp_path: Path, command: str
) -> None:
    (tmp_path / "key").write_text("k")
    there = ("--url", "http://127.0.0.1:1", "--api-key-file", str(tmp_path / "key"))
    said = run(command, "nope", *there)
    assert said.code == 2
    assert said.err.startswith("error[run.id-invalid]: RUN: ")


def test_a_service_that_is_away_is_unavailable(run: Run, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k")
    there = ("--url", "http://127.0.0.1:1", "--api-key-file", str(tmp_path / "key"))
    said = run("list", *there)
    assert said.code == 3
    assert said.err.startswith("error[service.unavailable]: http://127.0.0.1:1: ")


def test_a_taken_port_that_was_asked_for_is_named(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = run("dev", "--data", str(tmp_path), "--port", str(port))
    assert said.code == 3
    assert said.err.startswith(f"error[embedded.port-taken]: 127.0.0.1:{port}: the port for ")


def test_an_error_in_json_form_is_one_object_on_stdout(run: Run) -> None:
    said = run("status", "--format", "json")
    assert said.code == 2
    assert said.object["code"] == "usage.missing"
    assert said.object["status"] == "usage-error"


def test_a_value_is_never_repeated(run: Run) -> None:
    said = run("list", "--limit", "hunter2", "--token=hunter2")
    assert "hunter2" not in said.err
    assert said.code == 2


@pytest.mark.parametrize(
    ("limit", "bound"), [("0", "greater than or equal to 1"), ("101", "less than or equal to 100")]
)
def test_a_number_that_is_refused_is_told_its_bound(run: Run, limit: str, bound: str) -> None:
    assert f"--limit: a number {bound} is wanted\n" in run("list", "--limit", limit).err


@pytest.mark.parametrize(
    ("place", "code", "flag"),
    [
        ("/before", "retention.invalid", "--before"),
        ("/reason", "act.reason-invalid", "--reason"),
        ("/recoveryReference", "act.reason-invalid", "--recovery-reference"),
        ("cursor", "cursor.invalid", "--cursor"),
        ("query/workflow", "request.invalid", "--workflow"),
        ("runId", "request.invalid", "RUN"),
        ("/id", "event.malformed", "--id"),
    ],
)
def test_a_value_that_the_service_can_not_read_is_wrong_usage_of_its_flag(
    place: str, code: str, flag: str
) -> None:
    said = problem_error(_HERE, 400, {"code": code, "place": place, "remedy": "see /o"})
    assert isinstance(said, Usage)
    assert (said.code, said.place) == (code, flag)
    assert ("--help" in said.remedy) == (code == "request.invalid")


@pytest.mark.parametrize("value", [None, [], {}])
def test_an_answer_that_is_no_problem_names_where_it_came_from(value: object) -> None:
    said = problem_error(_HERE, 502, value)
    assert (said.code, said.place) == ("service.answer-unusable", _HERE)


def test_what_is_not_there_is_refused_and_names_the_flag() -> None:
    said = problem_error(_HERE, 404, {"code": "signal.unknown", "place": "path/name"})
    assert isinstance(said, Refused)
    assert said.place == "--name"


@pytest.mark.parametrize(
    "line",
    [
        "list --limit 0 --format json",
        "schema",
        "--help",
        "--version",
        "list --help",
        "audit --help",
        "audit verify --help",
    ],
)
@pytest.mark.parametrize("lost", ["full", "closed", "gone"])
def test_output_that_goes_nowhere_is_one_error_and_no_traceback(line: str, lost: str) -> None:
    program = "import sys; from adapter.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *line.split()]
    if lost == "closed":
        command = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command]
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full", "wb") as full, os.fdopen(writing, "wb") as broken:
        out = {"full": full, "closed": None, "gone": broken}[lost]
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    refused = "--limit" in line
    assert done.returncode == (2 if refused else GONE if lost == "gone" else 3)
    lines = done.stderr.splitlines()
    if refused:
        assert lines[0].startswith("error[usage.invalid-value]: --limit: ")
    elif lost != "gone":
        assert lines[0].startswith("error[output.unwritable]: stdout: ")
    assert len(lines) == (0 if lost == "gone" and not refused else 2)


def test_what_a_command_opens_never_stands_where_errors_are_written() -> None:
    program = "import os; from adapter.cli.main import main; main(['--version']); os.fstat(2)"
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", program]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_every_finding_of_a_runtime_file_is_shown(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runtime.yaml").write_text("apiVersion: coordinator/v1\nmodus: x\n")
    said = run("check", "--runtime", str(tmp_path / "runtime.yaml"))
    assert said.code == 1
    assert said.err.count("config.missing-key") >= 5
    assert "runtime.yaml:2:1 (/modus)" in said.err
    found = run("check", "--runtime", str(tmp_path / "runtime.yaml"), "--format", "json").object
    assert len(found["diagnostics"]) >= 6


_ONE_FORM = {"openapi", "schema", "audit checkpoint", "audit keys"}


def _commands() -> list[str]:
    """Every command, those of groups by both words."""
    names = [(name, entry) for name, entry in _ENTRIES.items() if name != _TEMPORAL]
    inside = [f"{name} {command}" for name, entry in names for command in entry.commands]
    return [*(name for name, _ in names), *inside]


@pytest.mark.parametrize("command", _commands())
def test_every_command_has_help(run: Run, command: str) -> None:
    said = run(*command.split(), "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"Usage: coordinatorctl {command}")
    entry = _ENTRIES.get(command)
    if command not in _ONE_FORM and not (entry and entry.commands):
        assert "--format" in said.out


def test_help_and_no_arguments_list_every_command(run: Run) -> None:
    said = run("--help")
    assert said == run()
    assert all(f"  {name} " in said.out for name in _ENTRIES)


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from adapter.cli.main import main; main(['--help'])\n"
        "sys.exit(bool({'typer', 'pydantic', 'temporalio', 'rich'} & set(sys.modules)))"
    )
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0
    assert time.monotonic() - begun < 5


def test_the_service_program_refuses_like_the_other_one(capsys: pytest.CaptureFixture[str]) -> None:
    from adapter.cli.service import main

    assert main(["serve", "--runtime", "/none.yaml"]) == 2
    assert capsys.readouterr().err.startswith("error[runtime.absent]: /none.yaml: ")
    assert main(["worker", "--processes", "0"]) == 2


def test_every_command_stands_in_the_document() -> None:
    text = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
    assert [name for name in _ENTRIES if f"coordinatorctl {name}" not in text] == []
