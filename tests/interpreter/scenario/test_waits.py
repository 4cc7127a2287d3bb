"""Waits on the virtual clock: timers, completions, signals, approvals and cancels."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.scenario import CaseFault, Trace
from tests.fixtures.definitions import call, finish
from tests.interpreter.scenario.cases import (
    OK,
    REVIEWED,
    Cancel,
    Completion,
    Decision,
    Signal,
    after,
    at,
    play,
)

MONTH = 30 * 86_400
SIGNALLED: dict[str, Any] = {
    "wait": {
        "kind": "wait",
        "wait": {
            "type": "signal",
            "signal": "paid",
            "schema": {"type": "object"},
            "timeoutSeconds": 60,
        },
        "outlets": {"resumed": "done", "expired": "late"},
    },
    "done": finish("done", {"step": "wait"}),
    "late": finish("late"),
}
APPROVED: dict[str, Any] = {
    "ask": {
        "kind": "wait",
        "wait": {"type": "approval", "plan": {"input": "/plan"}, "timeoutSeconds": 600},
        "outlets": {"approved": "send", "rejected": "no", "cancelled": "no"},
    },
    "send": call("send", "done"),
    "done": finish(),
    "no": finish("no"),
}


def reviewed(**members: Any) -> Trace:
    """A review whose request is accepted."""
    return play(REVIEWED, replies={"submit": (OK,), "undo": (OK,)}, **members)


def test_a_month_of_waiting_passes_at_once() -> None:
    nodes: dict[str, Any] = {
        "wait": {
            "kind": "wait",
            "wait": {"type": "duration", "seconds": MONTH},
            "outlets": {"elapsed": "done"},
        },
        "done": finish(),
    }
    trace = play(nodes, deadline=2 * MONTH)
    assert (trace.state, trace.elapsed_ms) == ("finished", MONTH * 1000)


def test_a_completion_arrives_after_the_wait_has_opened() -> None:
    trace = reviewed(completions=(Completion("wait", after(90), {"decision": "yes"}),))
    assert (trace.output, trace.elapsed_ms) == ({"decision": "yes"}, 90_000)


def test_a_completion_that_was_there_before_is_found_when_the_wait_opens() -> None:
    assert reviewed(completions=(Completion("wait", at(-5), "yes"),)).elapsed_ms == 0


def test_a_completion_that_comes_with_the_timeout_is_too_late() -> None:
    trace = reviewed(completions=(Completion("wait", after(600), "yes"),))
    assert (trace.outcome, trace.elapsed_ms) == ("late", 600_000)
    assert [one.pointer for one in trace.notes] == ["/replies/undo/0", "/completions/0"]


def test_a_completion_that_can_never_come_fails_the_run() -> None:
    trace = reviewed(completions=(Completion("wait", after(5), gone=True),))
    assert (trace.state, trace.failure_code) == ("failed", "completion-gone")


def test_a_cancel_takes_the_cancel_route() -> None:
    trace = reviewed(cancel=Cancel(after(30), "wait"))
    assert trace.path == ("submit", "wait", "undo", "stopped")
    assert (trace.state, trace.outcome) == ("cancelled-after-effect", "stopped")


def test_a_signal_resumes_its_wait() -> None:
    trace = play(SIGNALLED, signals=(Signal("paid", {"n": 1}, after(20), "wait"),))
    assert (trace.output, trace.elapsed_ms) == ({"n": 1}, 20_000)


@pytest.mark.parametrize(
    ("name", "payload", "place"),
    [("paid", "no", "/signals/0/payload"), ("other", {}, "/signals/0/name")],
)
def test_a_signal_that_nobody_takes_is_a_fault_of_the_case(
    name: str, payload: Any, place: str
) -> None:
    with pytest.raises(CaseFault) as caught:
        play(SIGNALLED, signals=(Signal(name, payload, after(1)),))
    assert caught.value.place == place


def test_a_person_approves_the_plan() -> None:
    decisions = (Decision("ask", True, after(60), {"n": 1}, plan_given=True),)
    trace = play(APPROVED, {"plan": {"n": 1}}, replies={"send": (OK,)}, decisions=decisions)
    assert (trace.path, trace.elapsed_ms) == (("ask", "send", "done"), 60_000)


def test_a_person_who_saw_another_plan_is_told_the_one_that_is_open() -> None:
    decisions = (Decision("ask", True, after(60), {"n": 2}, plan_given=True),)
    with pytest.raises(CaseFault) as caught:
        play(APPROVED, {"plan": {"n": 1}}, decisions=decisions)
    assert (caught.value.code, caught.value.actual) == ("coordinator.scenario.plan", {"n": 1})


def test_a_rejection_takes_its_own_way() -> None:
    trace = play(APPROVED, {"plan": 1}, decisions=(Decision("ask", False, after(1)),))
    assert trace.outcome == "no"


def test_a_run_that_waits_for_a_person_is_paused() -> None:
    assert play(APPROVED, {"plan": 1}, stop=after(5)).state == "paused"


def test_a_run_that_waits_for_a_signal_is_waiting() -> None:
    assert play(SIGNALLED, stop=after(5)).state == "waiting"


def test_the_deadline_ends_a_wait() -> None:
    trace = reviewed(deadline=300)
    assert (trace.state, trace.elapsed_ms, trace.outcome) == ("expired", 300_000, None)


def test_an_input_that_is_not_admitted_is_a_fault_of_the_case() -> None:
    from interpreter.scenario import Case, Stage
    from tests.fixtures.definitions import ADMITTED_MS, definition

    made = definition({"done": finish()}).model_copy(update={"input_schema": {"type": "string"}})
    with pytest.raises(CaseFault) as caught:
        Stage(made).play(Case("one", ADMITTED_MS, {}, {}))
    assert caught.value.code == "coordinator.definition.input"


def test_a_timeline_tells_what_happened_and_when() -> None:
    trace = reviewed(completions=(Completion("wait", after(90), "yes"),))
    told = [(one.after_ms, one.step, one.what) for one in trace.timeline]
    assert (90_000, "wait", "is completed") in told
