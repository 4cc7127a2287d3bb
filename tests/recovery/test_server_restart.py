"""An update that no worker has taken is lost when Temporal restarts; the courier sends it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from adapter.embedded import FAST_TIMERS, EmbeddedTemporal, free_port
from adapter.ledger import ActKind, RunStatus, SignalWish, Wish
from adapter.reconcile.acts import deliver_act
from adapter.reconcile.signals import SignalCourier, tell_signal
from adapter.reconcile.starts import Starter
from adapter.wiring.executions import TemporalExecutions
from interpreter.contract.records import RunState
from tests.recovery.conftest import ONE_MESSAGE, SEND, FixedTemporal, Site
from tests.recovery.going_back import connected
from tests.recovery.test_signals import PAID

WISH = SignalWish("paid", "desk", "s1", {"amount": 7})


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedTemporal]:
    """A Temporal of this test alone, on one port whenever it is started."""
    made = EmbeddedTemporal(
        tmp_path / "temporal.db",
        log_file=tmp_path / "temporal.log",
        port=free_port(),
        ui=False,
        dynamic_config=FAST_TIMERS,
    )
    async with made:
        yield made


async def restarted(server: EmbeddedTemporal) -> None:
    """Kill the server and start it on what it had written."""
    server.kill()
    await server.stop()
    await server.start()


async def lost_in_a_restart(sending: Coroutine[Any, Any, Any], server: EmbeddedTemporal) -> None:
    """Send an update that nobody takes, and restart the server that holds it."""
    task = asyncio.create_task(sending)
    await asyncio.sleep(1.5)
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await restarted(server)


async def delivered(
    site: Site, run_id: str, table: str, deliver: Callable[[], Awaitable[int]]
) -> RunStatus:
    """Have the courier come round, as it always does, until the run has finished."""
    async with asyncio.timeout(60):
        while (status := await site.status(run_id)).state is not RunState.FINISHED:
            await site.sql(f"update coordinator.{table} set due_at = clock_timestamp()")
            await deliver()
            await asyncio.sleep(0.2)
    return status


async def test_a_service_sees_that_temporal_is_away_and_back(
    site: Site, server: EmbeddedTemporal
) -> None:
    temporal = FixedTemporal(await connected(site, server))
    starter = Starter(site.ledger.admissions, temporal, "nobody")
    executions = TemporalExecutions(site.ledger, temporal, starter)
    assert await executions.ready()
    await server.stop()
    assert not await executions.ready()
    await server.start()
    async with asyncio.timeout(30):
        while not await executions.ready():
            await asyncio.sleep(0.2)


async def test_a_signal_that_a_restart_has_lost_is_sent_again_under_its_id(
    site: Site, server: EmbeddedTemporal
) -> None:
    site = site.beside(client=await connected(site, server))
    courier = SignalCourier(site.ledger, FixedTemporal(site.client))
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
    begun = await site.ledger.signals.begin(run_id, WISH)
    await lost_in_a_restart(tell_signal(site.client, site.ledger, begun), server)
    async with site.worker():
        await asyncio.sleep(1.5)
        assert (await site.ledger.signals.signal(begun.id)).outcome == ""
        assert (await site.status(run_id)).state is RunState.WAITING
        done = await delivered(site, run_id, "signals", courier.deliver_pending)
        assert done.output == {"amount": 7}
    assert (await site.ledger.signals.signal(begun.id)).outcome == "completed"


async def test_an_act_that_a_restart_has_lost_is_sent_again_under_its_id(
    site: Site, server: EmbeddedTemporal
) -> None:
    site = site.beside(client=await connected(site, server))
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
    wish = Wish(ActKind.RETRY_SAME, "ops", "the line is back", "r1")
    begun = await site.ledger.acts.begin(run_id, wish)
    await lost_in_a_restart(deliver_act(site.client, begun), server)
    async with site.worker():
        await asyncio.sleep(1.5)
        assert (await site.ledger.acts.progress(begun.id)).outcome == ""
        await delivered(site, run_id, "acts", site.courier.deliver_pending)
    assert (await site.ledger.acts.progress(begun.id)).outcome == "accepted"
    assert (site.applied(), len(site.keys())) == ([1], 1)
