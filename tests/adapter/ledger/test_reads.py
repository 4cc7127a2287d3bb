"""Questions about runs: what an owner may see, in pages, without payloads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adapter.errors import Refused
from adapter.ledger import Ledger, RunFilter, Standing
from interpreter.contract.records import Closing, RunState
from tests.adapter.ledger.words import (
    accepted,
    admission,
    answer,
    claim,
    dispatch,
    effect,
    retryable,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]
ABSENT = "00000000-0000-8000-8000-000000000000"


async def refusal(work: Awaitable[Any]) -> Refused:
    with pytest.raises(Refused) as caught:
        await work
    return caught.value


async def test_a_hidden_run_answers_exactly_like_an_absent_one(ledger: Ledger, run_id: str) -> None:
    questions = (ledger.reads.run_status, ledger.reads.inspect, ledger.reads.events)
    answers = [await refusal(ask(run_id, "owner-b")) for ask in questions]
    answers += [await refusal(ask(run, "owner-a")) for ask in questions for run in (ABSENT, "x")]
    assert {(str(one), one.status) for one in answers} == {(str(answers[0]), 404)}


async def test_an_operator_sees_the_runs_of_every_owner(ledger: Ledger, run_id: str) -> None:
    await ledger.admissions.admit(admission(owner="owner-b"))
    assert len((await ledger.reads.list_runs(RunFilter())).runs) == 2
    assert len((await ledger.reads.list_runs(RunFilter(owner="owner-b"))).runs) == 1


async def test_pages_are_newest_first_and_miss_nothing(ledger: Ledger) -> None:
    admitted = [(await ledger.admissions.admit(admission(f"key-{n}"))).run_id for n in range(5)]
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = await ledger.reads.list_runs(RunFilter(owner="owner-a"), cursor, limit=2)
        seen += [run.run_id for run in page.runs]
        cursor = page.next
    assert cursor is None
    assert seen == admitted[::-1]


async def test_runs_are_listed_by_state_workflow_and_scope(ledger: Ledger, run_id: str) -> None:
    await ledger.admissions.admit(admission("key-2", scope="tenant-b"))
    running = RunFilter(states=(RunState.RUNNING,))
    assert [run.run_id for run in (await ledger.reads.list_runs(running)).runs] == [run_id]
    elsewhere = RunFilter(scope="tenant-b", workflows=("reviewed-notice",))
    assert len((await ledger.reads.list_runs(elsewhere)).runs) == 1
    assert (await ledger.reads.list_runs(RunFilter(workflows=("other",)))).runs == []
    assert (await ledger.reads.list_runs(RunFilter(workflows=()))).runs == []


@pytest.mark.parametrize("cursor", ["x", "%%%", "bm90aGluZw", "MjAyNi0wMS0wMSB4"])
async def test_a_cursor_of_another_hand_is_refused(ledger: Ledger, cursor: str) -> None:
    refused = await refusal(ledger.reads.list_runs(RunFilter(), cursor))
    assert (refused.code, refused.status) == ("cursor.invalid", 400)


@pytest.mark.parametrize("limit", [0, 101])
async def test_a_page_has_a_bound(ledger: Ledger, limit: int) -> None:
    assert (await refusal(ledger.reads.list_runs(RunFilter(), limit=limit))).status == 400


async def test_an_inspection_shows_how_each_effect_stands(ledger: Ledger, run_id: str) -> None:
    replies = {"a": accepted(), "b": unknown(), "c": retryable()}
    for number, (node, reply) in enumerate(replies.items()):
        sent = claim(effect(run_id, node), sequence=2 * number + 1)
        await dispatch(ledger, sent)
        await ledger.effects.settle(answer(sent, reply))
    inspection = await ledger.reads.inspect(run_id, "owner-a")
    assert {view.reference: view.standing for view in inspection.effects} == {
        "main/a:1": Standing.ACCEPTED,
        "main/b:1": Standing.UNKNOWN,
        "main/c:1": Standing.PENDING,
    }
    assert [attempt.settled_as for attempt in inspection.effects[2].attempts] == ["retryable"]
    steps = {step.node: step.state for step in inspection.steps}
    assert steps == {"a": "succeeded", "b": "attention", "c": "running"}


async def test_no_payload_is_shown_or_stored_in_clear(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    admitted = await ledger.admissions.admit(admission("key-2", input="canary-input"))
    sent = claim(effect(admitted.run_id))
    await dispatch(ledger, sent)
    settlement = answer(sent, accepted("canary-reply"), receipt={"id": "r", "x": "canary-receipt"})
    await ledger.effects.settle(settlement)
    await ledger.runs.request_cancel(admitted.run_id, "canary-reason")
    closing = Closing(RunState.FINISHED, 9, "done", "canary-output")
    await ledger.runs.close(admitted.run_id, 1, closing)
    shown = str(await ledger.reads.inspect(admitted.run_id, None))
    assert "canary" not in shown.replace("canary-output", "")
    assert "canary" not in str(await ledger.reads.events(admitted.run_id, None))
    tables = await sql(
        "select table_name from information_schema.tables where table_schema = 'coordinator'"
    )
    assert len(tables) >= 16
    for (table,) in tables:
        rows = await sql(f"select t::text from coordinator.{table} t")
        clear = str(rows) + str([bytes.fromhex(h) for h in _hexadecimal(str(rows))])
        assert "canary" not in clear, table


def _hexadecimal(text: str) -> list[str]:
    """What PostgreSQL prints for bytea columns."""
    return [part.split('"')[0].split(",")[0].split(")")[0] for part in text.split("\\\\\\\\x")[1:]]


async def test_every_row_of_a_run_carries_its_owner_and_scope(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    await ledger.effects.settle(answer(sent, accepted(), receipt={"id": "r"}))
    await ledger.runs.resolve_wait(effect(run_id, "wait"), "completed")
    tables = "runs inputs idempotency_keys executions effects attempts receipts waits steps events"
    for table in tables.split():
        rows = await sql(f"select distinct owner, scope from coordinator.{table}")
        assert rows == [("owner-a", "tenant-a")], table
    chains = "select distinct owner, scope from coordinator.journal where chain <> 'deployment'"
    assert await sql(chains) == [("owner-a", "tenant-a")]
