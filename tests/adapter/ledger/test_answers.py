"""Settling: what each answer makes of its effect, whatever other attempts did."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from activities.errors import ActivityError
from activities.ports import Busy, Claim, Dispatched, NotSent, Retry, Settled
from adapter.ledger import Ledger, Standing
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import (
    EVALUATION,
    LIMITS,
    READ,
    accepted,
    answer,
    claim,
    dispatch,
    effect,
    lapse,
    refused,
    retryable,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]
EXPIRED = Reply(ReplyKind.RECEIPT_EXPIRED, code="receipt-expired")
DOUBT = Reply(ReplyKind.UNKNOWN, code="product-refused")


async def sent_twice(ledger: Ledger, sql: Sql, run_id: str) -> tuple[Claim, Claim]:
    """A first attempt that lapsed without an answer, and a second one that is in flight."""
    first, second = claim(effect(run_id)), claim(effect(run_id))
    await dispatch(ledger, first)
    await lapse(sql)
    await dispatch(ledger, second)
    return first, second


async def standing(ledger: Ledger, run_id: str) -> Standing:
    (view,) = (await ledger.reads.inspect(run_id, None)).effects
    return view.standing


@pytest.mark.parametrize("reply", [accepted({"id": "m1"}), refused(), unknown()])
async def test_an_answer_becomes_the_reply_on_record_and_repeats_itself(
    ledger: Ledger, run_id: str, reply: Reply
) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    assert await ledger.effects.settle(answer(first, reply)) == reply
    assert await ledger.effects.settle(answer(first, reply)) == reply
    assert await ledger.effects.claim(claim(effect(run_id))) == Settled(reply)


async def test_a_repeated_settle_tells_its_events_once(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable()))
    before = await ledger.reads.events(run_id, None)
    await ledger.effects.settle(answer(first, retryable()))
    assert await ledger.reads.events(run_id, None) == before


async def test_a_retryable_answer_waits_longer_each_time(ledger: Ledger, run_id: str) -> None:
    limits = replace(LIMITS, attempts=5, longest_delay=7.0)
    delays = []
    for _ in range(3):
        attempt = claim(effect(run_id), limits=limits)
        await dispatch(ledger, attempt)
        retry = await ledger.effects.settle(answer(attempt, retryable()))
        assert isinstance(retry, Retry)
        delays.append(retry.delay)
    assert delays == [2.0, 6.0, 7.0]


async def test_the_products_own_delay_is_honoured(ledger: Ledger, run_id: str, sql: Sql) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    retry = await ledger.effects.settle(answer(first, retryable(), retry_after=77.0))
    assert retry == Retry(77.0, "rate-limited")
    again = claim(effect(run_id), keeps_pause=True)
    busy = await ledger.effects.claim(again)
    assert isinstance(busy, Busy)
    assert 70 < busy.retry_after <= 77
    await sql("update coordinator.attempts set retry_at = clock_timestamp()")
    assert isinstance(await ledger.effects.claim(again), Dispatched)


async def test_whoever_resets_an_activity_does_not_wait_for_the_pause(
    ledger: Ledger, run_id: str
) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable(), retry_after=77.0))
    await dispatch(ledger, claim(effect(run_id)))


async def test_a_cancel_does_not_wait_for_a_pause(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable(), retry_after=77.0))
    assert await ledger.effects.resolve(effect(run_id), first.contract) == NotSent()
    await ledger.runs.request_cancel(run_id, "no more")
    refused = Settled(Reply(ReplyKind.NOT_PERMITTED, code="cancel"))
    assert await ledger.effects.claim(claim(effect(run_id), keeps_pause=True)) == refused


async def test_used_up_attempts_are_a_final_reply_that_nothing_was_applied(
    ledger: Ledger, run_id: str
) -> None:
    for _ in range(LIMITS.attempts):
        last = claim(effect(run_id))
        await dispatch(ledger, last)
        settled = await ledger.effects.settle(answer(last, retryable()))
    assert settled == retryable()
    assert await ledger.effects.claim(claim(effect(run_id))) == Settled(retryable())
    assert await standing(ledger, run_id) is Standing.NOT_APPLIED


async def test_a_retry_at_or_after_the_deadline_is_not_permitted(
    ledger: Ledger, run_id: str
) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    settled = await ledger.effects.settle(answer(first, retryable(), retry_after=3_600.0))
    assert settled == Reply(ReplyKind.NOT_PERMITTED, code="deadline")
    assert await standing(ledger, run_id) is Standing.PENDING


@pytest.mark.parametrize("reply", [refused(), retryable("product-refused")])
async def test_a_negative_answer_says_nothing_about_an_earlier_unresolved_send(
    ledger: Ledger, run_id: str, sql: Sql, reply: Reply
) -> None:
    _, second = await sent_twice(ledger, sql, run_id)
    assert await ledger.effects.settle(answer(second, reply)) == DOUBT
    status = await ledger.reads.run_status(run_id, None)
    assert (status.state, status.uncertain) == (RunState.ATTENTION, True)


async def test_a_read_is_refused_whatever_earlier_attempts_did(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    first, second = claim(effect(run_id), READ), claim(effect(run_id), READ)
    await dispatch(ledger, first)
    await lapse(sql)
    await dispatch(ledger, second)
    assert await ledger.effects.settle(answer(second, refused())) == refused()


async def test_an_uncertain_read_is_read_again(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id), READ)
    await dispatch(ledger, first)
    assert isinstance(await ledger.effects.settle(answer(first, unknown())), Retry)


async def test_acceptance_settles_an_effect_whose_earlier_send_is_unresolved(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    _, second = await sent_twice(ledger, sql, run_id)
    assert await ledger.effects.settle(answer(second, accepted(1))) == accepted(1)
    assert await standing(ledger, run_id) is Standing.ACCEPTED


@pytest.mark.parametrize("late", [0, 1])
async def test_a_late_acceptance_from_whichever_attempt_ends_the_doubt(
    ledger: Ledger, run_id: str, sql: Sql, late: int
) -> None:
    attempts = await sent_twice(ledger, sql, run_id)
    await ledger.effects.settle(answer(attempts[1], unknown()))
    assert await ledger.effects.settle(answer(attempts[late], accepted(1))) == accepted(1)
    assert await standing(ledger, run_id) is Standing.ACCEPTED


@pytest.mark.parametrize("doubt", [unknown(), EXPIRED])
async def test_a_late_refusal_clears_its_own_attempt_only(
    ledger: Ledger, run_id: str, sql: Sql, doubt: Reply
) -> None:
    first, second = await sent_twice(ledger, sql, run_id)
    assert (await ledger.effects.settle(answer(second, doubt))) == doubt
    assert (await ledger.effects.settle(answer(first, refused()))) == doubt
    assert await standing(ledger, run_id) is Standing.UNKNOWN


async def test_a_refusal_of_the_only_attempt_ends_its_doubt(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    first = claim(effect(run_id), EVALUATION)
    await dispatch(ledger, first)
    await lapse(sql)
    await ledger.effects.claim(claim(effect(run_id), EVALUATION))
    assert await ledger.effects.settle(answer(first, refused())) == refused()
    assert await standing(ledger, run_id) is Standing.NOT_APPLIED


async def test_a_late_refusal_leaves_the_effect_to_the_attempt_in_flight(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    first, second = await sent_twice(ledger, sql, run_id)
    assert isinstance(await ledger.effects.settle(answer(first, refused())), Retry)
    assert await ledger.effects.settle(answer(second, refused())) == refused()
    assert await standing(ledger, run_id) is Standing.NOT_APPLIED


async def test_an_expired_receipt_needs_a_person(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    assert await ledger.effects.settle(answer(first, EXPIRED)) == EXPIRED
    assert await standing(ledger, run_id) is Standing.UNKNOWN


async def test_a_receipt_is_kept_and_only_its_id_and_time_are_shown(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, accepted(), receipt={"id": "r-1", "status": "sent"}))
    (view,) = (await ledger.reads.inspect(run_id, None)).effects
    assert [receipt.receipt_id for receipt in view.receipts] == ["r-1"]
    assert b"sent" not in (await sql("select sealed_receipt from coordinator.receipts"))[0][0]


async def test_an_answer_of_an_attempt_that_the_ledger_lost_is_no_reply_and_holds_it(
    ledger: Ledger, run_id: str
) -> None:
    with pytest.raises(ActivityError) as refusal:
        await ledger.effects.settle(answer(claim(effect(run_id)), accepted()))
    assert refusal.value.code == "effect.absent"
    assert (await ledger.holds.standing()).hold_code == "ledger-behind"


async def test_an_answer_after_the_end_is_kept_and_the_end_stands(
    ledger: Ledger, run_id: str
) -> None:
    first = claim(effect(run_id), READ)
    await dispatch(ledger, first)
    await ledger.runs.close(run_id, 1, Closing(RunState.FINISHED, 5, "done"))
    await ledger.effects.settle(answer(first, accepted()))
    status = await ledger.reads.run_status(run_id, None)
    assert status.state is RunState.FINISHED
    assert await standing(ledger, run_id) is Standing.ACCEPTED
