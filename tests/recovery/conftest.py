"""A whole deployment in one process: real PostgreSQL, real Temporal, products over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkerDeploymentVersion
from temporalio.service import RPCError
from temporalio.worker import Worker

from activities.calls.observe import WaitTimes
from activities.calls.reconcile import Reconciler
from activities.catalogue import Catalogue
from activities.products import Products
from activities.register import activities_of
from adapter.crypto import KeyRing, Sealer
from adapter.ledger import (
    Act,
    ActKind,
    Admission,
    Inspection,
    Ledger,
    Package,
    RunStatus,
    SignalWish,
    Wish,
)
from adapter.reconcile.acts import Courier
from adapter.reconcile.marks import Marks
from adapter.reconcile.passes import Reconciliation
from adapter.reconcile.signals import SignalCourier
from adapter.reconcile.starts import Starter
from adapter.temporal.client import TemporalAddress, connect
from adapter.temporal.payloads import sealed_converter
from adapter.temporal.schedule import ReconcileSchedule
from adapter.wiring.sealing import codec_of
from adapter.worker import WorkerParts, new_worker, prefetch_from
from examples.products.client import PretendProducts
from interpreter.contract.records import RunState
from interpreter.contract.runs import Binding, workflow_id
from interpreter.definition.document import Definition, Labels, Operation
from tests.activities.connections import FixedConnections
from tests.activities.inputs import INPUTS
from tests.fixtures.definitions import finish

SEND = "messaging.submit-message/v1"
REVIEW = "casework.submit-review-request/v1"
WITHDRAW = "casework.withdraw-review-request/v1"
ASK = "evaluation.evaluate/v1"
READ = "breg.read-record/v1"
_numbers = count(1)


def call(operation: str, then: str, value: Any = None) -> dict[str, Any]:
    """A call with a good input and a short attempt."""
    return {
        "kind": "call",
        "operation": operation,
        "input": {"literal": INPUTS[operation]} if value is None else value,
        "outlets": {"next": then},
        "policy": {"attemptTimeoutSeconds": 3, "retryDelaySeconds": 0.2},
    }


ONE_MESSAGE = {"send": call(SEND, "done"), "done": finish()}
TWO_MESSAGES = {"send": call(SEND, "more"), "more": call(SEND, "done"), "done": finish()}


@dataclass
class FixedTemporal:
    """A way to Temporal that is always open."""

    connected: Client

    async def client(self) -> Client:
        """The client."""
        return self.connected


@dataclass
class Site:
    """One deployment; ``worker`` makes a running worker of it."""

    ledger: Ledger
    client: Client
    queue: str
    products: Products
    pretend: PretendProducts
    sql: Callable[..., Awaitable[list[Any]]]
    courier: Courier
    key_ring: KeyRing
    started: list[str] = field(default_factory=list)

    def worker(
        self, version: WorkerDeploymentVersion | None = None
    ) -> AbstractAsyncContextManager[Worker]:
        """A worker that runs while its context is entered, of one build if that is named."""
        ledger = self.ledger
        activities = activities_of(
            ledger.effects, ledger.runs, ledger.acts, ledger.book, self.products, WaitTimes(1.0)
        )
        activities.append(self.reconciliation.run_pass)
        parts = WorkerParts(self.client, self.queue, activities, grace_seconds=1, version=version)
        return new_worker(parts)

    @property
    def schedule(self) -> ReconcileSchedule:
        """The reconciler's schedule, which no other test shares.

        Nobody serves its queue, so that passes are made only where a test makes them.
        """
        return ReconcileSchedule(self.queue, f"{self.queue}-unserved", timedelta(minutes=1))

    @property
    def reconciliation(self) -> Reconciliation:
        """What passes are made of."""
        return Reconciliation(Marks(self.ledger, self.schedule), self.starter, self.courier)

    async def reconcile(self) -> dict[str, Any]:
        """Make one pass, as the schedule does."""
        made: dict[str, Any] = await self.reconciliation.run_pass()
        return made

    def beside(self, ledger: Ledger | None = None, client: Client | None = None) -> Site:
        """The same deployment over another ledger or another Temporal."""
        client = client or (self.client if ledger is None else _sealing_with(self.client, ledger))
        ledger = ledger or self.ledger
        reconciler = Reconciler(ledger.effects, ledger.acts, ledger.book, self.products)
        courier = Courier(ledger, FixedTemporal(client), reconciler)
        return replace(self, ledger=ledger, client=client, courier=courier)

    async def start(
        self, nodes: dict[str, Any], *, deadline: int = 3600, binding: Binding | None = None
    ) -> str:
        """Activate these nodes as a workflow, and start a run of it."""
        run_id = await self.admit(nodes, deadline=deadline, binding=binding)
        await self.starter.start(run_id)
        self.started.append(run_id)
        return run_id

    async def admit(
        self,
        nodes: dict[str, Any],
        *,
        deadline: int = 3600,
        binding: Binding | None = None,
        number: int | None = None,
    ) -> str:
        """The same without a start; the same ``number`` is the same admission again."""
        made = _definition(nodes, deadline)
        number = next(_numbers) if number is None else number
        labels = Labels(version=str(number))
        await self.ledger.packages.apply(Package(f"sha256:{number}", made, labels), "deployer")
        wish = ("owner", "", made.id, f"key-{number}", made.revision, {"number": number})
        asked = Admission(*wish, binding or Binding())
        return (await self.ledger.admissions.admit(asked)).run_id

    @property
    def starter(self) -> Starter:
        """What starts admitted runs."""
        return Starter(self.ledger.admissions, FixedTemporal(self.client), self.queue)

    async def handle(self, run_id: str) -> WorkflowHandle[Any, Any]:
        """The run's execution."""
        return self.client.get_workflow_handle((await self.status(run_id)).workflow_id)

    async def status(self, run_id: str) -> RunStatus:
        """How the run stands."""
        return await self.ledger.reads.run_status(run_id, None)

    async def inspect(self, run_id: str) -> Inspection:
        """The run in detail."""
        return await self.ledger.reads.inspect(run_id, None)

    async def until(self, run_id: str, *states: RunState) -> RunStatus:
        """Wait until the run stands in one of these states."""
        async with asyncio.timeout(30):
            while (status := await self.status(run_id)).state not in states:
                await asyncio.sleep(0.05)
        return status

    async def ended(self, run_id: str) -> None:
        """Wait until Temporal has closed the execution too."""
        handle = await self.handle(run_id)
        async with asyncio.timeout(30):
            while (await handle.describe()).close_time is None:
                await asyncio.sleep(0.05)

    async def act(self, run_id: str, kind: ActKind, key: str = "r1", seconds: float = 10) -> Act:
        """Do something about a run, as the service does."""
        begun = await self.ledger.acts.begin(run_id, Wish(kind, "ops", "for good reason", key))
        return await self.courier.carry_out(begun, seconds)

    async def sent(self, count: int) -> None:
        """Wait until a message was asked for so often."""
        async with asyncio.timeout(20):
            while len(self.pretend.effects(SEND)) < count:
                await asyncio.sleep(0.05)

    async def signalled(self, run_id: str, key: str, *outcomes: str) -> None:
        """Send the signal `paid`, and see it taken."""
        wish = SignalWish("paid", "desk", key, {"of": key})
        begun = await self.ledger.signals.begin(run_id, wish)
        courier = SignalCourier(self.ledger, FixedTemporal(self.client))
        assert (await courier.carry_out(begun, 20)).outcome in (outcomes or ("completed",))

    def applied(self, operation: str = SEND) -> list[int]:
        """How often each effect was applied at its product."""
        return [effect.applied for effect in self.pretend.effects(operation)]

    def keys(self, operation: str = SEND) -> set[str | None]:
        """The keys under which an operation was asked for."""
        return {request.key for request in self.pretend.requests(operation)}


def _definition(nodes: dict[str, Any], deadline: int) -> Definition:
    catalogue = Catalogue.standard()
    made = {name: dict(node) for name, node in nodes.items()}
    used = {node["operation"] for node in made.values() if node["kind"] == "call"}
    if any(node["kind"] == "wait" for node in made.values()):
        used.add("casework.read-review-request/v1")
    aliases = {operation: operation.partition("/")[0].replace(".", "-") for operation in used}
    for node in made.values():
        if node["kind"] == "call":
            node["operation"] = aliases[node["operation"]]
    contracts = {operation: catalogue.find(operation).contract for operation in used}
    return Definition(
        id="recovery",
        input_schema=True,
        outcomes={n["outcome"]: True for n in made.values() if n["kind"] == "finish"},
        deadline_seconds=deadline,
        connections={c.product: c.product for c in contracts.values()},
        operations={
            aliases[operation]: Operation(connection=contract.product, contract=contract)
            for operation, contract in contracts.items()
        },
        start=next(iter(made)),
        nodes=made,
    )


@pytest.fixture
async def sql(owner_url: str) -> AsyncIterator[Callable[..., Awaitable[list[Any]]]]:
    """Runs one statement beside the ledger and gives its rows."""
    import psycopg

    connection = await psycopg.AsyncConnection.connect(owner_url, autocommit=True)

    async def run(statement: str, *values: Any) -> list[Any]:
        cursor = await connection.execute(statement.encode(), values)
        return await cursor.fetchall() if cursor.description else []

    async with connection:
        yield run


@pytest.fixture
async def site(
    database_url: str,
    temporal_address: str,
    task_queue: str,
    products: PretendProducts,
    sql: Callable[..., Awaitable[list[Any]]],
) -> AsyncIterator[Site]:
    """A deployment without a worker; what is left open at the end is terminated."""
    names = ("breg", "casework", "messaging", "evaluation")
    settings = {name: {"product": name, "baseUrl": products.url(name)} for name in names}
    settings["breg"]["profile"] = "reviewer"
    settings["evaluation"] |= {"protocol": "system-one", "model": "small"}
    calls = Products(Catalogue.standard(), FixedConnections(settings))
    keys = KeyRing.generate()
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=6) as ledger:
        codec = codec_of(ledger, prefetch_from(ledger.definitions))
        client = await connect(TemporalAddress(temporal_address), codec)
        reconciler = Reconciler(ledger.effects, ledger.acts, ledger.book, calls)
        courier = Courier(ledger, FixedTemporal(client), reconciler)
        made = Site(ledger, client, task_queue, calls, products, sql, courier, keys)
        yield made
        for run_id in made.started:
            await _terminate(client, workflow_id("recovery", run_id, 1))
        with suppress(RPCError):
            await client.get_schedule_handle(made.schedule.id).delete()
        await calls.aclose()


def _sealing_with(client: Client, ledger: Ledger) -> Client:
    """The same connection with the keys of another ledger."""
    config = client.config()
    codec = codec_of(ledger, prefetch_from(ledger.definitions))
    config["data_converter"] = sealed_converter(codec)
    return Client(**config)


async def _terminate(client: Client, identity: str) -> None:
    with suppress(RPCError):
        await client.get_workflow_handle(identity).terminate(rpc_timeout=timedelta(seconds=5))
