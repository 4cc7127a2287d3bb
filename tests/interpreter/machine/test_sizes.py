"""How much a run may keep: pure nodes, calls and waits, and what is on record stays so."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import RunState
from interpreter.machine import advance, begin
from interpreter.machine import events as e
from interpreter.machine.bounds import LARGEST_KEPT_BYTES, written_size
from interpreter.machine.commands import Close
from interpreter.machine.state import state_from_json, state_to_json
from tests.fixtures.definitions import ADMITTED_MS, call, finish, program, start_of
from tests.interpreter.machine.test_advance import Play

MUCH = LARGEST_KEPT_BYTES // 2
TWO_CALLS = {
    "one": call("submit", "two"),
    "two": call("submit", "done", failed="sorry"),
    "done": finish(),
    "sorry": finish("sorry"),
}


def much(size: int = MUCH) -> Reply:
    """An accepted reply that takes so many bytes."""
    return Reply(ReplyKind.ACCEPTED, "x" * (size - 2))


def test_a_run_may_keep_as_much_as_it_can_hand_on() -> None:
    play = Play(program(TWO_CALLS))
    play.answer("one", much())
    play.answer("two", much())
    assert play.closing.state is RunState.FINISHED


def test_an_accepted_call_whose_output_is_too_much_ends_the_run_and_stays_accepted() -> None:
    play = Play(program(TWO_CALLS))
    play.answer("one", much())
    play.answer("two", much(MUCH + 1))
    closing = play.closing
    found = (closing.state, closing.failure_code, closing.failure_place)
    assert found == (RunState.FAILED, "data-limit", "steps.two")
    assert [view.standing for view in play.state.effects.values()] == ["accepted", "accepted"]
    assert written_size(state_to_json(play.state)) < LARGEST_KEPT_BYTES


@pytest.mark.parametrize(
    ("before", "ends"),
    [(e.CancelRequested, RunState.CANCELLED), (e.DeadlineReached, RunState.EXPIRED)],
)
def test_a_cancel_or_deadline_that_came_before_says_how_such_a_run_ends(
    before: Any, ends: RunState
) -> None:
    play = Play(program(TWO_CALLS))
    play.answer("one", much())
    play.feed(before(ADMITTED_MS))
    play.answer("two", much(MUCH + 1))
    assert play.closing.state is ends


def test_what_a_later_visit_gives_takes_the_place_of_what_was_kept() -> None:
    again = {
        **call("submit", "again"),
        "policy": {"mostVisits": 3},
    }
    choose = {
        "kind": "choose",
        "choose": {"literal": "more"},
        "outlets": {"more": "one"},
        "policy": {"mostVisits": 3},
    }
    play = Play(program({"one": again, "again": choose}))
    for visit in (1, 2):
        reply = much(LARGEST_KEPT_BYTES - 100)
        play.feed(e.Answered("main", "one", visit, 1, reply, ADMITTED_MS))
    assert play.state.closing is None


@pytest.mark.parametrize(("kept", "early"), [(MUCH + 60_000, True), (MUCH + 60_000, False)])
def test_a_signal_that_is_too_much_ends_the_run_at_its_wait(kept: int, early: bool) -> None:
    wait = {"type": "signal", "signal": "paid", "schema": True, "timeoutSeconds": 60}
    nodes = {
        "one": call("submit", "wait"),
        "wait": {"kind": "wait", "wait": wait, "outlets": {"resumed": "done"}},
        "done": finish(),
    }
    play = Play(program(nodes))
    signal = e.Signalled("paid", "s1", "y" * MUCH, ADMITTED_MS)
    if early:
        play.feed(signal)
    play.answer("one", much(kept))
    if not early:
        play.feed(signal)
    assert (play.closing.failure_code, play.closing.failure_place) == ("data-limit", "steps.wait")


@pytest.mark.parametrize(
    ("size", "copies", "code"), [(100_000, 3, "mapping.value-size"), (60_000, 4, "data-limit")]
)
def test_a_value_that_is_too_large_leaves_through_failed(size: int, copies: int, code: str) -> None:
    value = {"list": [{"input": ""}] * copies}
    nodes: dict[str, Any] = {
        f"map{n}": {
            "kind": "map",
            "value": value,
            "outlets": {"next": f"map{n + 1}", "failed": "sorry"},
        }
        for n in range(30)
    }
    nodes["map30"] = finish()
    first = next(iter(nodes)) if code.startswith("mapping") else "map26"
    nodes["sorry"] = finish("sorry", {"step": first, "path": "/failureCode"})
    play = Play(program(nodes), "x" * size)
    assert (play.closing.outcome, play.closing.output) == ("sorry", code)


def test_an_outcome_s_output_has_a_limit() -> None:
    nodes = {"done": finish("done", {"list": [{"input": ""}] * 3})}
    play = Play(program(nodes), "x" * 100_000)
    found = (play.closing.state, play.closing.failure_code, play.closing.failure_place)
    assert found == (RunState.FAILED, "mapping.output-size", "steps.done.output")


def test_a_state_of_before_outputs_were_counted_is_counted_when_it_is_read() -> None:
    play = Play(program(TWO_CALLS))
    play.answer("one", much())
    older = state_to_json(play.state)
    del older["kept_bytes"]
    assert state_from_json(older) == play.state
    assert play.state.kept_bytes == MUCH


def test_an_execution_of_before_there_were_limits_goes_on_without_them() -> None:
    made = program({"done": finish("done", {"list": [{"input": ""}] * 3})})
    before = begin(start_of(made.definition, "x" * 100_000))
    _, [close] = advance(made, before, e.Started(ADMITTED_MS), lambda: False)
    assert isinstance(close, Close)
    assert close.closing.state is RunState.FINISHED
