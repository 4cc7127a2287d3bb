"""What contracts allow: refusals, completions and timeouts; and what nobody uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.adapter.authoring.projects import (
    DONE,
    branch,
    codes,
    load,
    only,
    project,
    read,
    send,
    step,
    submit,
)


def wait(call: str = "a", completion: str = "result", **members: Any) -> dict[str, Any]:
    """A wait for a completion."""
    timeout = {"timeoutSeconds": 60, "next": "done"}
    return {"type": "wait-for", "call": call, "completion": completion, **timeout, **members}


def test_a_refusal_that_the_contract_does_not_declare_is_refused(tmp_path: Path) -> None:
    steps = {"a": send(onDeclaredRefusal={"recipient-supressed": "done"}), "done": DONE}
    result = load(tmp_path, project(steps))
    assert only(result).code == "coordinator.refusal.undeclared"
    assert only(result).spot.pointer == "/steps/a/onDeclaredRefusal/recipient-supressed"
    assert "`recipient-suppressed`" in only(result).remedy


def test_a_read_has_no_refusal_to_route(tmp_path: Path) -> None:
    steps = {"a": read(onDeclaredRefusal={"product-not-found": "done"}), "done": DONE}
    assert codes(load(tmp_path, project(steps))) == ["refusal.not-an-action"]


def test_an_action_whose_product_declares_refusals_at_run_time_routes_any(tmp_path: Path) -> None:
    operations = {"act": {"operation": "breg.invoke-action/v1", "connection": "registry"}}
    act = step(
        "call",
        operation="act",
        input={"literal": {"action": "approve", "input": {}}},
        onDeclaredRefusal={"not-yet-complete": "done"},
        next="done",
    )
    result = load(tmp_path, project({"a": act, "done": DONE}, operations=operations))
    assert codes(result) == []


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (wait("b"), "wait.call"),
        (wait("w"), "wait.call"),
        (wait("done"), "wait.call"),
        (wait(completion="resutl"), "wait.completion"),
        (wait(timeoutSeconds=86400), "wait.timeout"),
    ],
)
def test_a_wait_names_an_accepted_call_and_its_completion(
    tmp_path: Path, one: dict[str, Any], code: str
) -> None:
    assert codes(load(tmp_path, project({"a": submit("w"), "w": one, "done": DONE}))) == [code]


def test_a_wait_may_not_follow_a_refused_call(tmp_path: Path) -> None:
    refused = {"review-scope-closed": "w"}
    steps = {"a": submit("w", onDeclaredRefusal=refused), "w": wait(), "done": DONE}
    assert codes(load(tmp_path, project(steps))) == ["wait.call"]


def test_a_wait_may_not_follow_a_call_of_one_arm(tmp_path: Path) -> None:
    steps = {"which": branch("a", "w"), "a": submit("w"), "w": wait(), "done": DONE}
    assert codes(load(tmp_path, project(steps))) == ["wait.call"]


def test_a_call_without_completions_can_not_be_waited_for(tmp_path: Path) -> None:
    steps = {"a": send("w"), "w": wait(), "done": DONE}
    result = load(tmp_path, project(steps))
    assert only(result).code == "coordinator.wait.completion"
    assert "none" in only(result).remedy


def test_the_value_of_a_completion_is_typed(tmp_path: Path) -> None:
    done = {**DONE, "output": {"step": "w", "path": "/decision"}}
    steps = {"a": submit("w"), "w": wait(), "done": done}
    outcomes: dict[str, Any] = {"done": {"enum": ["approved", "rejected"]}}
    assert codes(load(tmp_path, project(steps, outcomes=outcomes))) == []
    outcomes = {"done": {"enum": ["approved"]}}
    assert codes(load(tmp_path, project(steps, outcomes=outcomes))) == ["mapping.type"]


def test_the_payload_of_a_signal_is_typed(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["paid"], "properties": {"paid": {"type": "boolean"}}}
    signal = {"name": "payment", "schema": schema}
    done = {**DONE, "output": {"step": "w", "path": "/paid"}}
    steps = {"w": step("wait-for", signal=signal, timeoutSeconds=9, next="done"), "done": done}
    outcomes = {"done": {"type": "boolean"}}
    assert codes(load(tmp_path, project(steps, outcomes=outcomes))) == []
    assert codes(load(tmp_path, project(steps, outcomes={"done": {"type": "null"}}))) == [
        "mapping.type"
    ]


def test_a_wait_names_a_completion_or_a_signal_but_not_both(tmp_path: Path) -> None:
    both = wait(signal={"name": "x", "schema": True})
    found = codes(load(tmp_path, project({"a": submit("w"), "w": both, "done": DONE})))
    assert set(found) == {"config.unknown-key"}


def test_what_nobody_uses_is_a_warning(tmp_path: Path) -> None:
    result = load(tmp_path, project({"a": read(), "done": DONE}))
    assert set(codes(result, warnings=True)) == {
        "definition.unused-operation",
        "function.unused",
    }
    connections = {"registry": "breg", "spare": "messaging"}
    operations = {"read": {"operation": "breg.read-record/v1", "connection": "registry"}}
    document = project({"a": read(), "done": DONE}, connections=connections, operations=operations)
    assert "definition.unused-connection" in codes(load(tmp_path, document), warnings=True)
