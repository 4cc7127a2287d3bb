"""Steps, events and the state that a status shows: in order, once, without gaps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from adapter.ledger import Ledger
from interpreter.contract.records import Closing, RunState, StepRecord
from tests.adapter.ledger.words import (
    accepted,
    answer,
    claim,
    dispatch,
    effect,
    read,
    refused,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]
PICK = StepRecord(1, "main", "pick", 1, "choose", "succeeded", "yes")


async def test_a_write_repeated_with_its_steps_changes_nothing(ledger: Ledger, run_id: str) -> None:
    for _ in range(2):
        await ledger.runs.record(run_id, RunState.RUNNING, [PICK])
    inspection = await ledger.reads.inspect(run_id, None)
    assert [(step.node, step.outlet) for step in inspection.steps] == [("pick", "yes")]
    types = [event.type for event in await ledger.reads.events(run_id, None)]
    assert types == ["run.admitted", "run.started", "step.succeeded"]


async def test_another_visit_at_a_taken_sequence_supersedes_what_stood_there(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await ledger.runs.record(run_id, RunState.RUNNING, [PICK])
    other = StepRecord(1, "main", "undo", 1, "map", "succeeded", "next")
    await ledger.runs.record(run_id, RunState.RUNNING, [other])
    assert [step.node for step in (await ledger.reads.inspect(run_id, None)).steps] == ["undo"]
    rows = await sql("select node, superseded from coordinator.steps order by id")
    assert rows == [("pick", True), ("undo", False)]


async def test_a_late_copy_does_not_open_a_finished_step_again(ledger: Ledger, run_id: str) -> None:
    running = StepRecord(1, "main", "pick", 1, "choose", "running")
    await ledger.runs.record(run_id, RunState.RUNNING, [PICK])
    await ledger.runs.record(run_id, RunState.RUNNING, [running])
    assert (await ledger.reads.inspect(run_id, None)).steps[0].state == "succeeded"


async def test_steps_ride_with_the_write_of_a_call(ledger: Ledger, run_id: str) -> None:
    sent = claim(effect(run_id), steps=(PICK,), sequence=2)
    await dispatch(ledger, sent)
    steps = (await ledger.reads.inspect(run_id, None)).steps
    assert [(s.sequence, s.node, s.state) for s in steps] == [
        (1, "pick", "succeeded"),
        (2, "send", "running"),
    ]
    await ledger.effects.settle(answer(sent, refused("closed")))
    latest = (await ledger.reads.inspect(run_id, None)).steps[-1]
    assert (latest.node, latest.state, latest.code) == ("send", "failed", "closed")


async def test_events_of_a_run_have_no_gaps_under_concurrent_writes(
    ledger: Ledger, run_id: str
) -> None:
    reads = [read(effect(run_id, f"read-{n}"), n, 2 * n + 1) for n in range(8)]
    await asyncio.gather(*(ledger.effects.read_outcome(one) for one in reads))
    sequences = [event.sequence for event in await ledger.reads.events(run_id, None)]
    assert sequences == list(range(1, 2 + 2 * 8 + 1))
    assert (await ledger.reads.run_status(run_id, None)).last_event == len(sequences)


async def test_events_can_be_followed_from_a_sequence(ledger: Ledger, run_id: str) -> None:
    await ledger.effects.read_outcome(read(effect(run_id)))
    later = await ledger.reads.events(run_id, None, after=2)
    assert [event.type for event in later] == ["step.succeeded", "effect.accepted"]


async def test_an_unknown_effect_shows_before_what_other_branches_do(
    ledger: Ledger, run_id: str
) -> None:
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    await ledger.effects.settle(answer(sent, unknown()))
    await ledger.effects.read_outcome(read(effect(run_id, "look"), sequence=5))
    await ledger.runs.record(run_id, RunState.WAITING, [])
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.ATTENTION


async def test_a_recorded_cancel_shows_until_the_run_ends(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.request_cancel(run_id, "why")
    await ledger.runs.request_cancel(run_id, "again")
    await dispatch(ledger, claim(effect(run_id), after_cancel=True))
    status = await ledger.reads.run_status(run_id, None)
    assert status.state is RunState.CANCEL_REQUESTED
    types = [event.type for event in await ledger.reads.events(run_id, None)]
    assert types.count("run.cancel-requested") == 1


async def test_what_is_written_about_an_ended_run_is_ignored(ledger: Ledger, run_id: str) -> None:
    await ledger.runs.close(run_id, 1, Closing(RunState.FINISHED, 9, "done"))
    before = await ledger.reads.inspect(run_id, None)
    await ledger.runs.record(run_id, RunState.WAITING, [PICK])
    await ledger.runs.request_cancel(run_id, "late")
    assert await ledger.reads.inspect(run_id, None) == before


async def test_a_local_read_is_one_commit_and_answers_again_from_the_record(
    ledger: Ledger, run_id: str
) -> None:
    assert await ledger.effects.read_outcome(read(effect(run_id), "first")) == accepted("first")
    assert await ledger.effects.read_outcome(read(effect(run_id), "second")) == accepted("first")


async def test_a_local_read_settles_what_a_remote_attempt_left_open(
    ledger: Ledger, run_id: str
) -> None:
    await dispatch(ledger, claim(effect(run_id)))
    assert await ledger.effects.read_outcome(read(effect(run_id), 1)) == accepted(1)


async def test_a_usual_run_takes_as_many_commits_as_it_may(
    ledger: Ledger, sql: Sql, run_id: str
) -> None:
    sent = claim(effect(run_id), sequence=3)
    await ledger.effects.read_outcome(read(effect(run_id, "look")))
    await dispatch(ledger, sent)
    await ledger.effects.settle(answer(sent, accepted()))
    await ledger.runs.close(run_id, 1, Closing(RunState.FINISHED, 9, "done"))
    commits = await sql("select count(distinct transaction::text) from coordinator.events")
    assert commits == [(3 + 1 + 2 * 1,)]
