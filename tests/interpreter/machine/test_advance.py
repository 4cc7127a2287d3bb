"""The rules of the machine, one each."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.contract.calls import closing_from_json, closing_to_json
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closed, RunState
from interpreter.machine import MachineState, Program, advance, begin
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.standing import reopened
from interpreter.machine.state import Phase, state_from_json, state_to_json
from tests.fixtures.definitions import (
    ADMITTED_MS,
    DEADLINE_MS,
    call,
    finish,
    program,
    review,
    start_of,
)

ACCEPTED = Reply(ReplyKind.ACCEPTED, {"id": "r1"})


class Play:
    """A run under test: feed an event, look at the commands."""

    def __init__(self, made: Program, value: Any = None) -> None:
        self.program = made
        self.state: MachineState = begin(start_of(made.definition, value))
        self.commands = self.feed(e.Started(ADMITTED_MS))

    def feed(self, event: e.Event) -> tuple[c.Command, ...]:
        """Feed one event; the state goes through JSON each time, as continue-as-new does."""
        self.state, commands = advance(self.program, self.state, event)
        self.state = state_from_json(state_to_json(self.state))
        self.commands = commands
        return commands

    def answer(self, node: str, reply: Reply, generation: int = 1) -> tuple[c.Command, ...]:
        """Answer the call at ``node``."""
        return self.feed(e.Answered("main", node, 1, generation, reply, ADMITTED_MS + 1000))

    @property
    def closing(self) -> Any:
        """What the last command asks to be closed with."""
        command = self.commands[-1]
        assert isinstance(command, c.Close)
        return command.closing


REVIEWED = {
    "submit": call("submit", "wait", {"literal": {"a": 1}}, **{"refused:closed": "refused"}),
    "wait": review("done", expired="late", cancelled="undo"),
    "undo": call("submit", "stopped"),
    "done": finish("done", {"step": "wait", "path": "/decision"}),
    "late": finish("late"),
    "stopped": finish("stopped"),
    "refused": finish("refused", {"step": "submit", "path": "/refusalCode"}),
}


def test_a_call_is_asked_for_with_its_mapped_input() -> None:
    nodes = {"read": call("read", "done", {"input": "/a"}), "done": finish()}
    play = Play(program(nodes), {"a": {"b": 1}})
    assert [type(x) for x in play.commands] == [c.PerformCall]
    command = play.commands[0]
    assert isinstance(command, c.PerformCall)
    assert (command.operation, command.input, command.sequence) == ("registry.read/v1", {"b": 1}, 1)


def test_an_accepted_call_leads_on_and_its_output_can_be_read() -> None:
    nodes = {"read": call("read", "done"), "done": finish("done", {"step": "read", "path": "/id"})}
    play = Play(program(nodes))
    play.answer("read", ACCEPTED)
    assert (play.closing.state, play.closing.output) == (RunState.FINISHED, "r1")


def test_a_declared_refusal_takes_its_own_outlet_with_exactly_its_code() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", Reply(ReplyKind.DECLARED_REFUSAL, code="closed"))
    assert (play.closing.outcome, play.closing.output) == ("refused", "closed")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(ReplyKind.REFUSED, code="product-forbidden"), "product-refused"),
        (Reply(ReplyKind.DECLARED_REFUSAL, code="other"), "product-refused"),
        (Reply(ReplyKind.REFUSED, code="invalid-command"), "invalid-command"),
        (Reply(ReplyKind.RETRYABLE, code="transport-unavailable"), "transport-unavailable"),
    ],
)
def test_a_refusal_without_an_outlet_fails_the_run(reply: Reply, code: str) -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", reply)
    assert (play.closing.state, play.closing.failure_code) == (RunState.FAILED, code)


def test_an_unknown_effect_asks_for_a_person_and_nothing_else() -> None:
    play = Play(program(REVIEWED))
    assert play.answer("submit", Reply(ReplyKind.UNKNOWN, code="transport-uncertain")) == (
        c.Attend("main", "submit", 1, "transport-uncertain"),
    )


def test_a_late_acceptance_lets_an_unknown_effect_go_on() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", Reply(ReplyKind.UNKNOWN))
    play.answer("submit", ACCEPTED)
    assert isinstance(play.commands[0], c.Observe)


def test_retry_same_performs_the_same_visit_as_a_new_generation() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", Reply(ReplyKind.UNKNOWN))
    command = play.feed(e.RetriedSame("main", "submit", 1, 2, ADMITTED_MS))[0]
    assert isinstance(command, c.PerformCall)
    assert (command.visit, command.generation, command.input) == (1, 2, {"a": 1})


def test_an_answer_of_an_older_generation_is_late() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", Reply(ReplyKind.UNKNOWN))
    play.feed(e.RetriedSame("main", "submit", 1, 2, ADMITTED_MS))
    assert play.answer("submit", ACCEPTED, generation=1) == ()


def test_a_completion_wait_reads_what_the_accepted_call_named() -> None:
    play = Play(program(REVIEWED))
    command = play.answer("submit", ACCEPTED)[0]
    assert isinstance(command, c.Observe)
    assert (command.operation, command.input) == ("review.read/v1", {"id": "r1"})
    assert command.until_ms == ADMITTED_MS + 1000 + 600_000


def test_a_completion_leads_on_with_its_value() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", ACCEPTED)
    play.feed(e.Completed("main", "wait", 1, {"decision": "yes"}, ADMITTED_MS))
    assert (play.closing.outcome, play.closing.output) == ("done", "yes")


def test_a_timeout_takes_the_expired_outlet() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", ACCEPTED)
    play.feed(e.Elapsed("main", "wait", 1, ADMITTED_MS + 601_000))
    assert play.closing.outcome == "late"


def test_a_timeout_without_an_outlet_fails_the_run() -> None:
    nodes = {**REVIEWED, "wait": review("done")}
    play = Play(program(nodes))
    play.answer("submit", ACCEPTED)
    play.feed(e.Elapsed("main", "wait", 1, ADMITTED_MS + 601_000))
    assert play.closing.failure_code == "wait-timeout"


def test_whatever_comes_after_the_first_end_of_a_wait_changes_nothing() -> None:
    nodes = {**REVIEWED, "late": call("send", "stopped")}
    play = Play(program(nodes))
    play.answer("submit", ACCEPTED)
    play.feed(e.Elapsed("main", "wait", 1, ADMITTED_MS + 601_000))
    assert play.feed(e.Completed("main", "wait", 1, {}, ADMITTED_MS)) == ()


def test_a_cancel_while_waiting_follows_the_cancel_route() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", ACCEPTED)
    stop, undo = play.feed(e.CancelRequested(ADMITTED_MS + 2000))
    assert isinstance(stop, c.StopWaiting)
    assert isinstance(undo, c.PerformCall)
    assert undo.after_cancel
    play.answer("undo", ACCEPTED)
    assert (play.closing.state, play.closing.outcome) == (RunState.CANCELLED, "stopped")


def test_a_cancel_during_a_call_waits_for_its_reply_and_then_takes_the_route() -> None:
    play = Play(program(REVIEWED))
    assert play.feed(e.CancelRequested(ADMITTED_MS)) == ()
    command = play.answer("submit", ACCEPTED)[0]
    assert isinstance(command, c.PerformCall)
    assert (command.node, command.after_cancel) == ("undo", True)


def test_a_cancel_without_a_route_stops_before_the_next_call() -> None:
    nodes = {"read": call("read", "send"), "send": call("send", "done"), "done": finish()}
    play = Play(program(nodes))
    play.feed(e.CancelRequested(ADMITTED_MS))
    play.answer("read", ACCEPTED)
    assert play.closing.state is RunState.CANCELLED


def test_a_call_that_is_refused_after_a_cancel_ends_the_run_as_cancelled() -> None:
    play = Play(program({"send": call("send", "done"), "done": finish()}))
    play.feed(e.CancelRequested(ADMITTED_MS))
    play.answer("send", Reply(ReplyKind.REFUSED, code="product-refused"))
    ended = play.closing
    assert (ended.state, ended.failure_code) == (RunState.CANCELLED, "")
    assert not ended.despite_cancel


@pytest.mark.parametrize(("operation", "changed"), [("send", True), ("read", False)])
def test_a_cancelled_end_says_whether_its_execution_has_changed_something(
    operation: str, changed: bool
) -> None:
    pause = {"type": "duration", "seconds": 60}
    nodes = {
        "call": call(operation, "pause"),
        "pause": {"kind": "wait", "wait": pause, "outlets": {"elapsed": "done"}},
        "done": finish(),
    }
    play = Play(program(nodes))
    play.answer("call", ACCEPTED)
    play.feed(e.CancelRequested(ADMITTED_MS))
    assert play.closing.changed is changed
    assert closing_from_json(closing_to_json(play.closing)) == play.closing


def test_a_cancel_s_own_route_may_fail() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", ACCEPTED)
    play.feed(e.CancelRequested(ADMITTED_MS))
    play.answer("undo", Reply(ReplyKind.REFUSED, code="product-refused"))
    ended = play.closing
    assert (ended.state, ended.failure_code) == (RunState.FAILED, "product-refused")
    assert closing_from_json(closing_to_json(ended)).despite_cancel


def test_a_cancel_leaves_an_unknown_effect_in_attention() -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", Reply(ReplyKind.UNKNOWN))
    assert play.feed(e.CancelRequested(ADMITTED_MS)) == ()


def test_the_deadline_ends_a_wait_as_expired() -> None:
    nodes = {
        "wait": {
            "kind": "wait",
            "wait": {"type": "instant", "at": {"literal": "2030-01-01T00:00:00Z"}},
            "outlets": {"elapsed": "done"},
        },
        "done": finish(),
    }
    play = Play(program(nodes))
    timer = play.commands[0]
    assert isinstance(timer, c.StartTimer)
    assert timer.until_ms == DEADLINE_MS
    play.feed(e.Elapsed("main", "wait", 1, DEADLINE_MS))
    assert play.closing.state is RunState.EXPIRED


@pytest.mark.parametrize(
    ("code", "state"), [("deadline", RunState.EXPIRED), ("cancel", RunState.CANCELLED)]
)
def test_the_ledger_s_refusal_to_send_means_the_same_as_the_event(
    code: str, state: RunState
) -> None:
    play = Play(program(REVIEWED))
    play.answer("submit", Reply(ReplyKind.NOT_PERMITTED, code=code))
    assert play.closing.state is state


def test_a_run_that_the_ledger_has_closed_adopts_its_record() -> None:
    play = Play(program(REVIEWED))
    record = {"state": "cancelled", "outcome": "", "output": None, "failureCode": ""}
    play.answer("submit", Reply(ReplyKind.NOT_PERMITTED, record, "run-closed"))
    assert play.state.closed == Closed(RunState.CANCELLED)


def _labelled_failed(**members: Any) -> Program:
    which = {
        "kind": "choose",
        "choose": {"input": "/w"},
        "outlets": {"failed": "one", "other": "two"},
        **members,
    }
    return program({"which": which, "one": finish("a"), "two": finish("b")})


def test_a_case_called_failed_is_taken_by_its_label_only() -> None:
    made = _labelled_failed(failedIsCase=True)
    assert Play(made, {"w": "failed"}).closing.outcome == "a"
    missing = Play(made, {}).closing
    assert (missing.state, missing.failure_place) == (RunState.FAILED, "steps.which.choose")
    unknown = Play(made, {"w": "else"}).closing
    assert (unknown.state, unknown.failure_code) == (RunState.FAILED, "choice-invalid")


def test_without_that_member_failed_is_where_a_failing_choice_goes() -> None:
    assert Play(_labelled_failed(), {}).closing.outcome == "a"


def test_a_choice_without_that_member_keeps_its_revision() -> None:
    node = _labelled_failed().definition.to_json()["nodes"]["which"]
    assert "failedIsCase" not in node


def test_choose_takes_the_case_that_its_mapping_names() -> None:
    nodes = {
        "which": {
            "kind": "choose",
            "choose": {"input": "/w"},
            "outlets": {"a": "one", "b": "two"},
        },
        "one": finish("one"),
        "two": finish("two"),
    }
    assert Play(program(nodes), {"w": "b"}).closing.outcome == "two"


def test_a_label_without_a_case_fails_the_run_at_its_place() -> None:
    nodes = {
        "which": {"kind": "choose", "choose": {"input": "/w"}, "outlets": {"a": "one"}},
        "one": finish("one"),
    }
    closing = Play(program(nodes), {"w": "x"}).closing
    assert (closing.failure_code, closing.failure_place) == ("choice-invalid", "steps.which.choose")


def test_ordered_conditions_take_the_first_that_holds() -> None:
    nodes = {
        "which": {
            "kind": "choose",
            "cases": [
                {"when": {"input": "/no"}, "outlet": "a"},
                {"when": {"input": "/yes"}, "outlet": "b"},
            ],
            "otherwise": "a",
            "outlets": {"a": "one", "b": "two"},
        },
        "one": finish("one"),
        "two": finish("two"),
    }
    assert Play(program(nodes), {"no": False, "yes": True}).closing.outcome == "two"


def test_first_takes_the_alternative_whose_step_ran() -> None:
    output = {"first": [{"step": "send", "path": ""}, {"step": "read", "path": "/id"}]}
    nodes = {
        "read": call("read", "done"),
        "send": call("send", "done"),
        "done": finish("done", output),
    }
    play = Play(program(nodes))
    play.answer("read", ACCEPTED)
    assert play.closing.output == "r1"


def test_an_output_that_misses_its_schema_fails_the_run() -> None:
    nodes = {"done": {**finish("done", {"literal": 1}), "schema": {"type": "string"}}}
    assert Play(program(nodes)).closing.failure_code == "outcome-invalid"


def test_a_kept_signal_completes_a_wait_that_opens_later() -> None:
    signal = {"type": "signal", "signal": "paid", "schema": {"type": "object"}, "timeoutSeconds": 9}
    nodes = {
        "read": call("read", "wait"),
        "wait": {"kind": "wait", "wait": signal, "outlets": {"resumed": "done"}},
        "done": finish("done", {"step": "wait"}),
    }
    play = Play(program(nodes))
    play.feed(e.Signalled("paid", "s1", {"n": 1}, ADMITTED_MS))
    play.feed(e.Signalled("paid", "s1", {"n": 2}, ADMITTED_MS))
    play.answer("read", ACCEPTED)
    assert play.closing.output == {"n": 1}
    assert play.state.signals == ()


def test_a_signal_that_misses_its_schema_leaves_the_wait_open() -> None:
    signal = {"type": "signal", "signal": "paid", "schema": {"type": "object"}, "timeoutSeconds": 9}
    nodes = {
        "wait": {"kind": "wait", "wait": signal, "outlets": {"resumed": "done"}},
        "done": finish(),
    }
    play = Play(program(nodes))
    assert play.feed(e.Signalled("paid", "s1", "no", ADMITTED_MS)) == ()
    stop, close = play.feed(e.Signalled("paid", "s2", {}, ADMITTED_MS))
    assert isinstance(stop, c.StopWaiting)
    assert isinstance(close, c.Close)


def test_pure_steps_ride_with_the_next_write() -> None:
    nodes = {
        "shape": {"kind": "map", "value": {"literal": {"x": 1}}, "outlets": {"next": "send"}},
        "send": call("send", "done", {"step": "shape"}),
        "done": finish(),
    }
    play = Play(program(nodes))
    command = play.commands[0]
    assert isinstance(command, c.PerformCall)
    assert [(s.node, s.state, s.sequence) for s in command.steps] == [("shape", "succeeded", 1)]
    play.answer("send", ACCEPTED)
    assert [s.node for s in play.closing.steps] == ["done"]


def test_a_continued_run_opens_its_wait_again() -> None:
    play = Play(program(REVIEWED))
    before = play.answer("submit", ACCEPTED)
    assert reopened(play.program, play.state) == before
    assert play.state.branches["main"].cursor is not None
    assert play.state.branches["main"].cursor.phase is Phase.WAITING


def test_a_node_is_not_entered_more_often_than_its_policy_allows() -> None:
    nodes = {
        "read": call("read", "again"),
        "again": {
            "kind": "choose",
            "choose": {"literal": "more"},
            "outlets": {"more": "read", "end": "done"},
        },
        "done": finish(),
    }
    play = Play(program(nodes))
    play.answer("read", ACCEPTED)
    assert play.closing.failure_code == "visit-limit"
