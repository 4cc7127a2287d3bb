"""A Temporal that takes connections and answers nothing: nobody waits for it for long."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator

import pytest
from temporalio.client import Client

from adapter.api import SignedMessage
from adapter.errors import Unavailable
from adapter.reconcile.signals import HintCourier
from adapter.reconcile.starts import Starter
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.executions import TemporalExecutions
from adapter.wiring.sealing import codec_of
from interpreter.contract.records import RunState
from tests.recovery.conftest import ONE_MESSAGE, FixedTemporal, Site
from tests.recovery.test_signals import REVIEWED


class HangingTemporal:
    """A way to a Temporal that takes connections and answers nothing, until it does."""

    def __init__(self, site: Site, address: str) -> None:
        self.site, self.address = site, address
        self.answering: Client | None = None

    async def client(self) -> Client:
        """A client once there is one; never ends before."""
        if self.answering is not None:
            return self.answering
        return await connect(TemporalAddress(self.address), codec_of(self.site.ledger))


@pytest.fixture
def hanging(site: Site) -> Iterator[HangingTemporal]:
    """Temporal's port, behind which nobody says anything."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield HangingTemporal(site, f"127.0.0.1:{silent.getsockname()[1]}")


async def test_nobody_waits_long_for_a_temporal_that_hangs(
    site: Site, hanging: HangingTemporal
) -> None:
    starter = Starter(site.ledger.admissions, hanging, site.queue)
    executions = TemporalExecutions(site.ledger, hanging, starter)
    began = time.monotonic()
    assert not await executions.ready()
    assert time.monotonic() - began < 0.9
    run_id = await site.admit(ONE_MESSAGE)
    with pytest.raises(Unavailable) as caught:
        await executions.start(run_id)
    assert (caught.value.code, caught.value.place) == ("temporal.unavailable", "temporal.address")
    assert time.monotonic() - began < 6
    assert (await site.status(run_id)).start_state == "start_pending"
    hanging.answering = site.client
    await site.sql("update coordinator.executions set created_at = created_at - interval '3 s'")
    assert await starter.finish_pending() == 1
    async with site.worker():
        await site.until(run_id, RunState.FINISHED)


async def test_a_completion_event_is_taken_though_temporal_hangs(
    site: Site, hanging: HangingTemporal
) -> None:
    starter = Starter(site.ledger.admissions, hanging, site.queue)
    executions = TemporalExecutions(site.ledger, hanging, starter)
    async with site.worker():
        run_id = await site.start(REVIEWED)
        await site.until(run_id, RunState.WAITING)
        [review] = site.pretend.reviews("pending")
        subject = review.review_request_id
        site.pretend.decide(subject, "approved")
        began = time.monotonic()
        message = SignedMessage("casework", "m1", 1, "c")
        assert not await executions.hint(message, "reviewRequestId", subject)
        assert time.monotonic() - began < 6
        assert await HintCourier(site.ledger, FixedTemporal(site.client)).deliver() == 1
        await site.until(run_id, RunState.FINISHED)


async def test_a_check_that_takes_longer_is_there_for_who_asks_next(site: Site) -> None:
    class Slow(FixedTemporal):
        async def client(self) -> Client:
            await asyncio.sleep(0.8)
            return self.connected

    slow = Slow(site.client)
    executions = TemporalExecutions(site.ledger, slow, site.starter)
    assert [await executions.ready(), await executions.ready()] == [False, True]
