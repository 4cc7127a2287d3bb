"""Waiting for a person's approval of exactly one plan."""

from __future__ import annotations

from typing import Any

from interpreter.contract.values import digest
from interpreter.machine import MachineState, advance, advance_traced, begin
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.standing import reopened
from interpreter.machine.state import state_from_json, state_to_json
from tests.fixtures.definitions import ADMITTED_MS, finish, program, start_of

PLAN = {"amount": 3}
NODES: dict[str, Any] = {
    "ask": {
        "kind": "wait",
        "wait": {"type": "approval", "plan": {"input": "/plan"}, "timeoutSeconds": 60},
        "outlets": {"approved": "done", "rejected": "no"},
    },
    "done": finish("done", {"step": "ask", "path": "/planDigest"}),
    "no": finish("no"),
}
MADE = program(NODES)


def opened(plan: Any = PLAN) -> tuple[MachineState, tuple[c.Command, ...]]:
    """A run that has come to its approval."""
    state = begin(start_of(MADE.definition, {"plan": plan}))
    return advance(MADE, state, e.Started(ADMITTED_MS))


def decided(approved: bool, plan_digest: str) -> e.Decided:
    """A person's word."""
    return e.Decided("main", "ask", 1, approved, plan_digest, ADMITTED_MS + 1)


def closed(commands: tuple[c.Command, ...]) -> str:
    """The outcome that the last command asks for, or its failure."""
    assert isinstance(commands[-1], c.Close)
    return commands[-1].closing.outcome or commands[-1].closing.failure_code


def test_an_approval_carries_the_plan_and_its_digest() -> None:
    _, (timer,) = opened()
    assert isinstance(timer, c.StartTimer)
    assert (timer.kind, timer.plan, timer.plan_digest) == ("approval", PLAN, digest(PLAN))


def test_a_decision_about_the_open_plan_leads_on_with_its_digest() -> None:
    state, _ = opened()
    _, commands = advance(MADE, state, decided(True, digest(PLAN)))
    assert closed(commands) == "done"
    assert commands[-1].closing.output == digest(PLAN)  # type: ignore[union-attr]


def test_a_rejection_takes_its_own_outlet() -> None:
    state, _ = opened()
    _, commands = advance(MADE, state, decided(False, digest(PLAN)))
    assert closed(commands) == "no"


def test_a_decision_about_another_plan_is_ignored() -> None:
    state, _ = opened()
    assert advance(MADE, state, decided(True, digest({"amount": 4}))) == (state, ())


def test_a_plan_survives_continue_as_new() -> None:
    state, before = opened()
    state = state_from_json(state_to_json(state))
    assert reopened(MADE, state) == before
    assert closed(advance(MADE, state, decided(True, digest(PLAN)))[1]) == "done"


def test_a_plan_without_a_canonical_form_fails_the_run() -> None:
    _, commands = opened(2**60)
    assert closed(commands) == "mapping.plan"


def test_a_rejection_without_an_outlet_fails_the_run() -> None:
    made = program({**NODES, "ask": {**NODES["ask"], "outlets": {"approved": "done"}}})
    state = begin(start_of(made.definition, {"plan": PLAN}))
    state, _ = advance(made, state, e.Started(ADMITTED_MS))
    assert closed(advance(made, state, decided(False, digest(PLAN)))[1]) == "plan-rejected"


def test_a_traced_turn_tells_the_way_through_the_graph() -> None:
    state, _ = opened()
    _, _, trail = advance_traced(MADE, state, decided(True, digest(PLAN)))
    assert [(one.node, one.outlet) for one in trail] == [("ask", "approved"), ("done", "")]
