"""The rules of the machine for operators' acts and for an end that waits for an unknown effect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import EffectClass, OperationContract, Recovery
from interpreter.contract.records import Closed, RunState
from interpreter.definition.document import Operation
from interpreter.machine import advance, prepare
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.state import Phase
from interpreter.machine.view import details
from tests.fixtures.definitions import ADMITTED_MS, call, definition, finish, program
from tests.interpreter.machine.test_advance import ACCEPTED, Play

UNKNOWN = Reply(ReplyKind.UNKNOWN, code="transport-uncertain")
NOW = ADMITTED_MS + 2_000
SENDS = {"one": call("send", "two"), "two": call("send", "done"), "done": finish()}
ASK = OperationContract(
    id="messages.ask/v1",
    product="messages",
    effect=EffectClass.EVALUATION,
    recovery=Recovery.HOLD_AFTER_DISPATCH,
    request=True,
    response=True,
)


def sends() -> Play:
    """A run of two sends."""
    return Play(program({name: dict(node) for name, node in SENDS.items()}))


def asking() -> Play:
    """A run of one evaluation."""
    made = definition({"one": call("read", "done"), "done": finish()})
    operations = {**made.operations, "read": Operation(connection="messages", contract=ASK)}
    members = {name: getattr(made, name) for name in type(made).model_fields}
    return Play(prepare(type(made)(**{**members, "operations": operations})))


def retried(generation: int, act: str = "") -> e.RetriedSame:
    """A retry-same of the first send."""
    return e.RetriedSame("main", "one", 1, generation, NOW, act)


def cursor(play: Play) -> Any:
    """Where the run stands."""
    return play.state.branches["main"].cursor


def test_a_retry_that_was_carried_out_before_is_not_carried_out_again() -> None:
    play = sends()
    play.answer("one", UNKNOWN)
    assert len(play.feed(retried(2))) == 1
    play.answer("one", UNKNOWN, generation=2)
    assert play.feed(retried(2)) == ()
    assert cursor(play).phase is Phase.ATTENTION
    assert len(play.feed(retried(3))) == 1


def test_a_retry_of_an_effect_that_is_not_unknown_changes_nothing() -> None:
    play = sends()
    assert play.feed(retried(2)) == ()
    play.answer("one", ACCEPTED)
    assert play.feed(retried(2)) == ()


def test_what_the_run_has_passed_is_sent_again_for_a_ledger_that_lost_its_answer() -> None:
    play = sends()
    play.answer("one", UNKNOWN)
    play.feed(retried(2, "act-1"))
    play.answer("one", ACCEPTED, generation=2)
    at = cursor(play)
    assert play.feed(retried(2, "act-1")) == ()
    [command] = play.feed(retried(2, "act-2"))
    assert isinstance(command, c.PerformCall)
    assert (command.node, command.generation, command.passed) == ("one", 2, True)
    assert play.feed(retried(2, "act-2")) == ()
    assert play.answer("one", UNKNOWN, generation=2) == ()
    assert cursor(play) == at


def test_a_receipt_found_while_a_retry_is_under_way_is_left_to_the_retry() -> None:
    play = sends()
    play.answer("one", UNKNOWN)
    play.feed(retried(2))
    assert play.answer("one", ACCEPTED, generation=1) == ()
    [command] = play.answer("one", ACCEPTED, generation=2)
    assert isinstance(command, c.PerformCall)


@pytest.mark.parametrize("first", ["cancel", "unknown"])
def test_a_cancel_ends_over_an_unknown_evaluation(first: str) -> None:
    play = asking()
    events: list[e.Event] = [
        e.CancelRequested(NOW),
        e.Answered("main", "one", 1, 1, UNKNOWN, NOW),
    ]
    for event in events if first == "cancel" else reversed(events):
        play.feed(event)
    assert play.closing.state is RunState.CANCELLED


def test_a_receipt_after_a_cancel_ends_the_run_before_the_next_call() -> None:
    play = sends()
    play.answer("one", UNKNOWN)
    assert play.feed(e.CancelRequested(NOW)) == ()
    play.answer("one", ACCEPTED)
    assert play.closing.state is RunState.CANCELLED


def test_an_end_that_waits_for_an_unknown_effect_is_asked_for_again() -> None:
    play = sends()
    first = play.answer("one", Reply(ReplyKind.REFUSED, code="product-not-found"))
    assert isinstance(first[-1], c.Close)
    wanted = first[-1].closing
    assert play.feed(e.ClosedAs(Closed(RunState.ATTENTION))) == ()
    assert "attention" in details(play.state)
    play.feed(e.DoubtLifted(NOW))
    assert (play.closing.state, play.closing.failure_code) == (
        wanted.state,
        wanted.failure_code,
    )
    assert play.closing.sequence > wanted.sequence
    assert play.feed(e.DoubtLifted(NOW)) == ()


def test_no_end_is_asked_for_where_none_was_wanted() -> None:
    play = sends()
    play.answer("one", UNKNOWN)
    assert play.feed(e.DoubtLifted(NOW)) == ()


@pytest.mark.parametrize("gives_up", [True, False])
def test_a_route_of_a_cancel_ends_at_an_unknown_evaluation(gives_up: bool) -> None:
    play = asking()
    play.answer("one", UNKNOWN)
    branch = replace(play.state.branches["main"], after_cancel=True)
    state = replace(play.state, branches={"main": branch}, cancel_requested=True)
    told = e.Answered("main", "one", 1, 1, UNKNOWN, NOW)
    after, commands = advance(play.program, state, told, gives_up=lambda: gives_up)
    assert (after.closing is not None) is gives_up
    assert isinstance(commands[0], c.Close if gives_up else c.Attend)
