"""A cancel that finds an execution behind what is on record: its record comes first."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.contract.calls import (
    EndedWait,
    GivenSignal,
    OnRecord,
    cancel_ahead,
    cancel_result,
    ended_wait,
    ended_wait_result,
)
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import RunState
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.state import reached
from tests.fixtures.definitions import ADMITTED_MS, call, finish, program
from tests.interpreter.machine.test_advance import ACCEPTED, Play
from tests.interpreter.machine.test_signals import signalled, wait

PAID = GivenSignal("s1", {"of": "s1"})
CALLED = OnRecord()
FIRST, SECOND, SENT = "main/first:1", "main/second:1", "main/send:1"
NODES = {
    "first": wait("send", expired="late", cancelled="undo"),
    "send": call("send", "second", {"step": "first"}),
    "second": wait("done", expired="late", cancelled="regret"),
    "undo": call("send", "stopped"),
    "regret": call("send", "stopped"),
    "done": finish("done", {"step": "second"}),
    "late": finish("late"),
    "stopped": finish("stopped"),
}


def cancelled(play: Play, **ahead: OnRecord) -> tuple[c.Command, ...]:
    """Cancel with what is on record of ``first``, ``send`` and ``second``."""
    places = {"first": FIRST, "send": SENT, "second": SECOND}
    known = {places[name]: one for name, one in ahead.items()}
    return play.feed(e.CancelRequested(ADMITTED_MS, known))


def called(command: c.Command) -> tuple[str, bool]:
    """The node of a call and whether it follows ``onCancel``."""
    assert isinstance(command, c.PerformCall)
    return command.node, command.after_cancel


def test_a_signal_on_record_comes_before_the_cancel_and_what_is_on_record_after_it() -> None:
    play = Play(program(NODES))
    stop, send = cancelled(play, first=OnRecord("resumed", PAID), send=CALLED)
    assert stop == c.StopWaiting("main", "first", 1, "resumed")
    assert isinstance(send, c.PerformCall)
    assert (send.node, send.input, send.after_cancel) == ("send", {"of": "s1"}, False)
    # The wait behind it has no end on record, so there the cancel finds the run.
    assert called(play.answer("send", ACCEPTED)[0]) == ("regret", True)


def test_a_signal_that_was_taken_from_the_record_is_known_again() -> None:
    play = Play(program(NODES))
    cancelled(play, first=OnRecord("resumed", PAID), send=CALLED)
    assert play.feed(signalled("s1", {"of": "s1"})) == ()
    assert (play.state.seen_signals, play.state.signals) == (("s1",), ())


def test_a_later_wait_ends_as_recorded_too_and_nothing_new_is_sent_after_it() -> None:
    nodes = {**NODES, "second": wait("more", cancelled="regret"), "more": call("send", "done")}
    play = Play(program(nodes))
    cancelled(
        play,
        first=OnRecord("resumed", PAID),
        send=CALLED,
        second=OnRecord("resumed", GivenSignal("s2", {"of": "s2"})),
    )
    play.answer("send", ACCEPTED)
    assert (play.closing.state, play.closing.outcome) == (RunState.CANCELLED, "")


@pytest.mark.parametrize("end", [OnRecord("resumed"), OnRecord("signal-lost"), OnRecord("gone")])
def test_a_wait_whose_way_on_nobody_knows_ends_the_run_without_a_route(end: OnRecord) -> None:
    play = Play(program(NODES))
    cancelled(play, first=end, send=CALLED)
    assert play.closing.state is RunState.CANCELLED
    assert not [command for command in play.commands if isinstance(command, c.PerformCall)]


def test_a_time_that_is_over_on_record_leads_on_and_a_finish_behind_it_is_cancelled() -> None:
    play = Play(program(NODES))
    cancelled(play, first=OnRecord("expired"))
    assert (play.closing.state, play.closing.outcome) == (RunState.CANCELLED, "")


def test_a_call_that_is_not_on_record_is_not_made() -> None:
    play = Play(program(NODES))
    cancelled(play, first=OnRecord("resumed", PAID))
    assert play.closing.state is RunState.CANCELLED


def test_a_call_that_the_ledger_does_not_permit_after_all_ends_the_run() -> None:
    play = Play(program(NODES))
    cancelled(play, first=OnRecord("resumed", PAID), send=CALLED)
    play.answer("send", Reply(ReplyKind.NOT_PERMITTED, code="cancel"))
    assert play.closing.state is RunState.CANCELLED


def test_a_route_that_follows_a_cancel_looks_at_no_record_of_before() -> None:
    nodes: dict[str, Any] = {
        "first": wait("send", cancelled="second"),
        "send": call("send", "done"),
        "second": wait("done"),
        "done": finish("done", {"step": "second"}),
    }
    play = Play(program(nodes))
    commands = cancelled(play, second=OnRecord("resumed", PAID))
    assert isinstance(commands[-1], c.StartTimer)
    assert play.state.branches["main"].cursor is not None


def test_what_follows_has_the_numbers_that_stand_on_record() -> None:
    straight = Play(program(NODES))
    straight.feed(signalled("s1", {"of": "s1"}))
    straight.answer("send", ACCEPTED)
    straight.feed(signalled("s2", {"of": "s2"}))
    behind = Play(program(NODES))
    ahead = {
        "first": OnRecord("resumed", PAID),
        "send": CALLED,
        "second": OnRecord("resumed", GivenSignal("s2", {"of": "s2"})),
    }
    cancelled(behind, **ahead)
    behind.answer("send", ACCEPTED)
    assert behind.closing.steps == straight.closing.steps[: len(behind.closing.steps)]
    assert behind.state.sequence == straight.state.sequence - 1


def test_a_wait_that_took_a_kept_signal_has_no_numbers_of_an_opening() -> None:
    straight = Play(program(NODES))
    straight.feed(signalled("s1", {"of": "s1"}))
    straight.feed(signalled("s2", {"of": "s2"}))
    straight.answer("send", ACCEPTED)
    behind = Play(program(NODES))
    second = OnRecord("resumed", GivenSignal("s2", {"of": "s2"}), kept=True)
    cancelled(behind, first=OnRecord("resumed", PAID), send=CALLED, second=second)
    behind.answer("send", ACCEPTED)
    assert behind.closing.steps == straight.closing.steps[: len(behind.closing.steps)]


def test_the_route_of_a_wait_that_a_cancel_has_ended_is_followed_from_there_alone() -> None:
    at_first = Play(program(NODES))
    assert called(cancelled(at_first, first=OnRecord("cancelled"))[-1]) == ("undo", True)
    at_second = Play(program(NODES))
    at_second.feed(signalled("s1", {"of": "s1"}))
    at_second.answer("send", ACCEPTED)
    sent = len(at_second.commands)
    cancelled(at_second, first=OnRecord("cancelled"))
    assert at_second.closing.state is RunState.CANCELLED
    assert not [one for one in at_second.commands[sent:] if isinstance(one, c.PerformCall)]


def test_a_call_that_a_cancel_meets_leads_to_no_other_route_than_that_on_record() -> None:
    play = Play(program(NODES))
    play.feed(signalled("s1", {"of": "s1"}))
    cancelled(play, first=OnRecord("cancelled"))
    play.answer("send", ACCEPTED)
    assert play.closing.state is RunState.CANCELLED


def test_a_run_has_reached_what_it_does_not_wait_for() -> None:
    play = Play(program(NODES))
    opening = play.commands[0]
    assert isinstance(opening, c.StartTimer)
    assert reached(play.state) == opening.sequence - 1
    play.feed(signalled("s1", {}))
    assert reached(play.state) == play.state.sequence


@pytest.mark.parametrize(
    "ahead",
    [{}, {FIRST: OnRecord("resumed", PAID), SENT: CALLED}, {FIRST: OnRecord("resumed", kept=True)}],
)
def test_what_is_ahead_goes_through_a_history(ahead: dict[str, OnRecord]) -> None:
    written = cancel_result("request-cancel", ahead)
    assert cancel_ahead("request-cancel", written) == ahead


@pytest.mark.parametrize(
    "strange",
    [
        None,
        {"of": "close:1", "ahead": {}},
        {"of": "request-cancel", "ahead": [FIRST]},
        {"of": "request-cancel", "ahead": {FIRST: {"resolution": "resumed"}}},
    ],
)
def test_what_a_stranger_says_is_ahead_is_not_believed(strange: Any) -> None:
    assert cancel_ahead("request-cancel", strange) is None


def test_what_was_written_before_there_was_an_envelope_says_that_nothing_is_ahead() -> None:
    assert cancel_ahead("request-cancel", {}) == {}


@pytest.mark.parametrize(
    "ended", [EndedWait(PAID), EndedWait(None), EndedWait(None, "cancel"), EndedWait(None, "x")]
)
def test_how_a_wait_ended_goes_through_a_history(ended: EndedWait) -> None:
    assert ended_wait("main/first:1:1/end", ended_wait_result("main/first:1:1/end", ended)) == ended
