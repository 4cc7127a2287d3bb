"""Reviews that meet what operators had begun before."""

from __future__ import annotations

import asyncio

from adapter.ledger import ActKind, Wish
from interpreter.contract.records import RunState
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site
from tests.recovery.test_restore import VOUCHED, released


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
