"""The servers of a development deployment, as child processes that end with this one."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapter.cli.authored import Authored
from adapter.cli.credentials import ClientTokens
from adapter.cli.exchange import ask_once
from adapter.cli.local_files import (
    Addresses,
    Bound,
    LocalFiles,
    event_source_of,
)
from adapter.cli.local_issuer import TASK_AUTHORITY_KEY, prepare_issuer
from adapter.cli.pretend_connections import pretend_connections
from adapter.cli.service_client import ServiceClient
from adapter.config.profile import load_profile
from adapter.embedded import (
    SERVICE_ROLE,
    ChildProcess,
    EmbeddedPostgres,
    EmbeddedTemporal,
    StateFolder,
    free_port,
    require_port,
)
from adapter.errors import Unavailable
from adapter.ledger.migrations import migrate
from adapter.simulation import connection_documents

SOURCE_ROOT = Path(__file__).resolve().parents[2]
PREFERRED_PORTS = {
    "api": 8300,
    "temporal": 7233,
    "temporalUi": 8233,
    "products": 8090,
    "issuer": 8310,
    "postgres": 5433,
}
_READY_SECONDS = 90.0
_LOOK_SECONDS = 0.1
_SIMULATION_POLL_SECONDS = 3
_DATABASE = "coordinator"


@dataclass(frozen=True, slots=True)
class LocalPlan:
    """What to start: where data lives, how many workers, and which ports are asked for.

    ``fixed_ports`` are refused when they are taken; every other port moves when it has to. An
    ``authored`` project is bound to its simulation in the place of the pretend products. ``say``
    tells a person how the start goes on.
    """

    folder: Path
    workers: int = 2
    fixed_ports: dict[str, int] = field(default_factory=dict)
    preferred_ports: dict[str, int] = field(default_factory=lambda: dict(PREFERRED_PORTS))
    floor_seconds: int = 1
    poll_seconds: int = 15
    authored: Authored | None = None
    say: Callable[[str], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class LocalServers:
    """Running servers: their addresses, files, and the processes that may be started again."""

    files: LocalFiles
    addresses: Addresses
    processes: Sequence[ChildProcess]
    lasting: Sequence[ChildProcess]
    simulated: bool = False

    @property
    def client(self) -> ServiceClient:
        """The service for an operator, as the commands use it."""
        return ServiceClient(self.addresses.api, ClientTokens(load_profile(self.files.profile)))

    @property
    def application(self) -> ServiceClient:
        """The service for a program that starts runs and follows its own."""
        profile = load_profile(self.files.application_profile)
        return ServiceClient(self.addresses.api, ClientTokens(profile))

    async def keep_up(self, stop: asyncio.Event, say: Callable[[str], None]) -> None:
        """Start processes of ours again when they end, until ``stop``.

        Raises Unavailable ``local.server-ended`` when PostgreSQL or Temporal ends.
        """
        while not stop.is_set():
            for server in self.lasting:
                if not server.running:
                    raise Unavailable(
                        "local.server-ended",
                        f"{server.name} ended by itself",
                        place=str(server.log_file),
                        remedy="read its log, then start again: the data is kept",
                    )
            for process in self.processes:
                if not process.running and not stop.is_set():
                    say(f"{process.name} ended ({process.exit_code}); starting it again")
                    await process.start()
            try:
                await asyncio.wait_for(stop.wait(), 1.0)
            except TimeoutError:
                continue


@asynccontextmanager
async def running_servers(plan: LocalPlan) -> AsyncIterator[LocalServers]:
    """PostgreSQL, Temporal, products, the service and workers; all stopped at the end.

    Raises EmbeddedError, or Unavailable ``local.did-not-start`` naming the log to read.
    """
    if plan.authored is None:
        _require_examples()
    files = LocalFiles(plan.folder)
    async with AsyncExitStack() as stack:
        stack.enter_context(StateFolder(files.folder))
        files.prepare()
        ports = _choose_ports(plan, files)
        postgres = EmbeddedPostgres(files.folder / "postgres", ports["postgres"])
        temporal = EmbeddedTemporal(
            files.folder / "temporal" / "temporal.db",
            log_file=files.folder / "logs" / "temporal.log",
            port=ports["temporal"],
            ui_port=ports["temporalUi"],
            ui_codec=f"http://127.0.0.1:{ports['api']}/codec/{files.temporal_ui_key}",
        )
        issuer = _issuer(files, ports)
        products = _products(plan, files, ports)
        plan.say(f"starting PostgreSQL, Temporal, an issuer of tokens and the {products.name}")
        await _start_all(stack, postgres, temporal, issuer, products)
        ledger = await postgres.ensure_ledger(_DATABASE)
        addresses = Addresses(
            temporal=temporal.address,
            temporal_ui=temporal.ui_url,
            api_port=ports["api"],
            products=f"http://127.0.0.1:{ports['products']}",
            issuer=_issuer_of(ports),
            database_url=ledger.service,
            owner_url=ledger.owner,
        )
        bound = _bound(plan, addresses)
        files.write_runtime(addresses, _waits(plan, bound), bound)
        await migrate(ledger.owner, SERVICE_ROLE)
        plan.say("starting the service and its workers")
        ours = [_service(files), *(_worker(files, n) for n in range(1, plan.workers + 1))]
        await _start_all(stack, *ours)
        await _until_answers(products, f"{addresses.products}/health")
        await _until_answers(issuer, f"{addresses.issuer}/health")
        await _until_answers(ours[0], f"{addresses.api}/ready")
        await _until_polled(files, ours[1:])
        lasting = [postgres.process, temporal.process]
        simulated = plan.authored is not None
        yield LocalServers(files, addresses, [products, issuer, *ours], lasting, simulated)
        plan.say("stopping")


async def _start_all(
    stack: AsyncExitStack, *servers: EmbeddedPostgres | EmbeddedTemporal | ChildProcess
) -> None:
    """Start servers at the same time; each is stopped at the end, also if another one fails."""

    async def stop_all() -> None:
        await asyncio.gather(*(server.stop() for server in servers))

    stack.push_async_callback(stop_all)
    outcomes = await asyncio.gather(*(s.start() for s in servers), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome


def _choose_ports(plan: LocalPlan, files: LocalFiles) -> dict[str, int]:
    """The ports asked for, else those of the last start, else the usual ones, else free ones."""
    wanted = plan.preferred_ports | files.ports()
    ports: dict[str, int] = {}
    for name, usual in wanted.items():
        if name in plan.fixed_ports:
            ports[name] = require_port(plan.fixed_ports[name], name)
            continue
        port = free_port(usual if usual and usual not in ports.values() else None)
        if usual and port != usual:
            plan.say(f"port {usual} for {name} is taken; using {port}")
        ports[name] = port
    files.remember_ports(ports)
    return ports


def _require_examples() -> None:
    if not (SOURCE_ROOT / "examples" / "products" / "__main__.py").is_file():
        raise Unavailable(
            "local.examples-absent",
            "the pretend products are not installed",
            place=str(SOURCE_ROOT / "examples"),
            remedy="run this command from a source checkout of the project",
        )


def _environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("COORDINATOR_")}
    return inherited | {"PYTHONPATH": str(SOURCE_ROOT)} | (extra or {})


def _bound(plan: LocalPlan, at: Addresses) -> Bound:
    if plan.authored is None:
        return Bound(pretend_connections(at.products, at.issuer))
    definition = plan.authored.packaged.definition
    return Bound(
        connection_documents(definition, at.products),
        plan.authored.catalogue,
        event_source_of(definition),
    )


def _waits(plan: LocalPlan, bound: Bound) -> dict[str, Any]:
    """A simulation tells nobody when a result is there: it is asked often."""
    products = sorted({one["product"] for one in bound.connections.values()})
    polls = (
        {"casework": plan.poll_seconds}
        if plan.authored is None
        else dict.fromkeys(products, _SIMULATION_POLL_SECONDS)
    )
    return {"floorSeconds": plan.floor_seconds, "pollSeconds": polls}


def _issuer_of(ports: dict[str, int]) -> str:
    return f"http://127.0.0.1:{ports['issuer']}"


def _issuer(files: LocalFiles, ports: dict[str, int]) -> ChildProcess:
    arguments = ["--folder", str(prepare_issuer(files)), "--port", str(ports["issuer"])]
    return ChildProcess(
        "issuer",
        [sys.executable, "-m", "adapter.issuer", *arguments],
        log_file=files.folder / "logs" / "issuer.log",
        environment=_environment(),
        directory=SOURCE_ROOT,
    )


def _products(plan: LocalPlan, files: LocalFiles, ports: dict[str, int]) -> ChildProcess:
    if plan.authored is None:
        return _pretend_products(files, ports)
    state = files.folder / "simulation"
    state.mkdir(exist_ok=True, mode=0o700)
    playing = state / "plan.json"
    plan.authored.plan.write(playing)
    arguments = ["--plan", str(playing), "--state", str(state), "--port", str(ports["products"])]
    return ChildProcess(
        "simulation",
        [sys.executable, "-m", "adapter.simulation", *arguments],
        log_file=files.folder / "logs" / "simulation.log",
        environment=_environment(),
        directory=SOURCE_ROOT,
    )


def _pretend_products(files: LocalFiles, ports: dict[str, int]) -> ChildProcess:
    state = files.folder / "products"
    state.mkdir(exist_ok=True, mode=0o700)
    events = f"http://127.0.0.1:{ports['api']}/v1/review-completions"
    arguments = ["--port", str(ports["products"]), "--state", str(state), "--webhook-url", events]
    arguments += ["--issuer", _issuer_of(ports)]
    secrets = {
        "PRODUCTS_GRANT_KEY": files.secret(TASK_AUTHORITY_KEY),
        "PRODUCTS_BEARER": files.secret("products-token"),
        "PRODUCTS_WEBHOOK_SECRET": files.secret("casework-events"),
    }
    return ChildProcess(
        "pretend products",
        [sys.executable, "-m", "examples.products", *arguments],
        log_file=files.folder / "logs" / "products.log",
        environment=_environment(secrets),
        directory=SOURCE_ROOT,
    )


def _service(files: LocalFiles) -> ChildProcess:
    return _program(files, "service", "serve")


def _worker(files: LocalFiles, number: int) -> ChildProcess:
    name = f"worker-{number}"
    ready = _ready_file(files, name)
    ready.unlink(missing_ok=True)
    return _program(files, name, "worker", "--ready-file", str(ready))


def _ready_file(files: LocalFiles, worker: str) -> Path:
    return files.folder / "logs" / f"{worker}.ready"


def _program(files: LocalFiles, name: str, *command: str) -> ChildProcess:
    program = [sys.executable, "-m", "adapter.cli.service", *command]
    return ChildProcess(
        name,
        [*program, "--runtime", str(files.runtime)],
        log_file=files.folder / "logs" / f"{name}.log",
        environment=_environment(),
        directory=SOURCE_ROOT,
        stop_seconds=25.0,
    )


def _last_words(process: ChildProcess) -> str:
    """The error that a process of ours said last, for people who do not want to open its log."""
    try:
        lines = process.log_file.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    said = [line for line in lines if line.startswith("error[")]
    return f", it said {said[-1]}" if said else ""


async def _until_answers(process: ChildProcess, url: str) -> None:
    origin, _, path = url.rpartition("/")

    async def answers() -> bool:
        try:
            answer = await asyncio.to_thread(ask_once, origin, "GET", f"/{path}")
        except Unavailable:
            return False
        return answer.status == 200

    await _until(answers, [process])


async def _until_polled(files: LocalFiles, workers: Sequence[ChildProcess]) -> None:
    async def polled() -> bool:
        return all(_ready_file(files, worker.name).exists() for worker in workers)

    await _until(polled, workers)


async def _until(ready: Callable[[], Awaitable[bool]], processes: Sequence[ChildProcess]) -> None:
    deadline = asyncio.get_running_loop().time() + _READY_SECONDS
    while not await ready():
        late = asyncio.get_running_loop().time() > deadline
        for process in processes:
            if late or not process.running:
                raise Unavailable(
                    "local.did-not-start",
                    f"{process.name} did not get ready{_last_words(process)}",
                    place=str(process.log_file),
                    remedy="read its log",
                )
        await asyncio.sleep(_LOOK_SECONDS)
