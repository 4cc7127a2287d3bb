"""Every server of one deployment as a process, to be killed and started again at any moment."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from activities.faults import Point
from adapter.cli.activation import activate_project
from adapter.cli.casework_client import PretendCasework
from adapter.cli.credentials import ApiKey
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.pretend_connections import pretend_connections
from adapter.cli.service_client import ServiceClient
from adapter.embedded import (
    FAST_TIMERS,
    SERVICE_ROLE,
    ChildProcess,
    EmbeddedError,
    EmbeddedPostgres,
    EmbeddedTemporal,
    free_port,
)
from adapter.ledger.migrations import migrate
from examples.products.client import PretendProducts
from examples.products.settings import DEVELOPMENT_BEARER
from tests.fixtures.deployment import (
    ROOT,
    ready_file,
    service,
    until_polling,
    worker,
    write_runtime,
)

PROJECT = Path(__file__).with_name("project")
WORKERS = ("worker-1", "worker-2")
SERVICE, POSTGRES, TEMPORAL = "service", "postgres", "temporal"
_DATABASE = "coordinator"


@dataclass
class Deployment:
    """Running servers by name.

    ``down`` holds those that are meant not to run at the moment, ``killed`` those of them that
    somebody has killed and will revive.
    """

    files: LocalFiles
    postgres: EmbeddedPostgres
    temporal: EmbeddedTemporal
    addresses: Addresses
    api_address: str
    processes: dict[str, ChildProcess]
    down: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    deaths: int = 0

    @property
    def client(self) -> ServiceClient:
        """The service, as an application and an operator use it."""
        return ServiceClient(
            self.api_address, ApiKey(self.files.secret(self.files.api_key_file.name))
        )

    @property
    def desk(self) -> PretendCasework:
        """The reviewers' desk."""
        return PretendCasework(self.addresses.products)

    def products(self) -> PretendProducts:
        """The control of the products, to be closed."""
        return PretendProducts(self.addresses.products)

    def kill(self, name: str) -> None:
        """End a server at once, and keep it down."""
        self.down.add(name)
        self.killed.add(name)
        self.processes[name].kill()

    async def revive(self, name: str, fault: Point | str = "") -> None:
        """Start a server that is down; a worker or the service may be told where to die next."""
        await self.processes[name].stop()
        match name:
            case "postgres" | "temporal":
                await self.processes[name].start()
            case "service":
                await self._replace(service(self.files, fault))
            case _:
                await self._replace(worker(self.files, name, fault))
        self.down.discard(name)
        self.killed.discard(name)

    async def _replace(self, process: ChildProcess) -> None:
        ready_file(self.files, process.name).unlink(missing_ok=True)
        self.processes[process.name] = process
        await process.start()

    async def freeze(self, name: str, seconds: float) -> None:
        """Stop a server where it stands, and let it go on as if nothing had been.

        One that has died, or is just being started, can not be stopped.
        """
        try:
            pid = self.processes[name].pid
            os.kill(pid, signal.SIGSTOP)
        except (RuntimeError, ProcessLookupError):
            return
        try:
            await asyncio.sleep(seconds)
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    async def keep_up(self) -> None:
        """Start again whatever ended by itself, for ever."""
        while True:
            for name, process in list(self.processes.items()):
                if name not in self.down and not process.running:
                    self.deaths += 1
                    self.down.add(name)
                    await self._revive_again(name)
            await asyncio.sleep(0.2)

    async def _revive_again(self, name: str) -> None:
        try:
            await self.revive(name)
        except EmbeddedError:
            # It was killed while it started: whoever did that revives it, or the next look does.
            if name not in self.killed:
                self.down.discard(name)


@asynccontextmanager
async def deployment(folder: Path) -> AsyncIterator[Deployment]:
    """Everything started, the project active; every server is ended afterwards, by its pid."""
    async with AsyncExitStack() as stack:
        postgres = EmbeddedPostgres(folder / "postgres", free_port())
        temporal = EmbeddedTemporal(
            folder / "temporal" / "temporal.db",
            log_file=folder / "logs" / "temporal.log",
            port=free_port(),
            ui=False,
            dynamic_config=FAST_TIMERS,
        )
        stack.push_async_callback(temporal.stop)
        stack.push_async_callback(postgres.stop)
        api_port = free_port()
        products, products_address = _products(LocalFiles(folder), api_port)
        stack.push_async_callback(products.stop)
        await asyncio.gather(postgres.start(), temporal.start(), products.start())
        ledger = await postgres.ensure_ledger(_DATABASE)
        await migrate(ledger.owner, SERVICE_ROLE)
        addresses = Addresses(
            temporal.address,
            "http://127.0.0.1:1",
            api_port,
            products_address,
            ledger.service,
            ledger.owner,
        )
        files = _files(folder, addresses)
        await _until_served(addresses.products)
        await activate_project(files.runtime, PROJECT)
        started = {POSTGRES: postgres.process, TEMPORAL: temporal.process, SERVICE: service(files)}
        started |= {name: worker(files, name) for name in WORKERS}
        made = Deployment(files, postgres, temporal, addresses, addresses.api, started)
        stack.push_async_callback(_stop_ours, made)
        await asyncio.gather(*(started[name].start() for name in (SERVICE, *WORKERS)))
        await asyncio.gather(*(until_polling(files, started[name]) for name in WORKERS))
        yield made


def _files(folder: Path, addresses: Addresses) -> LocalFiles:
    connections = pretend_connections(addresses.products)
    # Faults have to meet effects in local activities too.
    connections["notices"]["dispatch"] = "local"
    changes: dict[str, dict[str, Any]] = {
        "waits": {"floorSeconds": 1, "pollSeconds": {"casework": 5}},
        "reconcile": {"everySeconds": 5},
    }
    return write_runtime(
        folder,
        addresses,
        connections,
        changes,
        deployment="chaos",
        products_token=DEVELOPMENT_BEARER,
    )


def _products(files: LocalFiles, api_port: int) -> tuple[ChildProcess, str]:
    files.prepare()
    port = free_port()
    events = f"http://127.0.0.1:{api_port}/v1/review-completions"
    secrets = {"PRODUCTS_WEBHOOK_SECRET": files.secret("casework-events")}
    arguments = ["--port", str(port), "--webhook-url", events]
    process = ChildProcess(
        "products",
        [sys.executable, "-m", "examples.products", *arguments],
        log_file=files.folder / "logs" / "products.log",
        environment=dict(os.environ) | {"PYTHONPATH": str(ROOT)} | secrets,
        directory=ROOT,
    )
    return process, f"http://127.0.0.1:{port}"


async def _until_served(address: str) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection(*_host_and_port(address))
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.removeprefix("http://").partition(":")
    return host, int(port)


async def _stop_ours(made: Deployment) -> None:
    names = (SERVICE, *WORKERS)
    await asyncio.gather(*(made.processes[name].stop() for name in names))
