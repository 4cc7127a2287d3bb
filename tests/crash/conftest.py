"""A deployment whose workers are processes of their own, to be killed at a chosen point."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.faults import Point
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.pretend_connections import pretend_connections
from adapter.config.loading import load_runtime
from adapter.embedded import ChildProcess
from adapter.ledger import Act, ActKind, Inspection, Ledger, RunStatus, Wish
from adapter.reconcile.acts import Courier
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.deployment import open_ledger, schedule_of
from adapter.wiring.sealing import codec_of
from examples.products.client import PretendProducts
from examples.products.settings import DEVELOPMENT_BEARER
from interpreter.contract.records import RunState
from interpreter.contract.runs import Binding
from tests.fixtures.admitted import OpenTemporal, catalogue_definition, start_admitted
from tests.fixtures.deployment import until_polling, worker, write_runtime
from tests.fixtures.postgres import as_owner

_DEATH_SECONDS = 60.0
_END_SECONDS = 90.0
_CONNECTIONS = {
    "breg": "registry",
    "casework": "reviews",
    "messaging": "notices",
    "evaluation": "assessment",
}


@dataclass
class Crashing:
    """One deployment; its workers are started, killed and started again by the test."""

    files: LocalFiles
    ledger: Ledger
    client: Client
    queue: str
    pretend: PretendProducts
    stack: AsyncExitStack
    started: list[str] = field(default_factory=list)
    workers: int = 0

    async def start(
        self,
        nodes: dict[str, Any],
        *,
        dispatch: str = "",
        window: int | None = None,
        deadline: int = 3600,
    ) -> str:
        """Start a run of these nodes.

        ``dispatch`` is local or remote for every connection, ``window`` the seconds for which
        products keep keys.
        """
        made = catalogue_definition(nodes, _CONNECTIONS, deadline=deadline, window=window)
        binding = Binding(dispatch=dict.fromkeys(made.connections, dispatch) if dispatch else {})
        run_id = await start_admitted(self.ledger, self.client, self.queue, made, binding)
        self.started.append(run_id)
        return run_id

    async def worker(self, fault: Point | None = None) -> ChildProcess:
        """A worker process that polls, and ends with the test at the latest."""
        self.workers += 1
        process = worker(self.files, f"worker-{self.workers}", fault or "")
        self.stack.push_async_callback(process.stop)
        await process.start()
        if fault is None:
            await until_polling(self.files, process)
        return process

    async def dies_at(self, point: Point) -> None:
        """Start a worker and wait until it has died at this point."""
        process = await self.worker(point)
        async with asyncio.timeout(_DEATH_SECONDS):
            code = await process.wait()
        assert code == 128 + signal.SIGKILL, process.log_file.read_text()[-2000:]

    async def status(self, run_id: str) -> RunStatus:
        """How the run stands."""
        return await self.ledger.reads.run_status(run_id, None)

    async def inspect(self, run_id: str) -> Inspection:
        """The run in detail."""
        return await self.ledger.reads.inspect(run_id, None)

    async def until(self, run_id: str, *states: RunState) -> RunStatus:
        """Wait until the run stands in one of these states."""
        async with asyncio.timeout(_END_SECONDS):
            while (status := await self.status(run_id)).state not in states:
                await asyncio.sleep(0.1)
        return status

    async def settled(self, run_id: str) -> RunState:
        """How the run ended, or attention."""
        finals = [state for state in RunState if state.final]
        return (await self.until(run_id, *finals, RunState.ATTENTION)).state

    async def act(self, run_id: str, kind: ActKind, seconds: float = 20) -> Act:
        """Do something about a run, as the service does; gives the act after so many seconds."""
        begun = await self.ledger.acts.begin(run_id, Wish(kind, "ops", "for good reason", kind))
        courier = Courier(self.ledger, OpenTemporal(self.client))
        return await courier.carry_out(begun, seconds)

    def keys(self, operation: str) -> list[str | None]:
        """The key of each request that an operation has received."""
        return [request.key for request in self.pretend.requests(operation)]

    def applied(self, operation: str) -> list[int]:
        """How often each effect was applied at its product."""
        return [effect.applied for effect in self.pretend.effects(operation)]


@asynccontextmanager
async def crashing_deployment(
    folder: Path,
    database_url: str,
    temporal_address: str,
    task_queue: str,
    products: PretendProducts,
    address: str,
) -> AsyncIterator[Crashing]:
    """A deployment without a worker; ``address`` is where it finds the products."""
    owner = as_owner(database_url)
    addresses = Addresses(temporal_address, "http://127.0.0.1:1", 1, address, database_url, owner)
    files = write_runtime(
        folder,
        addresses,
        pretend_connections(address),
        {
            "temporal": {"taskQueue": task_queue},
            "waits": {"floorSeconds": 1, "pollSeconds": {"casework": 1}},
        },
        deployment=task_queue,
        products_token=DEVELOPMENT_BEARER,
    )
    runtime = load_runtime(files.runtime)
    async with open_ledger(runtime, pool_size=3) as ledger, AsyncExitStack() as stack:
        client = await connect(TemporalAddress(temporal_address), codec_of(ledger))
        made = Crashing(files, ledger, client, task_queue, products, stack)
        yield made
        await stack.aclose()
        for run_id in made.started:
            handle = client.get_workflow_handle((await made.status(run_id)).workflow_id)
            if (await handle.describe()).close_time is None:
                await handle.terminate()
        if made.workers:
            await client.get_schedule_handle(schedule_of(runtime).id).delete()


@pytest.fixture
async def crashing(
    tmp_path: Path,
    database_url: str,
    temporal_address: str,
    task_queue: str,
    products: PretendProducts,
) -> AsyncIterator[Crashing]:
    """A deployment without a worker."""
    parts = (tmp_path, database_url, temporal_address, task_queue, products)
    async with crashing_deployment(*parts, products.base_url) as made:
        yield made
