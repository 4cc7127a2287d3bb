"""Projects of an author on simulated products: up, acted on, changed, and stopped whole."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import (
    ROOT,
    START_SECONDS,
    Development,
    command,
    develop,
    environment,
    eventually,
    processes_of,
)
from tests.adapter.simulation.older import write_older

pytestmark = pytest.mark.timeout(2 * START_SECONDS)

EXAMPLE = ROOT / "examples" / "reviewed-notice"


def _ended(development: Development, run: str) -> Any:
    eventually(lambda: development.inspection(run)["run"]["closedAt"], 90)
    return development.inspection(run)


def test_the_example_runs_on_its_simulation_and_is_activated_again_when_it_changed(
    tmp_path: Path,
) -> None:
    project = tmp_path / "notice"
    shutil.copytree(EXAMPLE, project)
    running = develop(project / ".coordinator", str(project), "--start", "--workers", "1")
    assert running.addresses["activation"] == "the first"
    run = running.addresses["run"]
    running.ctl("fail", "notice=lost-response")
    eventually(lambda: running.inspection(run)["waits"])
    running.ctl("decide", "approved")
    eventually(lambda: running.inspection(run)["run"]["state"] == "attention", 90)
    assert "unknown since" in running.ctl("inspect", run).stdout
    running.ctl("reconcile", run, "--reason", "The answer was lost.")
    ended = _ended(running, run)
    assert (ended["run"]["state"], ended["run"]["outcome"]) == ("finished", "notified")
    assert ended["effects"][-1]["attempts"] == 1
    assert running.stop() == 0
    assert processes_of(project) == {}
    workflow = (project / "workflow.yaml").read_text()
    (project / "workflow.yaml").write_text(
        workflow.replace("deadlineSeconds: 2592000", "deadlineSeconds: 2592001").replace(
            'version: "1"', 'version: "2"'
        )
    )
    again = develop(project / ".coordinator", str(project), "--case", "rejected", "--workers", "1")
    assert again.addresses["activation"] == "changed since the last start"
    sample = Path(again.addresses["sample input"])
    assert json.loads(sample.read_text()) == {"applicationId": "A-1001"}
    arguments = ("--workflow", "reviewed-notice", "--input", str(sample))
    another = again.json("start", *arguments)["runId"]
    eventually(lambda: again.inspection(another)["waits"])
    again.ctl("complete", "result")
    assert _ended(again, another)["run"]["outcome"] == "rejected"
    assert again.stop() == 0
    assert processes_of(project) == {}


def test_an_older_project_runs_to_its_end_by_itself(tmp_path: Path) -> None:
    project = write_older(tmp_path / "older")
    running = develop(project / ".coordinator", str(project), "--start", "--workers", "1")
    ended = _ended(running, running.addresses["run"])
    assert ended["run"]["outcome"] == "done"
    assert [effect["state"] for effect in ended["effects"]] == ["accepted"] * 5
    assert running.stop() == 0
    assert processes_of(project) == {}


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("/nowhere/at/all",), "coordinator.definition.read", 3),
        ((str(EXAMPLE), "--case", "unheard-of"), "dev.unknown-case", 2),
        ((str(EXAMPLE), "--fail", "nope=lost-response"), "simulation.unknown-step", 1),
        ((str(EXAMPLE), "--fail", "notice=late"), "simulation.failure-invalid", 2),
        ((str(EXAMPLE), "--catalogue", "/nowhere.yaml"), "catalogue.unreadable", 2),
        (("--start",), "dev.needs-project", 2),
    ],
)
def test_what_can_not_be_run_is_refused_before_anything_starts(
    arguments: tuple[str, ...], code: str, exit_code: int, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    line = command("main", "dev", *arguments, "--data", str(data))
    refused = subprocess.run(line, capture_output=True, text=True, env=environment(), timeout=60)
    assert refused.stderr.startswith(f"error[{code}]: ")
    assert (refused.returncode, data.exists()) == (exit_code, False)


def test_mistakes_of_a_project_are_shown_as_check_shows_them(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE / "workflow.yaml", tmp_path)
    shown = [
        subprocess.run(
            command("main", *arguments),
            capture_output=True,
            text=True,
            env=environment(),
            timeout=60,
        )
        for arguments in (("dev", str(tmp_path)), ("check", "--project", str(tmp_path)))
    ]
    assert (shown[0].returncode, shown[0].stderr) == (shown[1].returncode, shown[1].stderr)
    assert "functions.rhai" in shown[0].stderr
