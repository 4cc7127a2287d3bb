"""The commands as processes of their own, and the development servers that they start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adapter.cli.casework_client import PretendCasework
from adapter.cli.credentials import ApiKey
from adapter.cli.service_client import ServiceClient
from adapter.embedded import free_port
from adapter.errors import Unavailable

ROOT = Path(__file__).parents[2]
START_SECONDS = 150
_PORTS = ("api", "temporal", "temporalUi", "products", "issuer", "postgres")


def command(program: str, *arguments: str) -> list[str]:
    """A command line of `coordinatorctl` (program ``main``) or `coordinator` (``service``)."""
    return [sys.executable, "-m", f"adapter.cli.{program}", *arguments]


def environment(**extra: str) -> dict[str, str]:
    """The environment of a command, without settings of the test run."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("COORDINATOR_")}
    return inherited | {"PYTHONPATH": str(ROOT)} | extra


def processes_of(folder: Path) -> dict[int, str]:
    """Processes whose command line names a folder: pid -> command line."""
    found: dict[int, str] = {}
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found[int(entry.parent.name)] = line
    return found


def eventually(what: Callable[[], Any], seconds: float = 60) -> Any:
    """The first true answer of ``what``, asked several times a second."""
    deadline = time.monotonic() + seconds
    while not (answer := what()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.2)
    return answer


@dataclass
class Development:
    """`coordinatorctl dev` on a folder of its own."""

    folder: Path
    process: subprocess.Popen[str]
    addresses: dict[str, str]

    def ctl(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `coordinatorctl` against it."""
        return subprocess.run(
            command("main", *arguments),
            capture_output=True,
            text=True,
            env=environment(COORDINATOR_RUNTIME=str(self.folder / "runtime.yaml")),
            cwd=self.folder,
            check=check,
            timeout=60,
        )

    def json(self, *arguments: str) -> Any:
        """The JSON that a command says."""
        return json.loads(self.ctl(*arguments, "--format", "json").stdout)

    @property
    def client(self) -> ServiceClient:
        """The service, without the second that a command takes to begin."""
        key = (self.folder / "secrets" / "api-key").read_text().strip()
        return ServiceClient(self.addresses["service"], ApiKey(key))

    @property
    def desk(self) -> PretendCasework:
        """The reviewer's desk."""
        return PretendCasework(self.addresses["pretend products"])

    def start(self, key: str, application: str = "APP-1001") -> str:
        """Start a run of the example; gives its id."""
        [workflow] = self.client.get("/v1/workflows")["workflows"]
        body = {
            "workflow": workflow["workflow"],
            "revision": workflow["revision"],
            "input": {"applicationId": application},
        }
        run: str = self.client.post("/v1/runs", body, {"Idempotency-Key": key})["runId"]
        return run

    def inspection(self, run: str) -> Any:
        """A run in detail."""
        return self.client.get(f"/v1/runs/{run}/inspect")

    def ends_as(self, run: str, state: str) -> None:
        """Wait until a run has ended in this state."""
        eventually(lambda: self.inspection(run)["run"]["closedAt"], 90)
        assert self.inspection(run)["run"]["state"] == state

    def waits(self, run: str) -> str:
        """Wait until the review of a run is awaited; gives the review's id."""

        def open_review() -> str | None:
            open_waits = [w for w in self.inspection(run)["waits"] if not w["resolution"]]
            pending = self.desk.pending() if open_waits else []
            found = [r["reviewRequestId"] for r in pending if r["correlationId"] == run]
            return str(found[0]) if found else None

        review: str = eventually(open_review)
        return review

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop it as a person would; gives the exit code."""
        self.process.send_signal(number)
        self.process.communicate(timeout=60)
        return self.process.returncode


def develop(folder: Path, *arguments: str) -> Development:
    """Start `coordinatorctl dev` and wait for its addresses."""
    folder.mkdir(exist_ok=True)
    ports = folder / "ports.json"
    if not ports.exists():
        # Other tests run at the same time: the usual ports are not for us.
        ports.write_text(json.dumps({name: free_port() for name in _PORTS}))
    process = subprocess.Popen(
        command("main", "dev", *arguments, "--data", str(folder), "--format", "json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=ROOT,
    )
    assert process.stdout is not None
    said = ""
    while not said.endswith("}\n"):
        line = process.stdout.readline()
        assert line, process.communicate(timeout=60)[1]
        said += line
    addresses = json.loads(said)
    assert "service" in addresses, addresses
    return Development(folder, process, addresses)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Development]:
    """One development deployment for the tests of a module."""
    running = develop(tmp_path_factory.mktemp("development"))
    yield running
    if running.process.poll() is None:
        running.stop()
    assert processes_of(running.folder) == {}


@pytest.fixture
def development(deployment: Development) -> Development:
    """The module's deployment, once its service answers: another test may have stopped it."""
    if deployment.process.poll() is not None:
        again = develop(deployment.folder)
        deployment.process, deployment.addresses = again.process, again.addresses

    def answers() -> bool:
        try:
            return bool(deployment.client.get("/ready"))
        except Unavailable:
            return False

    eventually(answers)
    return deployment
