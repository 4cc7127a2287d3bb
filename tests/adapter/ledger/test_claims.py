"""Claiming: the command is stored once, one attempt sends at a time, and doubt is never resent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from activities.errors import ActivityError
from activities.ports import (
    Busy,
    CallBook,
    Command,
    EffectLedger,
    RunLedger,
    Saved,
    Settled,
)
from adapter.ledger import Ledger
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import Recovery
from interpreter.contract.records import RunState
from tests.adapter.ledger.words import (
    EVALUATION,
    LIMITS,
    MUTATION,
    READ,
    accepted,
    answer,
    claim,
    contract,
    dispatch,
    effect,
    lapse,
    retryable,
)

Sql = Callable[..., Awaitable[list[Any]]]


async def test_the_first_claim_may_send_under_the_effects_own_key(
    ledger: Ledger, run_id: str
) -> None:
    permitted = await dispatch(ledger, claim(effect(run_id)))
    assert permitted.idempotency_key == ledger.keyed.product_key(effect(run_id), 1)
    assert (permitted.attempt, permitted.unresolved) == (1, False)


async def test_the_first_command_stored_is_the_one_that_is_sent_again(
    ledger: Ledger, run_id: str
) -> None:
    first = claim(effect(run_id))
    sent = await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable()))
    other = Command("elsewhere", "other.op/v1", {"to": "Eve"}, {"prepared": 2})
    again = await dispatch(ledger, claim(effect(run_id), command=other))
    assert again.command == sent.command == first.command
    assert again.idempotency_key == sent.idempotency_key


async def test_a_settled_effect_answers_and_nothing_is_sent(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, accepted({"id": "m1"})))
    assert await ledger.effects.claim(claim(effect(run_id))) == Settled(accepted({"id": "m1"}))


async def test_a_live_lease_answers_busy_and_is_no_doubt(ledger: Ledger, run_id: str) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    busy = await ledger.effects.claim(claim(effect(run_id)))
    assert isinstance(busy, Busy)
    assert LIMITS.send_budget < busy.retry_after <= LIMITS.send_budget + 5


@pytest.mark.parametrize(
    ("what", "unresolved"),
    [
        (READ, False),
        (MUTATION, True),
        (contract(recovery=Recovery.SAME_COMMAND_AND_RECEIPT), True),
    ],
)
async def test_a_lapsed_dispatch_of_a_repeatable_command_is_sent_again(
    ledger: Ledger, run_id: str, sql: Sql, what: Any, unresolved: bool
) -> None:
    await dispatch(ledger, claim(effect(run_id), what))
    await lapse(sql)
    again = await dispatch(ledger, claim(effect(run_id), what))
    assert (again.attempt, again.unresolved) == (2, unresolved)


async def test_a_lapsed_evaluation_is_unknown_and_the_run_needs_a_person(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id), EVALUATION))
    await lapse(sql)
    settled = Settled(Reply(ReplyKind.UNKNOWN, code="lease-lapsed"))
    assert await ledger.effects.claim(claim(effect(run_id), EVALUATION)) == settled
    assert await ledger.effects.claim(claim(effect(run_id), EVALUATION)) == settled
    status = await ledger.reads.run_status(run_id, None)
    assert (status.state, status.uncertain) == (RunState.ATTENTION, True)


async def test_a_receipt_window_counts_from_the_first_dispatch_and_is_never_renewed(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    what = contract(receipt_window_seconds=100)
    for _ in range(2):
        await dispatch(ledger, claim(effect(run_id), what))
        await lapse(sql)
    await sql(
        "update coordinator.attempts set dispatched_at = clock_timestamp() - interval '86 s'"
        " where attempt = 1"
    )
    # 86 s gone, 10 s to send and 5 s of skew: the answer might come after the window.
    expired = await ledger.effects.claim(claim(effect(run_id), what))
    assert expired == Settled(Reply(ReplyKind.RECEIPT_EXPIRED, code="receipt-expired"))
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.ATTENTION


async def test_outside_its_window_what_no_send_has_applied_was_not_applied(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    what = contract(receipt_window_seconds=100)
    first = claim(effect(run_id), what)
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable()))
    await sql("update coordinator.attempts set dispatched_at = dispatched_at - interval '90 s'")
    over = Settled(Reply(ReplyKind.REFUSED, code="receipt-expired"))
    assert await ledger.effects.claim(claim(effect(run_id), what)) == over
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.RUNNING
    [shown] = (await ledger.reads.inspect(run_id, None)).effects
    assert (shown.outcome, shown.uncertain) == ("refused", False)


async def test_a_resend_inside_the_receipt_window_is_permitted(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    what = contract(receipt_window_seconds=100)
    await dispatch(ledger, claim(effect(run_id), what))
    await lapse(sql)
    await sql("update coordinator.attempts set dispatched_at = dispatched_at - interval '80 s'")
    assert (await dispatch(ledger, claim(effect(run_id), what))).unresolved


async def test_a_withdrawn_dispatch_counts_as_never_sent(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id), EVALUATION)
    await dispatch(ledger, first)
    await ledger.effects.withdraw(first.effect, first.token)
    again = await dispatch(ledger, claim(effect(run_id), EVALUATION))
    assert (again.attempt, again.unresolved) == (2, False)


async def test_withdrawing_an_attempt_that_never_was_changes_nothing(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.effects.withdraw(effect(run_id), "token-x")
    assert (await dispatch(ledger, claim(effect(run_id)))).attempt == 1


async def test_an_answered_attempt_can_not_be_withdrawn(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, accepted()))
    await ledger.effects.withdraw(first.effect, first.token)
    (view,) = (await ledger.reads.inspect(run_id, None)).effects
    assert view.attempts[0].settled_as == "accepted"


@pytest.mark.parametrize("run", ["not-a-run", "00000000-0000-8000-8000-000000000000"])
async def test_a_run_that_was_not_admitted_may_not_send(ledger: Ledger, run: str) -> None:
    with pytest.raises(ActivityError) as refusal:
        await ledger.effects.claim(claim(effect(run)))
    assert refusal.value.code == "run.unknown"


async def test_a_claim_that_only_asks_is_never_permitted(ledger: Ledger, run_id: str) -> None:
    asks = claim(effect(run_id), only_asks=True)
    only_asked = Settled(Reply(ReplyKind.NOT_PERMITTED, code="only-asked"))
    assert await ledger.effects.claim(asks) == only_asked
    sent = claim(effect(run_id))
    assert (await dispatch(ledger, sent)).attempt == 1
    await ledger.effects.settle(answer(sent, accepted()))
    assert isinstance(await ledger.effects.claim(asks), Settled)


async def test_two_branches_may_visit_the_same_node(ledger: Ledger, run_id: str) -> None:
    one = claim(replace(effect(run_id), branch="main/each:1/0"), sequence=3)
    other = claim(replace(effect(run_id), branch="main/each:1/1"), sequence=5)
    first, second = await dispatch(ledger, one), await dispatch(ledger, other)
    assert first.idempotency_key != second.idempotency_key


async def test_a_saved_command_is_read_with_its_key_and_latest_token(
    ledger: Ledger, run_id: str
) -> None:
    assert await ledger.effects.saved(effect(run_id)) is None
    first = claim(effect(run_id), command=Command("post", "op/v1", {"a": 1}, {"prepared": 1}))
    permitted = await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable()))
    second = claim(effect(run_id))
    await dispatch(ledger, second)
    saved = await ledger.effects.saved(effect(run_id))
    assert saved == Saved(first.command, permitted.idempotency_key, second.token)


def test_the_parts_of_the_ledger_are_the_ports_of_the_activities(ledger: Ledger) -> None:
    effects: EffectLedger = ledger.effects
    runs: RunLedger = ledger.runs
    book: CallBook = ledger.book
    assert (effects, runs, book) == (ledger.effects, ledger.runs, ledger.book)
