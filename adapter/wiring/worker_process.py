"""The process that runs workflows and activities, from a runtime file to a polling worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from activities.calls.observe import WaitTimes
from activities.calls.reconcile import Reconciler
from activities.products import Products
from activities.register import activities_of
from adapter.config.catalogue import catalogue_of
from adapter.config.loading import Runtime
from adapter.reconcile.acts import Courier
from adapter.reconcile.starts import Starter
from adapter.wiring.deployment import TemporalServer, open_ledger
from adapter.worker import WorkerParts, prefetch_from, run_worker

_log = structlog.get_logger(__name__)


async def run_worker_process(
    runtime: Runtime, stop: asyncio.Event, ready: Callable[[], None]
) -> None:
    """Run workflows and activities until ``stop``, and finish starts that nobody confirmed.

    ``ready`` is called when it begins to poll. Raises Unavailable ``temporal.unavailable``, and
    what opening the ledger raises.
    """
    document = runtime.document
    products = Products(catalogue_of(runtime), runtime.connections)
    async with open_ledger(runtime) as ledger:
        temporal = TemporalServer(runtime, prefetch_from(ledger.definitions))
        polls = {name: float(seconds) for name, seconds in document.waits.poll_seconds.items()}
        times = WaitTimes(float(document.waits.floor_seconds), polls)
        parts = WorkerParts(
            await temporal.client(),
            document.temporal.task_queue,
            activities_of(ledger.effects, ledger.runs, ledger.acts, ledger.book, products, times),
        )
        starter = Starter(ledger.admissions, temporal, document.temporal.task_queue)
        reconciler = Reconciler(ledger.effects, ledger.acts, ledger.book, products)
        courier = Courier(ledger, temporal, reconciler)
        _log.info("worker.polling", task_queue=parts.task_queue)
        ready()
        finishing = asyncio.gather(starter.keep_finishing(stop), courier.keep_delivering(stop))
        try:
            await run_worker(parts, stop)
        finally:
            stop.set()
            await finishing
            await products.aclose()
