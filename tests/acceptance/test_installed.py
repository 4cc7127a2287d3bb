"""The wheel alone is the program: no repository, nothing written, no home, and a clean end."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from adapter.cli.credentials import ApiKey
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.pretend_connections import pretend_connections
from adapter.cli.service_client import ServiceClient
from adapter.config.loading import load_runtime
from adapter.embedded import free_port
from adapter.errors import Unavailable
from adapter.wiring.deployment import schedule_of
from examples.products.client import PretendProducts
from examples.products.settings import DEVELOPMENT_BEARER
from tests.acceptance.conftest import ROOT, eventually
from tests.fixtures.deployment import write_runtime
from tests.fixtures.postgres import as_owner

pytestmark = pytest.mark.timeout(180)
_MODULES = {"coordinatorctl": "adapter.cli.main", "coordinator": "adapter.cli.service"}
_WRITING = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


@dataclass
class Installed:
    """The wheel's files, and a folder for temporary files that is to stay empty."""

    site: Path
    temporary: Path
    runtime: str = ""

    def command(self, program: str, *arguments: str) -> list[str]:
        """A command line that can import the wheel and its dependencies, and nothing else."""
        # Without site, the editable install of this repository is not on the path.
        return [sys.executable, "-S", "-P", "-m", _MODULES[program], *arguments]

    @property
    def environment(self) -> dict[str, str]:
        """What the image sets, and not a variable more: no HOME, no user, no locale."""
        places = [str(self.site), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        return {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(places)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(self.temporary),
            "COORDINATOR_RUNTIME": self.runtime,
        }

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """What a command says, started where nothing may be written."""
        return subprocess.run(
            self.command(program, *arguments),
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.site,
            check=False,
            timeout=60,
        )

    @contextmanager
    def running(self, log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """A process of `coordinator`, killed at the end if it still lives."""
        with log.open("wb") as file:
            process = subprocess.Popen(
                self.command("coordinator", *arguments),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=self.environment,
                cwd=self.site,
            )
            try:
                yield process
            finally:
                process.kill()
                process.wait()

    def files(self) -> dict[str, tuple[int, int]]:
        """Every file there, with its size and when it was changed."""
        found = ((str(path), path.stat()) for path in sorted(self.site.rglob("*")))
        return {name: (facts.st_size, facts.st_mtime_ns) for name, facts in found}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the wheel as an installer lays them, read-only."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    site = folder / "site"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        archive.extractall(site)
    for path in (*site.rglob("*"), site):
        path.chmod(path.stat().st_mode & ~_WRITING)
    return site


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Installed:
    (tmp_path / "temporary").mkdir()
    return Installed(wheel, tmp_path / "temporary")


@pytest.fixture
def files(
    tmp_path: Path,
    empty_database_url: str,
    temporal_address: str,
    task_queue: str,
    products: PretendProducts,
    installed: Installed,
) -> LocalFiles:
    """A deployment over a database that nobody has migrated yet."""
    urls = (empty_database_url, as_owner(empty_database_url))
    nowhere, port = "http://127.0.0.1:1", free_port()
    addresses = Addresses(temporal_address, nowhere, port, products.base_url, *urls)
    changes: dict[str, dict[str, Any]] = {
        "temporal": {"taskQueue": task_queue},
        "waits": {"floorSeconds": 1, "pollSeconds": {"casework": 1}},
    }
    made = write_runtime(
        tmp_path / "deployment",
        addresses,
        pretend_connections(products.base_url),
        changes,
        deployment=task_queue,
        products_token=DEVELOPMENT_BEARER,
    )
    installed.runtime = str(made.runtime)
    return made


def _answers(client: ServiceClient, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()[-2000:]
    try:
        return bool(client.get("/ready"))
    except Unavailable:
        return False


async def test_the_wheel_takes_a_run_from_its_project_to_its_end(
    tmp_path: Path,
    installed: Installed,
    files: LocalFiles,
    products: PretendProducts,
    temporal_client: Client,
) -> None:
    before = installed.files()
    project, package = str(ROOT / "examples" / "reviewed-notice"), str(tmp_path / "package")
    for words in (("package", project, "--output", package), ("apply", "--package", package)):
        done = installed.run("coordinatorctl", *words)
        assert done.returncode == 0, done.stderr
    runtime = load_runtime(files.runtime)
    client = ServiceClient(
        runtime.document.api.public_url, ApiKey(files.secret(files.api_key_file.name))
    )
    logs = {name: tmp_path / f"{name}.log" for name in ("serve", "worker")}
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(installed.running(log, name)) for name, log in logs.items()
        }
        eventually(lambda: _answers(client, processes["serve"], logs["serve"]))
        (tmp_path / "input.json").write_text(json.dumps({"applicationId": "APP-1001"}))
        wanted = ("--workflow", "reviewed-notice", "--input", str(tmp_path / "input.json"))
        started = installed.run(
            "coordinatorctl", "start", *wanted, "--key", "one", "--format", "json"
        )
        assert started.returncode == 0, started.stderr
        run = json.loads(started.stdout)["runId"]

        def ended() -> bool:
            for review in products.reviews("pending"):
                products.decide(review.review_request_id, "approved")
            return bool(client.get(f"/v1/runs/{run}")["state"] == "finished")

        eventually(ended, 90)
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: process.wait(45) for name, process in processes.items()}
    await temporal_client.get_schedule_handle(schedule_of(runtime).id).delete()
    assert codes == {"serve": 0, "worker": 0}
    assert not [log for log in logs.values() if "Traceback" in log.read_text()]
    assert installed.files() == before
    assert list(installed.temporary.iterdir()) == []


def test_nothing_of_the_repository_can_be_imported(installed: Installed) -> None:
    program = (
        "import importlib.util as i, adapter; print(adapter.__file__, i.find_spec('examples'))"
    )
    said = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program],
        capture_output=True,
        text=True,
        env=installed.environment,
        cwd=installed.site,
        check=True,
    ).stdout.split()
    assert said == [str(installed.site / "adapter" / "__init__.py"), "None"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("demo",), "local.examples-absent"),
        (("dev",), "local.examples-absent"),
        (("list",), "runtime.absent"),
    ],
)
def test_what_the_wheel_alone_can_not_do_is_one_clear_error(
    installed: Installed, words: tuple[str, ...], code: str
) -> None:
    done = installed.run("coordinatorctl", *words)
    assert done.returncode in (2, 3)
    assert done.stderr.startswith(f"error[{code}]")
    assert "Traceback" not in done.stderr
