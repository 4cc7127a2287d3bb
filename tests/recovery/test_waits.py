"""The ways out of a wait on real products: too late, cancelled, and read once more."""

from __future__ import annotations

import asyncio
from typing import Any

from adapter.ledger import ActKind
from interpreter.contract import names
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import REVIEW, WITHDRAW, Site, call
from tests.recovery.test_signals import READ_REVIEW

_REVIEW_ID = {"step": "submit", "path": "/reviewRequestId"}
_WITHDRAWAL = {"object": {"reviewRequestId": _REVIEW_ID, "reason": {"literal": "no answer"}}}


def reviewed(seconds: int) -> dict[str, Any]:
    """Submit, wait for so long, withdraw, and read a decision that was faster than that."""
    source = {"type": "completion", "call": "submit", "completion": "result"}
    withdraw = call(WITHDRAW, "given-up", _WITHDRAWAL)
    withdraw["outlets"]["refused:review-already-completed"] = "look"
    return {
        "submit": call(REVIEW, "wait"),
        "wait": {
            "kind": "wait",
            "wait": {**source, "timeoutSeconds": seconds},
            "outlets": {"completed": "done", "expired": "withdraw", "cancelled": "undo"},
        },
        "withdraw": withdraw,
        "look": call(READ_REVIEW, "late", {"object": {"reviewRequestId": _REVIEW_ID}}),
        "undo": call(WITHDRAW, "stopped", _WITHDRAWAL),
        "done": finish("done"),
        "late": finish("late", {"step": "look", "path": "/result/decision"}),
        "given-up": finish("given-up"),
        "stopped": finish("stopped"),
    }


async def pending(site: Site, run_id: str) -> str:
    """The review that a run waits for."""
    await site.until(run_id, RunState.WAITING)
    [review] = site.pretend.reviews("pending")
    return review.review_request_id


async def test_a_decision_that_came_before_the_withdrawal_is_read_once_more(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(reviewed(4))
        site.pretend.decide(await pending(site, run_id), "approved")
        done = await site.until(run_id, RunState.FINISHED)
    assert (done.outcome, done.output) == ("late", "approved")
    assert len(site.pretend.requests(READ_REVIEW)) == 1
    [waited] = (await site.inspect(run_id)).waits
    assert (waited.resolution, waited.observations) == ("expired", 0)


async def test_a_wait_that_is_too_late_withdraws_its_request(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(reviewed(2))
        done = await site.until(run_id, RunState.FINISHED)
    assert done.outcome == "given-up"
    assert site.applied(WITHDRAW) == [1]


async def test_a_cancel_leaves_a_wait_by_its_own_route_and_withdraws(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(reviewed(99))
        review = await pending(site, run_id)
        act = await site.act(run_id, ActKind.CANCEL)
        done = await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
    assert (act.outcome, done.outcome) == ("cancelled-after-effect", "stopped")
    assert [one.review_request_id for one in site.pretend.reviews("withdrawn")] == [review]
    [waited] = (await site.inspect(run_id)).waits
    assert waited.resolution in ("cancelled", "closed")


async def test_a_completion_that_can_not_be_read_again_ends_with_the_deadline(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(reviewed(600))
        await pending(site, run_id)
        # As after a death between the record of a completion and its delivery.
        over = "update coordinator.waits set resolution = 'completed', due_at = clock_timestamp()"
        await site.sql(over)
        await (await site.handle(run_id)).signal(names.HINT_SIGNAL)
        await asyncio.sleep(3)
        # No sooner than the floor, though the time of the wait is over.
        assert 1 <= len(site.pretend.requests(READ_REVIEW)) <= 4
        await site.sql("update coordinator.runs set deadline_at = clock_timestamp()")
        await (await site.handle(run_id)).signal(names.HINT_SIGNAL)
        await site.until(run_id, RunState.EXPIRED)
        await site.ended(run_id)


async def test_a_wait_that_is_looked_at_after_the_deadline_leads_nowhere(site: Site) -> None:
    pause = {
        "kind": "wait",
        "wait": {"type": "duration", "seconds": 3},
        "outlets": {"elapsed": "done"},
    }
    async with site.worker():
        run_id = await site.start({"pause": pause, "done": finish()}, deadline=5)
        await site.until(run_id, RunState.WAITING)
    # Nobody is there when the time of the wait is over, and then that of the run.
    await asyncio.sleep(6)
    async with site.worker():
        await site.until(run_id, RunState.EXPIRED)
