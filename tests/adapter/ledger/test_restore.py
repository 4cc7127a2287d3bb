"""A ledger that is older than what was done with it: noticed, held, and never taken as proof."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from activities.ports import Dispatched, Retry, Settled
from adapter.crypto import KeyRing, Sealer
from adapter.errors import Refused
from adapter.ledger import ActKind, Ledger, Wish
from adapter.ledger.entry import LedgerBehind
from adapter.ledger.holds import Attested, HoldCode
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import OperationContract
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import (
    EVALUATION,
    MUTATION,
    READ,
    accepted,
    admission,
    answer,
    claim,
    dispatch,
    effect,
    lapse,
    read,
    refused,
    retryable,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]
VOUCHED = Attested("ticket", True, True)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


async def reviewed(ledger: Ledger) -> None:
    """Go through the whole review of a restored ledger, which finds nothing unknown."""
    await ledger.holds.begin_review("ops", "restored")
    await ledger.reviews.complete("ops", VOUCHED)
    await ledger.holds.release_restore("ops", "reviewed")


async def hold_code(ledger: Ledger) -> str:
    """Why the deployment is held."""
    return (await ledger.holds.standing()).hold_code


async def test_replies_tell_the_ledgers_position(ledger: Ledger, run_id: str) -> None:
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    settled = await ledger.effects.settle(answer(sent, accepted()))
    again = await ledger.effects.claim(claim(effect(run_id)))
    assert isinstance(settled, Reply)
    assert isinstance(again, Settled)
    assert settled.position == again.reply.position > 0
    assert (await ledger.effects.claim(claim(effect(run_id), seen=settled.position))) == again


async def test_a_workflow_that_has_seen_more_places_the_hold(ledger: Ledger, run_id: str) -> None:
    held = await ledger.effects.claim(claim(effect(run_id), seen=99))
    assert held == Settled(Reply(ReplyKind.NOT_PERMITTED, code="hold"))
    assert await hold_code(ledger) == "ledger-behind"


async def test_a_read_that_has_seen_more_places_the_hold_too(ledger: Ledger, run_id: str) -> None:
    outcome = replace(read(effect(run_id)), seen=99)
    assert (await ledger.effects.read_outcome(outcome)).code == "hold"
    assert await hold_code(ledger) == "ledger-behind"


async def test_an_end_that_has_seen_more_is_not_written(ledger: Ledger, run_id: str) -> None:
    with pytest.raises(LedgerBehind):
        await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9, seen=99))
    assert await hold_code(ledger) == "ledger-behind"
    assert not (await ledger.reads.run_status(run_id, None)).state.final


async def test_after_the_review_the_same_workflow_may_go_on(ledger: Ledger, run_id: str) -> None:
    await ledger.effects.claim(claim(effect(run_id), seen=99))
    await ledger.holds.begin_review("ops", "r")
    assert (await ledger.reads.run_status(run_id, None)).under_review
    assert (await ledger.reviews.complete("ops", VOUCHED)).cleared == 1
    await ledger.holds.release_restore("ops", "r")
    answered = await ledger.effects.claim(claim(effect(run_id), seen=99))
    assert isinstance(answered, Dispatched)


async def test_an_absent_effect_older_than_the_epoch_is_unknown(
    ledger: Ledger, run_id: str
) -> None:
    late = claim(effect(run_id), asked_at=LONG_AGO)
    answered = await ledger.effects.claim(late)
    assert isinstance(answered, Settled)
    assert (answered.reply.kind, answered.reply.code) == (ReplyKind.UNKNOWN, "older-than-restore")
    [shown] = (await ledger.reads.inspect(run_id, None)).effects
    assert shown.attempts[0].dispatched_at == LONG_AGO
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.ATTENTION


async def test_an_attempt_that_was_presumed_is_withdrawn_by_nobody(
    ledger: Ledger, run_id: str
) -> None:
    late = claim(effect(run_id), asked_at=LONG_AGO)
    await ledger.effects.claim(late)
    await ledger.effects.withdraw(late.effect, late.token)
    await ledger.acts.begin(run_id, Wish(ActKind.RETRY_SAME, "ops", "the line is back", "r1"))
    again = await dispatch(ledger, claim(late.effect, generation=2))
    assert (again.attempt, again.unresolved) == (2, True)


async def test_a_lost_preparation_is_made_once_more_when_it_is_to_be_sent(
    ledger: Ledger, run_id: str
) -> None:
    late = claim(effect(run_id), asked_at=LONG_AGO)
    await ledger.effects.claim(late)
    await ledger.acts.begin(run_id, Wish(ActKind.RETRY_SAME, "ops", "the line is back", "r1"))
    sent = claim(late.effect, generation=2, command=replace(late.command, preparation={"of": 1}))
    assert (await dispatch(ledger, sent)).command == sent.command
    await ledger.effects.settle(answer(sent, unknown()))
    await ledger.acts.begin(run_id, Wish(ActKind.RETRY_SAME, "ops", "once more", "r2"))
    changed = claim(late.effect, generation=3, command=replace(late.command, preparation={"of": 2}))
    assert (await dispatch(ledger, changed)).command == sent.command


@pytest.mark.parametrize("what", [MUTATION, EVALUATION])
async def test_a_command_in_back_off_may_have_been_sent_again_before_the_restore(
    ledger: Ledger, run_id: str, what: OperationContract
) -> None:
    first = claim(effect(run_id), what, asked_at=datetime.now(UTC))
    await dispatch(ledger, first)
    assert isinstance(await ledger.effects.settle(answer(first, retryable())), Retry)
    await reviewed(ledger)
    again = await ledger.effects.claim(replace(first, token="after"))
    assert isinstance(again, Settled)
    assert (again.reply.kind, again.reply.code) == (ReplyKind.UNKNOWN, "older-than-restore")
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.ATTENTION


async def test_a_refusal_after_a_restore_says_nothing_of_an_attempt_that_was_lost(
    ledger: Ledger, run_id: str
) -> None:
    first = claim(effect(run_id), asked_at=datetime.now(UTC))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, retryable()))
    await reviewed(ledger)
    await ledger.effects.claim(replace(first, token="after"))
    await ledger.acts.begin(run_id, Wish(ActKind.RETRY_SAME, "ops", "the line is back", "r1"))
    again = claim(first.effect, generation=2)
    assert (await dispatch(ledger, again)).unresolved
    settled = await ledger.effects.settle(answer(again, refused()))
    assert isinstance(settled, Reply)
    assert settled.kind is ReplyKind.UNKNOWN


async def test_a_read_in_back_off_is_read_again_after_a_restore(
    ledger: Ledger, run_id: str
) -> None:
    first = claim(effect(run_id), READ, asked_at=datetime.now(UTC))
    await dispatch(ledger, first)
    assert isinstance(await ledger.effects.settle(answer(first, retryable())), Retry)
    await reviewed(ledger)
    assert isinstance(await ledger.effects.claim(replace(first, token="after")), Dispatched)


async def test_a_send_that_may_be_under_way_is_reviewed_once_its_lease_is_over(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    await ledger.holds.begin_review("ops", "restored")
    assert (await ledger.reviews.complete("ops", VOUCHED)).remaining == 1
    [under_way] = (await ledger.reads.inspect(run_id, None)).effects
    assert under_way.outcome is None
    with pytest.raises(Refused):
        await ledger.holds.release_restore("ops", "too early", leave_unknown=True)
    await lapse(sql)
    assert (await ledger.reviews.complete("ops", VOUCHED)).remaining == 1
    [settled] = (await ledger.reads.inspect(run_id, None)).effects
    assert (settled.outcome, settled.code) == ("unknown", "unsettled-at-restore")
    await ledger.holds.release_restore("ops", "left to people", leave_unknown=True)


async def test_an_unknown_evaluation_of_a_cancelled_run_keeps_no_hold(
    ledger: Ledger, run_id: str
) -> None:
    asked = claim(effect(run_id), EVALUATION)
    await dispatch(ledger, asked)
    await ledger.effects.settle(answer(asked, unknown()))
    await ledger.holds.begin_review("ops", "restored")
    assert (await ledger.reviews.complete("ops", VOUCHED)).remaining == 1
    closed = await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    assert closed.state is RunState.CANCELLED_AFTER_EFFECT
    with pytest.raises(Refused):
        await ledger.holds.release_restore("ops", "not reviewed since")
    assert (await ledger.reviews.complete("ops", VOUCHED)).cleared == 1
    assert not (await ledger.holds.release_restore("ops", "reviewed")).restore_hold


async def test_an_absent_read_older_than_the_epoch_is_just_read(
    ledger: Ledger, run_id: str
) -> None:
    answered = await ledger.effects.claim(claim(effect(run_id), READ, asked_at=LONG_AGO))
    assert isinstance(answered, Dispatched)


async def test_a_call_of_this_epoch_is_sent(ledger: Ledger, run_id: str) -> None:
    now = datetime.now(UTC) + timedelta(seconds=5)
    answered = await ledger.effects.claim(claim(effect(run_id), asked_at=now))
    assert isinstance(answered, Dispatched)


async def test_a_copy_of_the_database_is_held_by_its_first_connection(
    ledger: Ledger, keys: KeyRing, database_url: str, admin_url: str
) -> None:
    await ledger.close()
    copy = f"{database_url}_copy"
    name, source = copy.rpartition("/")[2], database_url.rpartition("/")[2]
    connection = await psycopg.AsyncConnection.connect(admin_url, autocommit=True)
    async with connection:
        ended = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
        await connection.execute(ended, (source,))
        await connection.execute(f'create database "{name}" template "{source}"'.encode())
        try:
            async with await Ledger.open(copy, Sealer(keys, "test"), keys, pool_size=2) as moved:
                assert await hold_code(moved) == "ledger-moved"
                await moved.holds.begin_review("ops", "r")
                await moved.reviews.complete("ops", VOUCHED)
                await moved.holds.release_restore("ops", "r")
            async with await Ledger.open(copy, Sealer(keys, "test"), keys, pool_size=2) as again:
                assert not (await again.holds.standing()).restore_hold
        finally:
            await connection.execute(f'drop database "{name}" with (force)'.encode())


async def test_the_same_database_opened_again_is_not_held(
    ledger: Ledger, keys: KeyRing, database_url: str
) -> None:
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys) as again:
        assert not (await again.holds.standing()).restore_hold


async def test_a_history_that_a_fail_over_began_is_held_unless_a_standby_confirmed(
    ledger: Ledger, keys: KeyRing, database_url: str, sql: Sql
) -> None:
    await sql("update coordinator.watermark set timeline = 'FFFFFFFF', replicated = true")
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys) as again:
        assert not (await again.holds.standing()).restore_hold
    await sql("update coordinator.watermark set replicated = false")
    for _ in range(2):
        async with await Ledger.open(database_url, Sealer(keys, "test"), keys) as again:
            assert await hold_code(again) == "ledger-moved"
    held = "select detail from coordinator.journal where kind = 'restore-hold.placed'"
    assert await sql(held) == [({"code": "ledger-moved"},)]


async def test_a_hold_that_was_found_must_be_taken_over_first(ledger: Ledger) -> None:
    assert await ledger.holds.place(HoldCode.TEMPORAL_BEHIND)
    assert not await ledger.holds.place(HoldCode.LEDGER_BEHIND)
    with pytest.raises(Refused) as refused:
        await ledger.holds.release_restore("ops", "r")
    assert refused.value.code == "recovery.review-required"


async def test_nothing_is_admitted_for_recovery_only(
    ledger: Ledger, keys: KeyRing, database_url: str
) -> None:
    known = await ledger.admissions.admit(admission())
    opening = Ledger.open(database_url, Sealer(keys, "test"), keys, recovery_only=True)
    async with await opening as only:
        assert (await only.admissions.admit(admission())).run_id == known.run_id
        with pytest.raises(Refused) as refused:
            await only.admissions.admit(admission("key-2"))
    assert refused.value.code == "admission.recovery-only"
