"""retry-same, reconcile and cancel from end to end, and what Temporal's own tools may do."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import WorkflowFailureError

from activities.errors import LedgerUnavailable
from adapter.errors import Refused
from adapter.ledger import ActKind
from adapter.reconcile.outbox import keep_delivering
from interpreter.contract.records import RunState
from tests.activities.inputs import INPUTS
from tests.fixtures.definitions import finish
from tests.recovery.conftest import (
    ASK,
    ONE_MESSAGE,
    REVIEW,
    SEND,
    TWO_MESSAGES,
    Site,
    call,
)

RETRY, RECONCILE, CANCEL = ActKind.RETRY_SAME, ActKind.RECONCILE, ActKind.CANCEL
ONE_REVIEW = {"send": call(REVIEW, "done"), "done": finish()}
ONE_QUESTION = {"send": call(ASK, "done"), "done": finish()}


async def attention(site: Site, operation: str = SEND, fault: str = "lost-response") -> str:
    """A run whose effect is unknown: the product's answer was lost."""
    site.pretend.fault(operation, fault)
    nodes = {SEND: ONE_MESSAGE, REVIEW: ONE_REVIEW, ASK: ONE_QUESTION}[operation]
    run_id = await site.start(nodes)
    await site.until(run_id, RunState.ATTENTION)
    return run_id


async def refusal(site: Site, run_id: str, kind: ActKind) -> str:
    """The code by which an act is refused."""
    with pytest.raises(Refused) as refused:
        await site.act(run_id, kind, key=f"refused-{kind}")
    return refused.value.code


@pytest.mark.parametrize("operation", [SEND, REVIEW])
async def test_retry_same_applies_the_effect_once_under_one_key(site: Site, operation: str) -> None:
    async with site.worker():
        run_id = await attention(site, operation)
        done = await site.act(run_id, RETRY)
        assert (done.state, done.outcome) == ("done", "accepted")
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert site.applied(operation) == [1]
    assert len(site.pretend.requests(operation)) == 2
    assert len(site.keys(operation)) == 1


async def test_retry_same_sends_what_never_arrived(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site, fault="drop-before")
        assert site.applied() == []
        assert (await site.act(run_id, RETRY)).outcome == "accepted"
        await site.until(run_id, RunState.FINISHED)
    assert site.applied() == [1]


async def test_a_retry_whose_answer_is_lost_again_leaves_the_doubt(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        site.pretend.fault(SEND, "lost-response")
        done = await site.act(run_id, RETRY)
        assert (done.outcome, (await site.status(run_id)).uncertain) == ("unknown", True)
        await site.until(run_id, RunState.ATTENTION)
        assert (await site.act(run_id, RETRY, key="r2")).outcome == "accepted"
        await site.until(run_id, RunState.FINISHED)
    assert site.applied() == [1]


async def test_a_refused_retry_says_nothing_about_the_first_send(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        site.pretend.fault(SEND, "refuse", status=422, code="template-not-found")
        assert (await site.act(run_id, RETRY)).outcome == "unknown"
        assert (await site.until(run_id, RunState.ATTENTION)).uncertain


async def test_reconcile_confirms_by_the_receipt_and_sends_nothing(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        done = await site.act(run_id, RECONCILE)
        assert (done.outcome, done.code) == ("confirmed", "accepted")
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)
    [effect] = (await site.inspect(run_id)).effects
    assert (effect.outcome, len(effect.receipts)) == ("accepted", 1)


async def test_an_absent_receipt_is_no_proof_of_anything(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site, fault="drop-before")
        done = await site.act(run_id, RECONCILE)
        assert (done.outcome, done.code) == ("not-confirmed", "receipt-unresolved")
        assert (await site.status(run_id)).state is RunState.ATTENTION
        assert len(site.pretend.requests(SEND)) == 1
        assert (await site.act(run_id, RETRY)).outcome == "accepted"
    assert site.applied() == [1]


async def test_a_receipt_that_can_not_be_read_changes_nothing(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        site.pretend.fault("messaging.read-receipt", "status-5xx")
        done = await site.act(run_id, RECONCILE)
        assert (done.outcome, done.code) == ("not-confirmed", "observation-unavailable")
        assert (await site.act(run_id, RECONCILE, key="r2")).outcome == "confirmed"
        await site.until(run_id, RunState.FINISHED)


async def test_a_product_without_receipts_says_so(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site, REVIEW)
        assert await refusal(site, run_id, RECONCILE) == "act.no-receipt"


async def test_an_evaluation_is_never_repeated_and_a_cancel_ends_it(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site, ASK)
        assert await refusal(site, run_id, RETRY) == "act.evaluation-uncertain"
        done = await site.act(run_id, CANCEL)
        assert done.outcome == "cancelled-after-effect"
        await site.ended(run_id)
    assert len(site.pretend.requests(ASK)) == 1


async def test_a_cancel_that_meets_an_unknown_effect_waits_for_its_receipt(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        done = await site.act(run_id, CANCEL)
        assert (done.outcome, done.code) == ("attention", "effect-unknown")
        assert await refusal(site, run_id, RETRY) == "act.cancelled"
        assert (await site.act(run_id, RECONCILE)).outcome == "confirmed"
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        await site.ended(run_id)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_a_deadline_that_meets_an_unknown_effect_waits_for_its_receipt(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(TWO_MESSAGES, deadline=3)
        await site.until(run_id, RunState.ATTENTION)
        await asyncio.sleep(3)
        assert await refusal(site, run_id, RETRY) == "act.deadline-reached"
        assert (await site.act(run_id, RECONCILE)).outcome == "confirmed"
        await site.until(run_id, RunState.EXPIRED)
        await site.ended(run_id)
    assert site.applied() == [1]


async def test_a_run_that_has_only_its_finish_left_finishes_after_its_deadline_too(
    site: Site,
) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE, deadline=3)
        await site.until(run_id, RunState.ATTENTION)
        await asyncio.sleep(3)
        assert (await site.act(run_id, RECONCILE)).outcome == "confirmed"
        await site.until(run_id, RunState.FINISHED)
    assert site.applied() == [1]


async def test_a_repeated_request_is_one_act_and_one_send(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        acts = await asyncio.gather(*(site.act(run_id, RETRY) for _ in range(4)))
        await site.until(run_id, RunState.FINISHED)
    assert len({act.id for act in acts}) == 1
    assert len(site.pretend.requests(SEND)) == 2


async def test_an_act_without_a_worker_is_delivered_when_one_comes(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
    waiting = await site.act(run_id, RETRY, seconds=1)
    assert (waiting.state, waiting.outcome) == ("recorded", "")
    async with site.worker():
        stop = asyncio.Event()
        loop = asyncio.create_task(keep_delivering(stop, site.courier.deliver_pending, every=0.1))
        await site.sql("update coordinator.acts set due_at = clock_timestamp()")
        await site.until(run_id, RunState.FINISHED)
        stop.set()
        await loop
        assert (await site.ledger.acts.progress(waiting.id)).outcome == "accepted"
    assert site.applied() == [1]


async def test_a_late_answer_reaches_the_run_that_waits_for_it(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        await _settle_late(site, run_id)
        await site.sql("update coordinator.effects set settled_at = settled_at - interval '9 s'")
        assert await site.courier.bring_late_answers() == 1
        await site.sql("update coordinator.acts set due_at = clock_timestamp()")
        await site.courier.deliver_pending()
        await site.until(run_id, RunState.FINISHED)
    assert len(site.pretend.requests(SEND)) == 1


async def _settle_late(site: Site, run_id: str) -> None:
    """The answer of the attempt that nobody waits for any more."""
    from activities.ports import Settlement
    from interpreter.contract.effects import Reply, ReplyKind, VisitRef

    visit = VisitRef(run_id, "main", "send", 1)
    facts = await site.ledger.book.call(run_id, "send")
    saved = await site.ledger.effects.saved(visit)
    assert saved is not None
    late = Reply(ReplyKind.ACCEPTED, {"id": "m", "status": "accepted"})
    settlement = Settlement(visit, 1, saved.token, facts.contract, facts.limits, late, 2)
    await site.ledger.effects.settle(settlement)


async def test_acts_on_a_terminated_execution_are_the_ledger_s_alone(site: Site) -> None:
    async with site.worker():
        run_id = await attention(site)
        await (await site.handle(run_id)).terminate()
        refused = await site.act(run_id, RETRY, seconds=4)
        assert (refused.state, refused.code) == ("refused", "execution-closed")
        assert (await site.status(run_id)).state is RunState.ATTENTION
        assert (await site.act(run_id, RECONCILE)).outcome == "confirmed"
        assert (await site.act(run_id, CANCEL)).outcome == "cancelled-after-effect"
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_temporal_s_own_cancel_is_recorded_before_it_takes_effect(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", count=50, retryAfter=30)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        while not site.pretend.requests(SEND):
            await asyncio.sleep(0.05)
        handle = await site.handle(run_id)
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()
    status = await site.status(run_id)
    assert (status.state, status.cancel_requested_at is None) == (RunState.CANCELLED, False)
    assert site.applied() == []


async def test_a_call_that_is_refused_while_its_run_is_cancelled_ends_it_as_cancelled(
    site: Site,
) -> None:
    site.pretend.fault(SEND, "slow", seconds=1)
    message = {**INPUTS[SEND], "template": {"id": "unknown-one", "version": "1"}}
    async with site.worker():
        run_id = await site.start(
            {"send": call(SEND, "done", {"literal": message}), "done": finish()}
        )
        while not site.pretend.requests(SEND):
            await asyncio.sleep(0.05)
        assert (await site.act(run_id, CANCEL)).outcome == "cancelled"
        await site.ended(run_id)
    [effect] = (await site.inspect(run_id)).effects
    assert (effect.outcome, effect.code) == ("refused", "product-not-found")


async def test_a_cancel_ends_a_run_that_temporal_never_took(site: Site) -> None:
    run_id = await site.admit(ONE_MESSAGE)
    await site.ledger.admissions.start_failed(run_id, 1, "temporal.refused")
    assert (await site.act(run_id, CANCEL)).outcome == "cancelled"
    assert (await site.status(run_id)).state is RunState.CANCELLED


async def test_a_receipt_that_was_written_is_not_lost_with_its_act(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    conclude, failures = site.ledger.acts.conclude, [True]

    async def fail_once(act_id: str, outcome: str, code: str) -> None:
        if failures and failures.pop():
            raise LedgerUnavailable("ledger.unavailable", "gone after the settle")
        await conclude(act_id, outcome, code)

    async with site.worker():
        run_id = await attention(site)
        monkeypatch.setattr(site.ledger.acts, "conclude", fail_once)
        assert (await site.act(run_id, RECONCILE)).outcome == "confirmed"
        await site.until(run_id, RunState.FINISHED)
    receipts = site.pretend.requests("messaging.read-receipt")
    assert (len(receipts), site.applied()) == (1, [1])
