"""Hints: kept from before their wait, told once between two readings, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from adapter.errors import Refused
from adapter.ledger import Ledger
from adapter.ledger.hints import HintedWait, Message
from tests.adapter.ledger.test_waits import EARLY, FLOOR, due, wait

Sql = Callable[..., Awaitable[list[Any]]]
ABOUT = {"reviewRequestId": "canary-7"}
FIRST = Message("casework", "m1", 1_000, "content", ABOUT)
OTHER = replace(FIRST, id="m2")


async def untold(ledger: Ledger) -> list[HintedWait]:
    return await ledger.hints.untold(ABOUT)


async def test_a_hint_finds_the_waits_that_read_its_source(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    opened = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(opened)
    assert await ledger.hints.take(FIRST) is False
    (found,) = await untold(ledger)
    assert (found.run_id, found.reference) == (run_id, "main/decision:1")
    assert (await due(ledger, opened)).delay == 0
    tables = ("coordinator.waits", "coordinator.notices")
    assert "canary" not in str([await sql(f"select * from {table}") for table in tables])


async def test_an_early_hint_is_kept_for_its_wait(ledger: Ledger, run_id: str) -> None:
    await ledger.hints.take(FIRST)
    assert (await due(ledger, wait(run_id, source={"reviewRequestId": "other"}))).delay > 0
    early = wait(run_id, source=ABOUT, wait=replace(wait(run_id).wait, node="later"))
    answer = await due(ledger, early)
    assert (answer.delay, answer.hints) == (0, 1)


async def test_many_hints_are_one_reading_and_one_telling(ledger: Ledger, run_id: str) -> None:
    opened = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(opened)
    await ledger.hints.take(FIRST)
    (found,) = await untold(ledger)
    await ledger.hints.told(found)
    for number in range(5):
        await ledger.hints.take(replace(FIRST, id=f"n{number}"))
    assert await untold(ledger) == []
    answer = await due(ledger, opened)
    assert (answer.delay, answer.hints) == (0, 6)
    assert await ledger.runs.observed(opened.wait, EARLY, answer.hints) is False
    assert (await due(ledger, opened)).delay > FLOOR


async def test_a_hint_after_a_reading_waits_for_the_floor_and_is_told(
    ledger: Ledger, run_id: str
) -> None:
    opened = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(opened)
    await ledger.hints.take(FIRST)
    await ledger.runs.observed(opened.wait, EARLY, 1)
    await ledger.hints.take(OTHER)
    assert [found.hints for found in await untold(ledger)] == [2]
    assert (await due(ledger, opened)).delay == pytest.approx(FLOOR, abs=5)


async def test_another_wait_on_a_source_reads_it_no_sooner_than_the_floor_after_the_last(
    ledger: Ledger, run_id: str
) -> None:
    first = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(first)
    await ledger.hints.take(FIRST)
    await ledger.runs.observed(first.wait, EARLY, 1)
    await ledger.runs.resolve_wait(first.wait, "expired")
    second = wait(run_id, source=ABOUT, wait=replace(first.wait, visit=2))
    assert (await due(ledger, second)).delay == pytest.approx(FLOOR, abs=5)
    other = wait(run_id, source={"of": "another"}, wait=replace(first.wait, visit=3))
    assert (await due(ledger, other, hinted=True)).delay == 0


async def test_a_hint_during_a_reading_is_not_lost(ledger: Ledger, run_id: str) -> None:
    opened = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(opened)
    before = await due(ledger, opened)
    await ledger.hints.take(FIRST)
    assert await ledger.runs.observed(opened.wait, EARLY, before.hints) is True
    assert (await due(ledger, opened)).delay == pytest.approx(FLOOR, abs=5)


async def test_the_census_counts_waits_that_were_not_told_and_since_when(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    opened = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(opened)
    await ledger.hints.take(FIRST)
    await ledger.runs.observed(opened.wait, EARLY, 1)
    assert (await ledger.census.count()).open_hints == 0
    await ledger.hints.take(OTHER)
    counted = await ledger.census.count()
    [(last,)] = await sql("select max(received_at) from coordinator.notices")
    assert (counted.open_hints, counted.oldest_hint) == (1, last)


async def test_after_a_restore_an_execution_is_told_again(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.open_wait(wait(run_id, source=ABOUT))
    await ledger.hints.take(FIRST)
    (found,) = await untold(ledger)
    await ledger.hints.told(found)
    assert await untold(ledger) == []
    await ledger.holds.begin_review("ops", "Temporal was restored")
    assert await untold(ledger) == [found]


async def test_a_wait_that_is_over_is_told_nothing(ledger: Ledger, run_id: str) -> None:
    opened = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(opened)
    await ledger.runs.resolve_wait(opened.wait, "completed")
    assert await ledger.hints.take(FIRST) is False
    assert await untold(ledger) == []


async def test_a_message_is_taken_once_and_its_signature_too(ledger: Ledger, run_id: str) -> None:
    opened = wait(run_id, source=ABOUT)
    await ledger.runs.open_wait(opened)
    await ledger.hints.take(FIRST)
    with pytest.raises(Refused) as refused:
        await ledger.hints.take(FIRST)
    assert refused.value.code == "event.replayed"
    assert await ledger.hints.take(replace(FIRST, signed_at=1_001)) is True
    with pytest.raises(Refused) as refused:
        await ledger.hints.take(FIRST)
    assert refused.value.code == "event.replayed"
    assert (await due(ledger, opened)).hints == 1


async def test_another_message_under_a_known_id_is_refused(ledger: Ledger) -> None:
    await ledger.hints.take(FIRST)
    with pytest.raises(Refused) as refused:
        await ledger.hints.take(replace(FIRST, content="other", signed_at=1_001))
    assert refused.value.code == "event.id-reused"
    assert await ledger.hints.take(replace(FIRST, source="another", content="other")) is False


async def test_of_messages_under_one_id_at_once_one_is_taken(ledger: Ledger) -> None:
    def take(number: int) -> Awaitable[bool]:
        about = {"reviewRequestId": str(number)}
        return ledger.hints.take(replace(FIRST, content=str(number), about=about))

    answers = await asyncio.gather(*map(take, range(6)), return_exceptions=True)
    assert answers.count(False) == 1
    codes = [answer.code for answer in answers if isinstance(answer, Refused)]
    assert codes == ["event.id-reused"] * 5


async def test_messages_of_long_ago_are_forgotten(ledger: Ledger, sql: Sql) -> None:
    await ledger.hints.take(FIRST)
    await sql("update coordinator.notices set received_at = received_at - interval '31 days'")
    await ledger.hints.take(OTHER)
    assert await sql("select count(*) from coordinator.notices") == [(1,)]
