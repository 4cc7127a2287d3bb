"""Waits: opened once, read when they are due, resolved by the first writer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from activities.ports import ObservationDue, OpenedWait
from adapter.ledger import Ledger
from interpreter.contract.effects import VisitRef
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import claim, dispatch, effect

Sql = Callable[..., Awaitable[list[Any]]]
EARLY = datetime(2000, 1, 1, tzinfo=UTC)
INTERVAL, FLOOR = 900.0, 30.0


def wait(run_id: str, **changes: Any) -> OpenedWait:
    """A completion wait."""
    opened = OpenedWait(VisitRef(run_id, "main", "decision", 1), "completion", 3, None)
    return replace(opened, **changes)


async def due(
    ledger: Ledger, opened: OpenedWait, hinted: bool = False, at: datetime = EARLY
) -> ObservationDue:
    return await ledger.runs.observation_due(opened, INTERVAL, FLOOR, hinted, at)


async def test_opening_a_wait_again_changes_nothing(ledger: Ledger, run_id: str) -> None:
    opened = wait(run_id, due_at=datetime.now(UTC) + timedelta(hours=1))
    await ledger.runs.open_wait(opened)
    before = await ledger.reads.inspect(run_id, None)
    await ledger.runs.open_wait(opened)
    assert await ledger.reads.inspect(run_id, None) == before
    assert before.run.state is RunState.WAITING
    assert [(s.node, s.state) for s in before.steps] == [("decision", "waiting")]
    assert [(w.kind, w.due_at) for w in before.waits] == [("completion", opened.due_at)]


async def test_the_first_reading_comes_after_one_interval(ledger: Ledger, run_id: str) -> None:
    answer = await due(ledger, wait(run_id))
    assert answer.delay == pytest.approx(INTERVAL, abs=5)
    assert (answer.observations, answer.remaining, answer.resolution) == (0, math.inf, None)


async def test_the_first_hint_brings_the_first_reading_at_once(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.open_wait(wait(run_id))
    assert (await due(ledger, wait(run_id), hinted=True)).delay == 0


async def test_a_hint_never_brings_a_reading_sooner_than_the_floor_after_the_last(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.open_wait(wait(run_id))
    await ledger.runs.observed(wait(run_id).wait, EARLY, 0)
    hinted, unhinted = await due(ledger, wait(run_id), hinted=True), await due(ledger, wait(run_id))
    assert hinted.delay == pytest.approx(FLOOR, abs=5)
    assert unhinted.delay == pytest.approx(INTERVAL, abs=5)
    assert hinted.observations == 1


async def test_now_is_the_later_of_both_clocks(ledger: Ledger, run_id: str) -> None:
    until = datetime.now(UTC) + timedelta(days=2)
    opened = wait(run_id, due_at=until)
    await ledger.runs.open_wait(opened)
    late = await due(ledger, opened, at=until + timedelta(days=1))
    assert (late.delay, late.remaining) == (0, 0)
    assert (await due(ledger, opened)).remaining == pytest.approx(2 * 86_400, abs=5)


async def test_a_poll_that_may_not_read_yet_writes_nothing(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await ledger.runs.open_wait(wait(run_id))
    rows = (
        "select xmin::text from coordinator.waits union all select xmin::text from coordinator.runs"
    )
    before = await sql(rows)
    for hinted in (False, True):
        await due(ledger, wait(run_id), hinted)
    assert await sql(rows) == before


async def test_the_first_resolution_stands_and_a_late_one_is_told_so(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    reference = wait(run_id).wait
    await ledger.runs.open_wait(wait(run_id))
    assert await ledger.runs.resolve_wait(reference, "completed") == "completed"
    assert await ledger.runs.resolve_wait(reference, "expired") == "completed"
    assert (await due(ledger, wait(run_id))).resolution == "completed"
    late = await sql("select detail from coordinator.journal where kind = 'wait.late'")
    assert late == [({"resolution": "expired", "onRecord": "completed"},)]


async def test_of_two_resolutions_at_once_one_wins(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.open_wait(wait(run_id))
    ends = [ledger.runs.resolve_wait(wait(run_id).wait, end) for end in ("completed", "expired")]
    first, second = await asyncio.gather(*ends)
    assert first == second


async def test_a_wait_may_be_resolved_before_it_was_written(ledger: Ledger, run_id: str) -> None:
    assert await ledger.runs.resolve_wait(wait(run_id).wait, "resumed") == "resumed"
    assert await ledger.runs.resolve_wait(wait(run_id).wait, "expired") == "resumed"


async def test_a_wait_ends_with_its_run(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.open_wait(wait(run_id))
    await ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    assert await ledger.runs.resolve_wait(wait(run_id).wait, "completed") == "closed"
    assert (await due(ledger, wait(run_id))).resolution == "closed"
    unopened = wait(run_id, wait=VisitRef(run_id, "main", "later", 1))
    assert (await due(ledger, unopened)).resolution == "closed"


async def test_an_approval_pauses_the_run_and_a_call_lets_it_run_again(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.open_wait(wait(run_id, kind="approval", state=RunState.PAUSED))
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.PAUSED
    await dispatch(ledger, claim(effect(run_id), sequence=7))
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.RUNNING
