"""The worker process of one side: the same Temporal settings whichever side it is."""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import PollerBehaviorAutoscaling, UnsandboxedWorkflowRunner, Worker

from activities.calls.observe import WaitTimes
from activities.catalogue import Catalogue
from activities.products import Products
from activities.register import activities_of
from adapter.ledger import Ledger
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.sealing import codec_of
from adapter.worker import WorkerParts, new_worker, prefetch_from, spare_collections
from benchmarks import ledgered, plain
from benchmarks.deployment import Access, ProductConnections
from benchmarks.unsealed import connect_unsealed

SIDES = ("interpreter", "plain", "ledgered", "unsealed")
# Of one length: a task queue's name stands in many events.
QUEUES = {side: f"benchmark-{number}" for number, side in enumerate(SIDES, start=1)}


async def interpreter_worker(
    stack: AsyncExitStack, temporal: str, queue: str, product_url: str
) -> Worker:
    """A worker of this project, with its real ledger, contracts, products and driver."""
    ledger = await stack.enter_async_context(Access.from_environment().ledger())
    codec = codec_of(ledger, prefetch_from(ledger.definitions))
    client = await connect(TemporalAddress(temporal), codec)
    return _ours(stack, ledger, client, queue, product_url)


async def unsealed_worker(
    stack: AsyncExitStack, temporal: str, queue: str, product_url: str
) -> Worker:
    """The same worker, whose payloads stay in clear text."""
    ledger = await stack.enter_async_context(Access.from_environment().ledger())
    client = await connect_unsealed(temporal, prefetch_from(ledger.definitions))
    return _ours(stack, ledger, client, queue, product_url)


def _ours(
    stack: AsyncExitStack, ledger: Ledger, client: Client, queue: str, product_url: str
) -> Worker:
    products = Products(Catalogue.standard(), ProductConnections(product_url))
    stack.push_async_callback(products.aclose)
    activities = activities_of(
        ledger.effects, ledger.runs, ledger.acts, ledger.book, products, WaitTimes()
    )
    return new_worker(WorkerParts(client, queue, activities))


async def plain_worker(
    stack: AsyncExitStack, temporal: str, queue: str, product_url: str
) -> Worker:
    """A worker of the workflows written by hand."""
    product = plain.ProductClient(product_url)
    stack.push_async_callback(product.aclose)
    activities = plain.PlainCalls(product).callables()
    return await _by_hand(temporal, queue, plain.WORKFLOWS, activities)


async def ledgered_worker(
    stack: AsyncExitStack, temporal: str, queue: str, product_url: str
) -> Worker:
    """A worker of the workflows written by hand that keep the ledger."""
    ledger = await stack.enter_async_context(Access.from_environment().ledger())
    product = plain.ProductClient(product_url)
    stack.push_async_callback(product.aclose)
    activities = ledgered.LedgeredCalls(product, ledger.effects, ledger.runs).callables()
    return await _by_hand(temporal, queue, ledgered.WORKFLOWS, activities)


async def _by_hand(
    temporal: str, queue: str, workflows: list[type[Any]], activities: list[Callable[..., Any]]
) -> Worker:
    """A worker with every setting that ``new_worker`` gives ours, the missing sandbox included."""
    client = await Client.connect(temporal)
    parts = WorkerParts(client, queue, activities)
    return Worker(
        client,
        task_queue=queue,
        workflows=workflows,
        activities=activities,
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_cached_workflows=parts.cached_runs,
        max_concurrent_activities=parts.activity_slots,
        max_concurrent_local_activities=parts.local_slots,
        max_concurrent_workflow_tasks=parts.workflow_slots,
        workflow_task_poller_behavior=PollerBehaviorAutoscaling(),
        activity_task_poller_behavior=PollerBehaviorAutoscaling(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=parts.sticky_seconds),
        graceful_shutdown_timeout=timedelta(seconds=parts.grace_seconds),
    )


_MADE = {
    "interpreter": interpreter_worker,
    "plain": plain_worker,
    "ledgered": ledgered_worker,
    "unsealed": unsealed_worker,
}


async def work(side: str, temporal: str, queue: str, product_url: str) -> None:
    """Work until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with AsyncExitStack() as stack:
        async with await _MADE[side](stack, temporal, queue, product_url):
            spare_collections()
            await stop.wait()
    # An interpreter that ends as soon as its worker has stopped may crash in the SDK.
    await asyncio.sleep(0.1)


def main() -> None:
    """Work for the side that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("temporal", help="host and port of the server")
    parser.add_argument("queue", help="the side's task queue")
    parser.add_argument("product", help="base address of the product")
    options = parser.parse_args()
    asyncio.run(work(options.side, options.temporal, options.queue, options.product))


if __name__ == "__main__":
    main()
