"""A whole deployment whose Temporal server skips the time that nobody works in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from temporalio.api.testservice.v1 import UnlockTimeSkippingRequest
from temporalio.client import Client, WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.calls.observe import WaitTimes
from activities.catalogue import Catalogue
from activities.products import Products
from activities.register import activities_of
from adapter.crypto import KeyRing, Sealer
from adapter.ledger import Ledger
from adapter.temporal.payloads import sealed_converter
from adapter.wiring.sealing import codec_of
from adapter.worker import WorkerParts, new_worker, prefetch_from
from examples.products.client import PretendProducts
from tests.activities.connections import FixedConnections


@dataclass(frozen=True, slots=True)
class Years:
    """The deployment; time passes while a result is awaited."""

    ledger: Ledger
    client: Client
    queue: str
    products: Products
    pretend: PretendProducts

    def worker(self) -> AbstractAsyncContextManager[Worker]:
        """A worker that runs while its context is entered."""
        ledger = self.ledger
        calls = activities_of(
            ledger.effects, ledger.runs, ledger.acts, ledger.book, self.products, WaitTimes()
        )
        return new_worker(WorkerParts(self.client, self.queue, calls, grace_seconds=1))

    async def result(self, handle: WorkflowHandle[Any, Any]) -> Any:
        """The result of an execution, with the time skipped in which nobody works."""
        await self.client.test_service.unlock_time_skipping(UnlockTimeSkippingRequest())
        # A long poll for the result ends by itself after some seconds.
        while (await handle.describe()).close_time is None:
            await asyncio.sleep(0.1)
        return await handle.result()


@pytest.fixture
async def years(
    database_url: str,
    time_skipping: WorkflowEnvironment,
    task_queue: str,
    products: PretendProducts,
) -> AsyncIterator[Years]:
    """A deployment without a worker, for one run."""
    settings = {"casework": {"product": "casework", "baseUrl": products.url("casework")}}
    calls = Products(Catalogue.standard(), FixedConnections(settings))
    keys = KeyRing.generate()
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=4) as ledger:
        config = time_skipping.client.config()
        codec = codec_of(ledger, prefetch_from(ledger.definitions))
        config["data_converter"] = sealed_converter(codec)
        yield Years(ledger, Client(**config), task_queue, calls, products)
        await calls.aclose()
