"""The demo as a process: every end of the example, exit codes, and nothing left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from adapter.cli.demo_cases import CASES
from tests.acceptance.conftest import ROOT, START_SECONDS, command, environment, processes_of

pytestmark = pytest.mark.timeout(START_SECONDS)


def test_every_case_ends_as_it_says(tmp_path: Path) -> None:
    done = subprocess.run(
        command("main", "demo", "--case", "all", "--data", str(tmp_path), "--format", "json"),
        capture_output=True,
        text=True,
        env=environment(),
        cwd=ROOT,
        check=False,
        timeout=START_SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    told = {one["case"]: one for one in json.loads(done.stdout)}
    assert {name: one["run"]["state"] for name, one in told.items()} == {
        name: case.state for name, case in CASES.items()
    }
    assert all("/namespaces/default/workflows/" in one["temporalUi"] for one in told.values())
    assert processes_of(tmp_path) == {}


def test_an_interrupt_stops_everything(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("main", "demo", "--data", str(tmp_path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=ROOT,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "runtime.yaml").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "")
    assert processes_of(tmp_path) == {}
