"""Permission: deadline, cancel, hold, withdrawal and end, judged under the run's lock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from activities.ports import Dispatched, Settled
from adapter.ledger import Ledger
from adapter.ledger.holds import HoldCode
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import (
    READ,
    accepted,
    answer,
    claim,
    dispatch,
    effect,
    lapse,
    pass_deadline,
    read,
)

Sql = Callable[..., Awaitable[list[Any]]]


def refusal(code: str, output: Any = None) -> Settled:
    return Settled(Reply(ReplyKind.NOT_PERMITTED, output, code))


async def stop(reason: str, ledger: Ledger, run_id: str, sql: Sql) -> None:
    """Take the permission to send away for one reason."""
    match reason:
        case "deadline":
            await pass_deadline(sql)
        case "cancel":
            await ledger.runs.request_cancel(run_id, "no longer needed")
        case "hold":
            await sql("update coordinator.control set restore_hold = true")
        case "withdrawn":
            await ledger.packages.withdraw("reviewed-notice", "operator")


REASONS = ["deadline", "cancel", "hold", "withdrawn"]


@pytest.mark.parametrize("reason", REASONS)
async def test_without_permission_nothing_is_sent_and_nothing_stored(
    ledger: Ledger, run_id: str, sql: Sql, reason: str
) -> None:
    asks = claim(effect(run_id), only_asks=True)
    assert await ledger.effects.claim(asks) == refusal("only-asked")
    await stop(reason, ledger, run_id, sql)
    assert await ledger.effects.claim(asks) == refusal(reason)
    assert await ledger.effects.claim(claim(effect(run_id))) == refusal(reason)
    assert (await ledger.reads.inspect(run_id, None)).effects == []


@pytest.mark.parametrize("reason", REASONS)
async def test_without_permission_a_reads_answer_is_not_written(
    ledger: Ledger, run_id: str, sql: Sql, reason: str
) -> None:
    await stop(reason, ledger, run_id, sql)
    assert await ledger.effects.read_outcome(read(effect(run_id))) == refusal(reason).reply
    assert (await ledger.reads.inspect(run_id, None)).effects == []


@pytest.mark.parametrize("reason", ["deadline", "cancel", "withdrawn"])
async def test_an_end_of_permission_never_hides_a_send_without_answer(
    ledger: Ledger, run_id: str, sql: Sql, reason: str
) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    await lapse(sql)
    await stop(reason, ledger, run_id, sql)
    settled = await ledger.effects.claim(claim(effect(run_id)))
    assert settled == Settled(Reply(ReplyKind.UNKNOWN, code="lease-lapsed"))


async def test_a_hold_decides_nothing_about_a_send_without_answer(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    await lapse(sql)
    await stop("hold", ledger, run_id, sql)
    assert await ledger.effects.claim(claim(effect(run_id))) == refusal("hold")
    await sql("update coordinator.control set restore_hold = false")
    assert (await dispatch(ledger, claim(effect(run_id)))).unresolved


async def test_a_lapsed_read_that_may_not_be_repeated_is_just_not_permitted(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id), READ))
    await lapse(sql)
    await stop("deadline", ledger, run_id, sql)
    assert await ledger.effects.claim(claim(effect(run_id), READ)) == refusal("deadline")


async def test_a_cancel_does_not_refuse_calls_of_the_cancel_route(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.request_cancel(run_id, "no longer needed")
    await dispatch(ledger, claim(effect(run_id), after_cancel=True))


async def test_a_cancel_does_not_refuse_reads_of_the_cancel_route(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.request_cancel(run_id, "no longer needed")
    outcome = replace(read(effect(run_id)), after_cancel=True)
    assert (await ledger.effects.read_outcome(outcome)).kind is ReplyKind.ACCEPTED


async def test_a_stored_reply_needs_no_permission(ledger: Ledger, run_id: str, sql: Sql) -> None:
    first = claim(effect(run_id))
    await dispatch(ledger, first)
    await ledger.effects.settle(answer(first, accepted(1)))
    await stop("deadline", ledger, run_id, sql)
    await ledger.runs.close(run_id, 1, Closing(RunState.EXPIRED, 9))
    assert await ledger.effects.claim(claim(effect(run_id))) == Settled(accepted(1))


async def test_a_replaced_package_still_dispatches(ledger: Ledger, run_id: str, sql: Sql) -> None:
    await sql(
        "insert into coordinator.activations (workflow, revision, package, act, actor, acted_at)"
        " select workflow, revision, package, act, actor, acted_at from coordinator.activations"
    )
    await dispatch(ledger, claim(effect(run_id)))


async def test_a_closed_run_answers_with_the_end_on_record(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.close(run_id, 1, Closing(RunState.FINISHED, 5, "done", {"a": 1}))
    record = {"state": "finished", "outcome": "done", "output": {"a": 1}, "failureCode": ""}
    assert await ledger.effects.claim(claim(effect(run_id))) == refusal("run-closed", record)
    closed = await ledger.effects.read_outcome(read(effect(run_id)))
    assert closed == refusal("run-closed", record).reply


async def waits(work: asyncio.Task[Any]) -> bool:
    """True when the work is still blocked after a moment."""
    done, _ = await asyncio.wait([work], timeout=0.3)
    return not done


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("update coordinator.runs set cancel_requested_at = clock_timestamp()", "cancel"),
        ("update coordinator.control set restore_hold = true", "hold"),
    ],
)
async def test_a_dispatch_waits_for_a_cancel_or_hold_that_is_being_written(
    ledger: Ledger, run_id: str, owner_url: str, change: str, reason: str
) -> None:
    async with await psycopg.AsyncConnection.connect(owner_url) as other:
        await other.execute(change.encode())
        work = asyncio.create_task(ledger.effects.claim(claim(effect(run_id))))
        assert await waits(work)
        await other.commit()
    assert await work == refusal(reason)


async def test_a_cancel_and_a_hold_wait_for_a_dispatch_that_is_being_written(
    ledger: Ledger, run_id: str, owner_url: str
) -> None:
    async with await psycopg.AsyncConnection.connect(owner_url) as other:
        # The dispatch has its permission, and can not write it down.
        await other.execute("lock table coordinator.attempts in exclusive mode")
        dispatching = asyncio.create_task(ledger.effects.claim(claim(effect(run_id))))
        assert await waits(dispatching)
        cancelling = asyncio.create_task(ledger.runs.request_cancel(run_id, "not wanted"))
        holding = asyncio.create_task(ledger.holds.place(HoldCode.LEDGER_BEHIND))
        assert await waits(cancelling)
        assert await waits(holding)
        await other.commit()
    assert isinstance(await dispatching, Dispatched)
    await cancelling
    assert await holding


async def test_the_lease_counts_from_after_the_wait_for_the_lock(
    ledger: Ledger, run_id: str, owner_url: str, sql: Sql
) -> None:
    async with await psycopg.AsyncConnection.connect(owner_url) as other:
        await other.execute("select from coordinator.runs for update")
        work = asyncio.create_task(ledger.effects.claim(claim(effect(run_id))))
        await asyncio.sleep(0.5)
        (released,) = await sql("select clock_timestamp()")
        await other.commit()
    await work
    (lease,) = await sql(
        "select dispatched_at, lease_until - dispatched_at from coordinator.attempts"
    )
    assert lease[0] >= released[0]
    assert lease[1].total_seconds() == 15.0
