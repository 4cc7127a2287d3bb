"""The end of a run: written once, computed from the ledger's effects, never over a doubt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from activities.errors import ActivityError
from adapter.ledger import Ledger
from interpreter.contract.records import Closed, Closing, RunState, StepRecord
from tests.adapter.ledger.words import (
    EVALUATION,
    MUTATION,
    READ,
    accepted,
    answer,
    claim,
    dispatch,
    effect,
    lapse,
    refused,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]
DONE = Closing(RunState.FINISHED, 9, "done", {"a": 1})
CANCELLED = Closing(RunState.CANCELLED, 9)
EXPIRED = Closing(RunState.EXPIRED, 9)


async def settled(ledger: Ledger, run_id: str, what: Any, reply: Any) -> Any:
    """One effect with its answer; gives its claim."""
    sent = claim(effect(run_id), what)
    await dispatch(ledger, sent)
    await ledger.effects.settle(answer(sent, reply))
    return sent


async def test_the_first_end_stands_whatever_is_asked_later(ledger: Ledger, run_id: str) -> None:
    first = await ledger.runs.close(run_id, 1, DONE)
    assert first == Closed(RunState.FINISHED, "done", {"a": 1})
    assert await ledger.runs.close(run_id, 1, CANCELLED) == first
    assert [e.type for e in await ledger.reads.events(run_id, None)].count("run.finished") == 1


async def test_a_run_whose_cancel_has_ended_a_wait_does_not_finish(
    ledger: Ledger, run_id: str
) -> None:
    await ledger.runs.request_cancel(run_id, "no more")
    left = StepRecord(1, "main", "pause", 1, "wait", "cancelled", "cancelled")
    await ledger.runs.record(run_id, RunState.RUNNING, [left])
    assert await ledger.runs.close(run_id, 1, DONE) == Closed(RunState.CANCELLED)


async def test_of_two_ends_at_once_one_is_the_answer_of_both(ledger: Ledger, run_id: str) -> None:
    ends = await asyncio.gather(
        ledger.runs.close(run_id, 1, DONE), ledger.runs.close(run_id, 1, EXPIRED)
    )
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("what", "reply", "state"),
    [
        (MUTATION, accepted(), RunState.CANCELLED_AFTER_EFFECT),
        (EVALUATION, accepted(), RunState.CANCELLED_AFTER_EFFECT),
        (EVALUATION, unknown(), RunState.CANCELLED_AFTER_EFFECT),
        (READ, accepted(), RunState.CANCELLED),
        (MUTATION, refused(), RunState.CANCELLED),
    ],
)
async def test_a_cancel_says_whether_anything_was_changed(
    ledger: Ledger, run_id: str, what: Any, reply: Any, state: RunState
) -> None:
    await settled(ledger, run_id, what, reply)
    assert (await ledger.runs.close(run_id, 1, CANCELLED)).state is state


@pytest.mark.parametrize("closing", [DONE, EXPIRED, Closing(RunState.FAILED, 9, "", None, "x")])
async def test_a_cancel_on_record_came_before_an_end_that_knows_nothing_of_it(
    ledger: Ledger, run_id: str, closing: Closing
) -> None:
    await settled(ledger, run_id, MUTATION, accepted())
    await ledger.runs.request_cancel(run_id, "not wanted")
    finish = StepRecord(8, "main", "done", 1, "finish", "succeeded")
    ended = await ledger.runs.close(run_id, 1, replace(closing, steps=(finish,)))
    assert ended == Closed(RunState.CANCELLED_AFTER_EFFECT)
    assert "done" not in [step.node for step in (await ledger.reads.inspect(run_id, None)).steps]


async def test_what_an_execution_has_changed_is_said_of_its_end_though_the_ledger_has_lost_it(
    ledger: Ledger, run_id: str
) -> None:
    ended = await ledger.runs.close(run_id, 1, replace(CANCELLED, changed=True))
    assert ended.state is RunState.CANCELLED_AFTER_EFFECT


async def test_it_is_said_too_of_an_end_that_had_to_wait(ledger: Ledger, run_id: str) -> None:
    sent = await settled(ledger, run_id, MUTATION, unknown())
    waits = await ledger.runs.close(run_id, 1, replace(CANCELLED, changed=True))
    assert waits.state is RunState.ATTENTION
    await ledger.effects.settle(answer(sent, refused()))
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.CANCELLED_AFTER_EFFECT


@pytest.mark.parametrize("closing", [DONE, EXPIRED])
async def test_an_end_of_the_cancel_s_own_route_stands_despite_it(
    ledger: Ledger, run_id: str, closing: Closing
) -> None:
    await ledger.runs.request_cancel(run_id, "not wanted")
    ended = await ledger.runs.close(run_id, 1, replace(closing, despite_cancel=True))
    assert ended.state is closing.state


@pytest.mark.parametrize("closing", [CANCELLED, EXPIRED, DONE])
async def test_no_end_is_written_over_an_unknown_effect(
    ledger: Ledger, run_id: str, closing: Closing
) -> None:
    await settled(ledger, run_id, MUTATION, unknown())
    assert (await ledger.runs.close(run_id, 1, closing)).state is RunState.ATTENTION
    status = await ledger.reads.run_status(run_id, None)
    assert (status.state, status.wanted_state) == (RunState.ATTENTION, closing.state)
    assert (status.closed_at, status.output) == (None, None)


async def test_a_wanted_end_is_told_once(ledger: Ledger, run_id: str) -> None:
    await settled(ledger, run_id, MUTATION, unknown())
    first = await ledger.runs.close(run_id, 1, EXPIRED)
    before = await ledger.reads.events(run_id, None)
    assert await ledger.runs.close(run_id, 1, EXPIRED) == first
    assert await ledger.reads.events(run_id, None) == before


@pytest.mark.parametrize(
    ("reply", "closing", "state"),
    [
        (accepted(), CANCELLED, RunState.CANCELLED_AFTER_EFFECT),
        (refused(), CANCELLED, RunState.CANCELLED),
        (accepted(), EXPIRED, RunState.EXPIRED),
    ],
)
async def test_a_late_answer_carries_the_wanted_end_out(
    ledger: Ledger, run_id: str, reply: Any, closing: Closing, state: RunState
) -> None:
    sent = await settled(ledger, run_id, MUTATION, unknown())
    await ledger.runs.close(run_id, 1, closing)
    await ledger.effects.settle(answer(sent, reply))
    status = await ledger.reads.run_status(run_id, None)
    assert (status.state, status.uncertain) == (state, False)
    assert (await ledger.runs.close(run_id, 1, closing)).state is state


async def test_a_send_without_answer_is_a_doubt_when_the_run_ends(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    sent = claim(effect(run_id))
    await dispatch(ledger, sent)
    assert (await ledger.runs.close(run_id, 1, EXPIRED)).state is RunState.ATTENTION
    assert await ledger.effects.settle(answer(sent, refused())) == refused()
    assert (await ledger.reads.run_status(run_id, None)).state is RunState.EXPIRED


async def test_an_evaluation_without_answer_lets_a_cancel_end(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await dispatch(ledger, claim(effect(run_id), EVALUATION))
    await lapse(sql)
    end = await ledger.runs.close(run_id, 1, CANCELLED)
    assert end.state is RunState.CANCELLED_AFTER_EFFECT


async def test_steps_recorded_after_the_end_belong_to_an_abandoned_branch(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    kept = StepRecord(8, "main", "pick", 1, "choose", "succeeded", "yes")
    abandoned = StepRecord(12, "main", "other", 1, "map", "succeeded", "next")
    await ledger.runs.record(run_id, RunState.RUNNING, [abandoned])
    await ledger.runs.close(run_id, 1, Closing(RunState.FINISHED, 9, "done", steps=(kept,)))
    assert [s.node for s in (await ledger.reads.inspect(run_id, None)).steps] == ["pick"]
    assert await sql("select node from coordinator.steps where superseded") == [("other",)]


async def test_an_output_is_sealed_and_shown_once_the_run_has_ended(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    await ledger.runs.close(run_id, 1, Closing(RunState.FINISHED, 9, "done", "canary-output"))
    assert (await ledger.reads.run_status(run_id, None)).output == "canary-output"
    assert b"canary" not in (await sql("select sealed_output from coordinator.executions"))[0][0]


async def test_an_execution_that_was_never_opened_can_not_end(ledger: Ledger, run_id: str) -> None:
    with pytest.raises(ActivityError) as refusal:
        await ledger.runs.close(run_id, 2, DONE)
    assert refusal.value.code == "execution.unknown"
