"""The process that runs workflows and activities, from a runtime file to a polling worker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog

from activities.calls.observe import WaitTimes
from activities.calls.reconcile import Reconciler
from activities.products import Products
from activities.register import activities_of
from adapter.config.catalogue import catalogue_of
from adapter.config.connections import ConfiguredConnections
from adapter.config.loading import Runtime
from adapter.ledger import Ledger
from adapter.reconcile.acts import LATE_EVERY_SECONDS, Courier
from adapter.reconcile.marks import Marks
from adapter.reconcile.outbox import keep_delivering
from adapter.reconcile.passes import Reconciliation
from adapter.reconcile.recovery import recover
from adapter.reconcile.signals import HintCourier, SignalCourier
from adapter.reconcile.starts import PENDING_EVERY_SECONDS, Starter
from adapter.wiring.deployment import (
    TemporalServer,
    journal_keys,
    journal_signing,
    open_ledger,
    schedule_of,
)
from adapter.wiring.sealing import codec_of
from adapter.wiring.telemetry import telemetry_of
from adapter.wiring.versions import own_version
from adapter.worker import WorkerParts, prefetch_from, run_worker, spare_collections

_log = structlog.get_logger(__name__)


async def run_worker_process(
    runtime: Runtime,
    stop: asyncio.Event,
    ready: Callable[[], None],
    *,
    recovery_only: bool = False,
) -> None:
    """Run workflows and activities until ``stop``, and finish starts that nobody confirmed.

    ``ready`` is called when it begins to poll: never with ``recovery_only``, and not while ledger
    and Temporal disagree or a restore hold stands. Raises Unavailable ``temporal.unavailable``,
    Usage ``versions.build-unnamed``, and what opening the ledger or telemetry raises.
    """
    version, signing = own_version(runtime), journal_keys(runtime)
    async with telemetry_of(runtime, "worker") as telemetry:
        catalogue, connections = catalogue_of(runtime), runtime.connections
        products = Products(catalogue, connections, watch=telemetry.calls)
        try:
            async with open_ledger(runtime, recovery_only=recovery_only) as ledger:
                prefetch = prefetch_from(ledger.definitions)
                codec = codec_of(ledger, prefetch)
                temporal = TemporalServer(runtime, codec, telemetry)
                reconciliation = _reconciliation(runtime, ledger, temporal, products)
                await recover(reconciliation, stop)
                if stop.is_set():
                    return
                activities = [*_calls(runtime, ledger, products), reconciliation.run_pass]
                at = runtime.document.temporal
                client, queue = await temporal.client(), at.task_queue
                sticky = float(at.sticky_seconds)
                parts = WorkerParts(client, queue, activities, sticky, version=version)
                build = {} if version is None else {"build": version.build_id}
                _log.info("worker.polling", task_queue=queue, **build)
                spare_collections()
                ready()
                sealed = journal_signing(ledger, signing)
                await asyncio.gather(
                    _serve(parts, reconciliation, stop, sealed), _tell_unusable(connections)
                )
        finally:
            await products.aclose()


async def _tell_unusable(connections: ConfiguredConnections) -> None:
    """Say which connections can not call as they are; a worker serves the others meanwhile."""
    for fault in await connections.rehearse():
        _log.warning(
            "connection.unusable", connection=fault.place, code=fault.code, remedy=fault.remedy
        )


async def _serve(
    parts: WorkerParts,
    reconciliation: Reconciliation,
    stop: asyncio.Event,
    sealed: Sequence[Callable[[], Awaitable[None]]],
) -> None:
    courier = reconciliation.courier
    ledger, temporal = courier.ledger, courier.temporal
    finishing = asyncio.gather(
        keep_delivering(stop, reconciliation.starter.finish_pending, every=PENDING_EVERY_SECONDS),
        keep_delivering(stop, courier.bring_late_answers, every=LATE_EVERY_SECONDS),
        keep_delivering(stop, courier.deliver_pending),
        keep_delivering(
            stop,
            SignalCourier(ledger, temporal).deliver_pending,
            HintCourier(ledger, temporal).deliver,
            *sealed,
        ),
    )
    try:
        await run_worker(parts, stop)
    finally:
        stop.set()
        await finishing


def _reconciliation(
    runtime: Runtime, ledger: Ledger, temporal: TemporalServer, products: Products
) -> Reconciliation:
    starter = Starter(ledger.admissions, temporal, runtime.document.temporal.task_queue)
    reconciler = Reconciler(ledger.effects, ledger.acts, ledger.book, products)
    courier = Courier(ledger, temporal, reconciler)
    return Reconciliation(Marks(ledger, schedule_of(runtime)), starter, courier)


def _calls(runtime: Runtime, ledger: Ledger, products: Products) -> list[Callable[..., Any]]:
    waits = runtime.document.waits
    polls = {name: float(seconds) for name, seconds in waits.poll_seconds.items()}
    times = WaitTimes(float(waits.floor_seconds), polls)
    return activities_of(ledger.effects, ledger.runs, ledger.acts, ledger.book, products, times)
