"""Approvals and signals of an authored project, from its files to the result of a case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapter.authoring.scenarios import load_suite, run_suite, skeletons, write_skeletons
from interpreter.definition.document import PackagedDefinition
from interpreter.scenario import Dialect, outlets_of
from tests.adapter.authoring.projects import DONE, load, project, step
from tests.adapter.authoring.scenarios.suites import file_of, read

AMOUNT = {"type": "object", "required": ["amount"], "properties": {"amount": {"minimum": 1}}}
STEPS: dict[str, Any] = {
    "ask": step(
        "approve",
        plan={"object": {"id": {"input": "/id"}}},
        timeoutSeconds=600,
        next="paid",
        onRejected="done",
        onTimeout="done",
    ),
    "paid": step(
        "wait-for",
        signal={"name": "paid", "schema": AMOUNT},
        timeoutSeconds=600,
        next="done",
        onTimeout="done",
        onCancel="done",
    ),
    "done": DONE,
}
CASE: dict[str, Any] = {
    "id": "paid",
    "admittedAt": "2026-03-02T08:00:00Z",
    "input": {"id": "A-1"},
    "decisions": [
        {"step": "ask", "decision": "approved", "afterSeconds": 60, "plan": {"id": "A-1"}}
    ],
    "signals": [{"name": "paid", "payload": {"amount": 3}, "step": "paid", "afterSeconds": 20}],
    "expect": {"path": ["ask", "paid", "done"], "state": "finished", "elapsedSeconds": 80},
}


@pytest.fixture
def made(tmp_path: Path) -> PackagedDefinition:
    """A project in which a person approves and somebody pays."""
    result = load(tmp_path, project(STEPS, connections={}, operations={}))
    assert result.definition is not None, result.diagnostics
    return result.definition


def result_of(made: PackagedDefinition, **members: Any) -> Any:
    """The result of the case with members replaced."""
    suite = read(file_of({**CASE, **members}), made).suite
    assert suite is not None
    return run_suite(made, suite).cases[0]


def test_a_person_approves_and_somebody_pays(made: PackagedDefinition) -> None:
    one = result_of(made)
    assert one.passed, one.differences
    assert one.findings == ()


def test_another_plan_is_shown_beside_the_one_that_is_open(made: PackagedDefinition) -> None:
    seen = {**CASE["decisions"][0], "plan": {"id": "A-2"}}
    one = result_of(made, decisions=[seen])
    (difference,) = one.differences
    assert (difference.expected, difference.actual) == ({"id": "A-2"}, {"id": "A-1"})
    assert one.findings[0].spot.pointer == "/cases/0/decisions/0/plan"


def test_a_signal_that_comes_before_its_wait_is_kept(made: PackagedDefinition) -> None:
    early = {"name": "paid", "payload": {"amount": 3}, "afterSeconds": 5}
    expected = {"state": "finished", "elapsedSeconds": 60}
    assert result_of(made, signals=[early], expect=expected).passed


def test_every_way_out_gets_a_case_that_takes_it(made: PackagedDefinition, tmp_path: Path) -> None:
    file = tmp_path / "scenarios.yaml"
    found = tuple(skeletons(made, outlets_of(made.definition), Dialect.FULL))
    assert write_skeletons(file, found, None, made.definition).incomplete == ()
    suite = load_suite(file, made.definition).suite
    assert suite is not None
    result = run_suite(made, suite)
    assert (result.passed, result.coverage.untaken) == (True, ())
