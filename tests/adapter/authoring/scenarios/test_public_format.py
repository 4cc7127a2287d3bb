"""Scenario files of the public ``v1alpha1`` format, unmodified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapter.authoring.scenarios import load_suite, run_suite, skeletons, write_skeletons
from adapter.authoring.scenarios.suite import V1ALPHA1
from interpreter.definition.document import PackagedDefinition
from interpreter.scenario import Dialect, outlets_of
from tests.adapter.authoring.projects import load, v1alpha1
from tests.adapter.authoring.scenarios.suites import codes, file_of, read

FUNCTIONS = """
fn due(input) { input.due }
fn record(input) { #{ collection: "things", recordId: input.id } }
fn route(record) { if record.data.domainData.open { "go" } else { "stop" } }
fn message(input, record) {
    #{ senderProfile: "desk", to: #{ email: input.email }, template: #{ id: "t", version: "1" } }
}
fn id(message) { message.id }
"""
SENT = {"type": "success", "value": {"id": "M-1", "status": "accepted"}}
EXPIRED = {"type": "receipt-expired"}
CASE: dict[str, Any] = {
    "id": "sent",
    "admittedAt": "2026-03-02T08:00:00Z",
    "input": {"id": "R-1", "due": "2026-03-02T08:10:00Z", "email": "a@example.org"},
    "replies": {
        "look": [{"type": "success", "value": {"data": {"domainData": {"open": True}}}}],
        "send": [SENT],
    },
    "expect": {
        "path": ["wait", "look", "which", "send", "sent"],
        "state": "completed",
        "outcome": {"type": "named", "value": "sent"},
        "output": "M-1",
        "workflowElapsedSeconds": 600,
    },
}


def mapping(function: str, *steps: str) -> dict[str, Any]:
    """A mapping of the older form: the input, then whole outputs of steps."""
    arguments = [{"type": "input"}] + [{"type": "step", "step": one} for one in steps]
    return {"function": function, "arguments": arguments[:1] if not steps else arguments}


def of_step(function: str, step: str) -> dict[str, Any]:
    """A mapping over one step's output."""
    return {"function": function, "arguments": [{"type": "step", "step": step}]}


@pytest.fixture
def made(tmp_path: Path) -> PackagedDefinition:
    """Wait, read, choose, send."""
    document = v1alpha1(
        connections={"records": "breg", "notices": "messaging"},
        start="wait",
        steps={
            "wait": {"type": "wait-until", "waitUntil": mapping("due"), "next": "look"},
            "look": {
                "type": "call",
                "connection": "records",
                "operation": "read-record",
                "input": mapping("record"),
                "next": "which",
            },
            "which": {
                "type": "choose",
                "choose": of_step("route", "look"),
                "cases": {"go": "send", "stop": "stopped"},
            },
            "send": {
                "type": "call",
                "connection": "notices",
                "operation": "submit-message",
                "input": mapping("message", "look"),
                "next": "sent",
            },
            "sent": {"type": "finish", "outcome": "sent", "output": of_step("id", "send")},
            "stopped": {"type": "finish", "outcome": "stopped"},
        },
        outcomes={"sent": {"type": "string"}, "stopped": {"type": "null"}},
    )
    result = load(tmp_path, document, FUNCTIONS)
    assert result.definition is not None, result.diagnostics
    return result.definition


def played(made: PackagedDefinition, **members: Any) -> Any:
    """The result of the case with members replaced."""
    reading = read(file_of({**CASE, **members}, version=V1ALPHA1), made)
    assert reading.suite is not None, reading.diagnostics
    return run_suite(made, reading.suite).cases[0]


def test_a_case_passes_as_it_is(made: PackagedDefinition) -> None:
    one = played(made)
    assert one.passed, one.differences
    assert (one.trace.attempts, one.trace.frozen_commands) == ({"look": 1, "send": 1}, 1)


@pytest.mark.parametrize(
    ("replies", "recovery", "state"),
    [
        ([{"type": "retryable", "code": "x"}], {}, "retryable"),
        ([{"type": "uncertain", "code": "x"}, SENT], {"send": "reconcile"}, "completed"),
        (
            [{"type": "uncertain", "code": "x"}, EXPIRED],
            {"send": "retry-same"},
            "uncertain",
        ),
        ([{"type": "refused", "code": "x"}], {}, "refused"),
    ],
)
def test_replies_and_recovery_decide_about_the_state(
    made: PackagedDefinition, replies: list[Any], recovery: dict[str, str], state: str
) -> None:
    one = played(
        made,
        replies={**CASE["replies"], "send": replies},
        recovery=recovery,
        expect={"path": CASE["expect"]["path"], "state": state},
    )
    assert one.trace.state == state


def test_a_deadline_that_comes_first_ends_the_path_at_the_wait(made: PackagedDefinition) -> None:
    late = {**CASE["input"], "due": "2027-03-02T08:10:00Z"}
    expected = {
        "path": ["wait"],
        "state": "deadline-exceeded",
        "outcome": {"type": "none"},
        "workflowElapsedSeconds": 3600,
    }
    assert played(made, input=late, expect=expected).passed


def test_a_reply_that_no_product_gives_is_a_warning(made: PackagedDefinition) -> None:
    odd = {"type": "success", "value": {"id": "M-1"}}
    one = played(made, replies={**CASE["replies"], "send": [odd]})
    assert one.passed
    assert codes(one.findings) == ["scenario.response"]


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"completions": []}, "config.unknown-key"),
        ({"replies": None}, "config.null-value"),
        ({"replies": {"send": [SENT] * 9}}, "scenarios.invalid-length"),
        ({"replies": {"send": [{**SENT, "takesSeconds": 1}]}}, "config.unknown-key"),
        ({"replies": {"sent": [{"type": "declared-refusal"}]}}, "config.unknown-variant"),
        ({"recovery": {"send": "again"}}, "config.unknown-variant"),
        ({"recovery": {"nobody": "retry-same"}}, "scenarios.unknown-reference"),
        ({"expect": {"path": ["wait", "wait"], "state": "completed"}}, "config.duplicate-item"),
        ({"expect": {"path": ["wait"]}}, "config.missing-key"),
        ({"expect": {"path": ["wait"], "state": "finished"}}, "config.unknown-variant"),
        ({"admittedAt": "today"}, "scenarios.invalid-timestamp"),
    ],
)
def test_what_the_format_does_not_have_is_refused(
    made: PackagedDefinition, members: dict[str, Any], code: str
) -> None:
    reading = read(file_of({**CASE, **members}, version=V1ALPHA1), made)
    assert code in codes(reading.diagnostics)


def test_a_file_has_at_most_64_cases(made: PackagedDefinition) -> None:
    cases = [{**CASE, "id": f"case-{number}"} for number in range(65)]
    reading = read(file_of(*cases, version=V1ALPHA1), made)
    assert codes(reading.diagnostics) == ["scenarios.invalid-length"]


def test_skeletons_of_this_format_find_the_values_a_function_wants(
    made: PackagedDefinition,
) -> None:
    reading = read(file_of(CASE, version=V1ALPHA1), made)
    assert reading.suite is not None
    untaken = run_suite(made, reading.suite).coverage.untaken
    assert [one.outlet for one in untaken] == ["stop"]
    (skeleton,) = skeletons(made, untaken, Dialect.PUBLIC, reading.suite.cases)
    assert (skeleton.case.id, skeleton.trace) == ("which-stop", None)


def test_skeletons_of_this_format_are_written_in_it(
    made: PackagedDefinition, tmp_path: Path
) -> None:
    file = tmp_path / "scenarios.yaml"
    found = tuple(skeletons(made, outlets_of(made.definition), Dialect.PUBLIC))
    write_skeletons(file, found, None, made.definition)
    reading = load_suite(file, made.definition)
    assert reading.diagnostics == ()
    assert reading.suite is not None
    assert (reading.suite.format, len(reading.suite.cases)) == (V1ALPHA1, len(found))
