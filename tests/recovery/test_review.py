"""Holds and reviews: what may be done under them, and what operators had begun before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from adapter.crypto import Sealer
from adapter.errors import Refused
from adapter.ledger import ActKind, Ledger, Wish
from adapter.ledger.holds import Attested
from adapter.reconcile.recovery import recover
from interpreter.contract.records import RunState
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site
from tests.recovery.restoring import VOUCHED, released


async def retried_before(site: Site) -> str:
    """A run whose unknown effect somebody wants to retry, before any worker has heard of it."""
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
    wish = Wish(ActKind.RETRY_SAME, "ops", "the line is back", "r1")
    await site.ledger.acts.begin(run_id, wish)
    return run_id


async def due(site: Site) -> None:
    """Have every act delivered that has no outcome, without a pause."""
    await site.sql("update coordinator.acts set due_at = clock_timestamp()")


async def test_a_receipt_can_be_read_where_a_retry_was_wanted_before_the_hold(site: Site) -> None:
    run_id = await retried_before(site)
    await site.ledger.holds.begin_review("ops", "restored")
    assert (await site.ledger.reviews.complete("ops", VOUCHED)).remaining == 1
    asked = Wish(ActKind.RECONCILE, "ops", "ticket 1", "q1")
    begun = await site.ledger.acts.begin(run_id, asked)
    await due(site)
    assert await site.courier.read_receipts() == 1
    await released(site.ledger)
    async with site.worker():
        async with asyncio.timeout(60):
            while (await site.status(run_id)).state is not RunState.FINISHED:
                await due(site)
                await site.reconcile()
                await asyncio.sleep(0.5)
    assert (await site.ledger.acts.act(begun.id)).outcome == "confirmed"
    assert len(site.pretend.requests(SEND)) == 1


async def test_a_worker_waits_in_recovery_until_the_hold_is_released(site: Site) -> None:
    await site.ledger.holds.begin_review("ops", "test")
    stop = asyncio.Event()
    waiting = asyncio.create_task(recover(site.reconciliation, stop, every=0.1))
    await asyncio.sleep(0.5)
    assert not waiting.done()
    await site.ledger.reviews.complete("ops", VOUCHED)
    await site.ledger.holds.release_restore("ops", "reviewed")
    await asyncio.wait_for(waiting, 5)


async def test_a_ledger_for_recovery_only_dispatches_nothing(site: Site, database_url: str) -> None:
    run_id = await site.start(ONE_MESSAGE)
    opening = Ledger.open(
        database_url, Sealer(site.key_ring, "test"), site.key_ring, recovery_only=True
    )
    async with await opening as ledger, site.beside(ledger).worker():
        await asyncio.sleep(1)
        assert site.pretend.requests(SEND) == []
    assert (await site.status(run_id)).state is RunState.RUNNING


async def test_in_recovery_receipts_are_read_though_no_run_is_served(
    site: Site, database_url: str
) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
    await site.ledger.holds.begin_review("ops", "test")
    wish = Wish(ActKind.RECONCILE, "ops", "settle it", "r1")
    await site.ledger.acts.begin(run_id, wish)
    await site.sql("update coordinator.acts set due_at = clock_timestamp()")
    opening = Ledger.open(
        database_url, Sealer(site.key_ring, "test"), site.key_ring, recovery_only=True
    )
    stop = asyncio.Event()
    async with await opening as ledger:
        reconciliation = site.beside(ledger).reconciliation
        working = asyncio.create_task(recover(reconciliation, stop, every=0.1))
        async with asyncio.timeout(20):
            while (await site.status(run_id)).uncertain:
                await asyncio.sleep(0.1)
        stop.set()
        await working
    assert (await site.ledger.reviews.complete("ops", VOUCHED)).cleared == 1
    assert len(site.pretend.requests(SEND)) == 1


async def test_a_release_waits_for_the_review_and_for_every_doubt(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
        holds = site.ledger.holds
        assert await code(holds.release_restore("ops", "r")) == "recovery.hold-required"
        await holds.begin_review("ops", "r")
        assert await code(holds.release_admission("ops", VOUCHED)) == "recovery.hold-active"
        half = Attested("ticket-1", True, False)
        assert await code(site.ledger.reviews.complete("ops", half)) == "recovery.not-attested"
        done = await site.ledger.reviews.complete("ops", VOUCHED)
        assert (done.cleared, done.remaining) == (0, 1)
        assert await code(holds.release_restore("ops", "r")) == "recovery.unresolved"
        assert (await site.act(run_id, ActKind.RECONCILE)).outcome == "confirmed"
        await site.ledger.reviews.complete("ops", VOUCHED)
        assert not (await holds.release_restore("ops", "r")).restore_hold
    rows = await site.sql("select kind from coordinator.journal where chain = 'deployment'")
    kinds = [kind for (kind,) in rows]
    assert kinds.count("release-restore-hold.asked") == 3
    assert kinds.count("release-restore-hold.refused") == 2


async def answered(site: Site, run_id: str, activity: str) -> None:
    """Wait until the run's execution has the answer of an activity."""
    handle = await site.handle(run_id)
    async with asyncio.timeout(30):
        while True:
            events = (await handle.fetch_history()).events
            asked = (one.activity_task_scheduled_event_attributes.activity_id for one in events)
            numbers = {
                one.event_id for one, id in zip(events, asked, strict=True) if id == activity
            }
            done = (one.activity_task_completed_event_attributes for one in events)
            if any(one.scheduled_event_id in numbers for one in done):
                return
            await asyncio.sleep(0.1)


async def test_a_retry_that_was_asked_for_before_the_restore_is_not_made_after_it(
    site: Site,
) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await answered(site, run_id, "main/send:1:1")
    wish = Wish(ActKind.RETRY_SAME, "ops", "the line is back", "r1")
    asked = await site.ledger.acts.begin(run_id, wish)
    async with site.worker():
        await released(site.ledger, leave_unknown=True)
        asked = await site.courier.deliver(asked)
        assert (asked.outcome, asked.code) == ("unknown", "unsettled-at-restore")
        await answered(site, run_id, "main/send:1:2")
        await site.until(run_id, RunState.ATTENTION)
        assert len(site.pretend.requests(SEND)) == 1
        assert (await site.act(run_id, ActKind.RECONCILE)).outcome == "confirmed"
        await site.until(run_id, RunState.FINISHED)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_an_unknown_effect_may_be_left_to_people(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
        await released(site.ledger, leave_unknown=True)
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
    assert site.applied() == [1]


async def code(work: Awaitable[object]) -> str:
    """The code by which something is refused."""
    with pytest.raises(Refused) as refused:
        await work
    return refused.value.code
