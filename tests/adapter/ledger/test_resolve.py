"""Resolving: what an activity that ended without a reply left behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from activities.ports import Busy, NotSent, Retry
from adapter.ledger import Ledger
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import (
    EVALUATION,
    MUTATION,
    READ,
    accepted,
    answer,
    claim,
    contract,
    dispatch,
    effect,
    lapse,
    pass_deadline,
    retryable,
)

Sql = Callable[..., Awaitable[list[Any]]]
LAPSED = Reply(ReplyKind.UNKNOWN, code="lease-lapsed")


async def test_a_live_lease_is_waited_out(ledger: Ledger, run_id: str) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    assert isinstance(await ledger.effects.resolve(effect(run_id), MUTATION), Busy)


async def test_a_settled_effect_resolves_to_its_reply(ledger: Ledger, run_id: str) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, accepted({"id": 1})))
    assert await ledger.effects.resolve(effect(run_id), MUTATION) == accepted({"id": 1})


async def test_an_effect_that_no_attempt_dispatched_was_not_sent(
    ledger: Ledger, run_id: str
) -> None:
    assert await ledger.effects.resolve(effect(run_id), MUTATION) == NotSent()
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.withdraw(first.effect, first.token)
    assert await ledger.effects.resolve(effect(run_id), MUTATION) == NotSent()


async def test_an_effect_whose_attempts_were_all_turned_away_was_not_applied(
    ledger: Ledger, run_id: str
) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable()))
    assert await ledger.effects.resolve(effect(run_id), MUTATION) == NotSent()


@pytest.mark.parametrize("what", [READ, MUTATION])
async def test_a_lapsed_repeatable_command_may_be_sent_again_at_once(
    ledger: Ledger, run_id: str, sql: Sql, what: Any
) -> None:
    await dispatch(ledger, claim(effect(run_id), what))
    await lapse(sql)
    assert await ledger.effects.resolve(effect(run_id), what) == Retry(0.0, "lease-lapsed")


async def test_a_call_to_be_made_again_brings_the_position_of_what_was_permitted(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    permitted = await dispatch(ledger, claim(effect(run_id)))
    await lapse(sql)
    found = await ledger.effects.resolve(effect(run_id), MUTATION)
    assert isinstance(found, Retry)
    assert found.position >= permitted.position > 0


async def test_a_lapsed_evaluation_resolves_to_unknown(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id), EVALUATION))
    await lapse(sql)
    assert await ledger.effects.resolve(effect(run_id), EVALUATION) == LAPSED


async def test_a_lapsed_command_after_the_deadline_or_cancel_resolves_to_unknown(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    await dispatch(ledger, claim(effect(run_id, "late"), sequence=3))
    await lapse(sql)
    await ledger.runs.request_cancel(run_id, "stop")
    assert await ledger.effects.resolve(effect(run_id), MUTATION) == LAPSED
    await pass_deadline(sql)
    assert await ledger.effects.resolve(effect(run_id, "late"), MUTATION) == LAPSED


async def test_a_call_of_the_cancel_route_stays_permitted_when_it_is_resolved(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await ledger.runs.request_cancel(run_id, "stop")
    await dispatch(ledger, claim(effect(run_id), after_cancel=True))
    await lapse(sql)
    assert await ledger.effects.resolve(effect(run_id), MUTATION) == Retry(0.0, "lease-lapsed")


async def test_a_lapsed_command_outside_its_receipt_window_resolves_to_receipt_expired(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    what = contract(receipt_window_seconds=12)
    await dispatch(ledger, claim(effect(run_id), what))
    await lapse(sql)
    resolved = await ledger.effects.resolve(effect(run_id), what)
    assert resolved == Reply(ReplyKind.RECEIPT_EXPIRED, code="receipt-expired")


async def test_a_lapsed_read_of_a_closed_run_resolves_to_its_end(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id), READ))
    await lapse(sql)
    await ledger.runs.close(run_id, 1, Closing(RunState.FAILED, 5, failure_code="late"))
    resolved = await ledger.effects.resolve(effect(run_id), READ)
    assert isinstance(resolved, Reply)
    assert (resolved.code, resolved.output["failureCode"]) == ("run-closed", "late")
