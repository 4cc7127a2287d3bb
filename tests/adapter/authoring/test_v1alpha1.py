"""Projects of the public ``v1alpha1`` format, unmodified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.adapter.authoring.projects import DONE, codes, load, only, step, v1alpha1


def changed(step_name: str, **members: Any) -> dict[str, Any]:
    """The project with members of one step replaced."""
    document = v1alpha1()
    document["steps"][step_name] = {**document["steps"][step_name], **members}
    return document


def same(*arguments: Any, function: str = "same") -> dict[str, Any]:
    """A mapping of the older form."""
    return {"function": function, "arguments": list(arguments)}


def test_all_its_products_and_steps_compile(tmp_path: Path) -> None:
    result = load(tmp_path, v1alpha1())
    assert result.diagnostics == ()
    assert result.definition is not None
    definition = result.definition.definition
    assert definition.connections == {
        "records": "breg",
        "words": "external",
        "minds": "evaluation",
    }
    called = {one.contract.id for one in definition.operations.values()}
    assert called == {"breg.read-record/v1", "external.get/v1", "evaluation.evaluate/v1"}


@pytest.mark.parametrize(
    ("operation", "product"),
    [
        ("read-record", "breg"),
        ("invoke-breg-action", "breg"),
        ("submit-message", "messaging"),
        ("read-scheduling", "scheduling"),
        ("read-availability", "scheduling"),
        ("create-appointment", "scheduling"),
        ("external-get", "external-http"),
        ("evaluate-decision", "decision"),
    ],
)
def test_its_eight_operations_are_known(tmp_path: Path, operation: str, product: str) -> None:
    document = changed("look", operation=operation)
    document["connections"]["records"] = product
    assert codes(load(tmp_path, document)) == []


@pytest.mark.parametrize(
    ("step_name", "members", "code"),
    [
        ("look", {"connection": "record"}, "definition.connection"),
        ("look", {"operation": "submit-message"}, "definition.operation"),
        ("look", {"operation": "breg.read-record/v1"}, "config.unknown-variant"),
        ("look", {"next": "nowhere"}, "definition.target"),
        ("look", {"input": same({"type": "step", "step": "judge"})}, "mapping.dominance"),
        ("look", {"input": same({"type": "step", "step": "due"})}, "mapping.dominance"),
        ("look", {"input": same({"input": ""})}, "config.missing-key"),
        ("look", {"input": same(*[{"type": "input"}] * 17)}, "function.arity"),
        ("look", {"input": same(function="absent")}, "function.definition"),
        ("look", {"input": same()}, "function.definition"),
        ("look", {"input": {"literal": {}}}, "config.missing-key"),
        ("look", {"onDeclaredRefusal": {"x": "done"}}, "config.unknown-key"),
        ("look", {"type": "wait-for"}, "config.unknown-variant"),
        ("look", {"next": "due"}, "definition.cycle"),
        ("look", {"next": "done"}, "definition.unreachable"),
        ("which", {"cases": {}}, "definition.cases"),
        ("done", {"outcome": "gone"}, "definition.outcome"),
    ],
)
def test_what_its_check_refuses_is_refused(
    tmp_path: Path, step_name: str, members: dict[str, Any], code: str
) -> None:
    assert code in codes(load(tmp_path, changed(step_name, **members)))


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"functionsFile": None}, "config.missing-key"),
        ({"connections": {"records": "casework"}}, "definition.connection"),
        ({"triggers": {}}, "config.unknown-key"),
        ({"project": {"id": "older", "version": "1", "title": "x"}}, "config.unknown-key"),
        ({"outcomes": {"done": {"type": "object"}}}, "definition.outcome"),
    ],
)
def test_its_keys_are_its_own(tmp_path: Path, members: dict[str, Any], code: str) -> None:
    document = {key: value for key, value in v1alpha1(**members).items() if value is not None}
    assert code in codes(load(tmp_path, document))


def test_a_join_may_read_only_what_ran_before_the_branch(tmp_path: Path) -> None:
    document = v1alpha1()
    arm = {**document["steps"]["look"], "next": "join"}
    document["steps"]["which"]["cases"] = {"yes": "left", "no": "right"}
    document["steps"] |= {"left": arm, "right": arm}
    document["steps"]["join"] = {**DONE, "output": same({"type": "step", "step": "left"})}
    del document["steps"]["done"]
    assert only(load(tmp_path, document)).code == "coordinator.mapping.dominance"


def test_a_case_may_be_called_failed(tmp_path: Path) -> None:
    assert codes(load(tmp_path, changed("which", cases={"failed": "done"}))) == []


def test_connections_may_be_empty(tmp_path: Path) -> None:
    steps = {
        "due": step("wait-until", waitUntil=same({"type": "input"}), next="done"),
        "done": DONE,
    }
    assert codes(load(tmp_path, v1alpha1(connections={}, steps=steps))) == []


def _many(count: int) -> dict[str, Any]:
    return {f"s{number}": DONE for number in range(count)}


_HERE: list[tuple[dict[str, Any], str, str]] = [
    ({"project": {"id": "older", "version": "1.0"}}, "definition.shape", "/project/version"),
    ({"project": {"id": "Older", "version": "1"}}, "definition.shape", "/project/id"),
    ({"deadlineSeconds": 0}, "definition.deadline", "/deadlineSeconds"),
    ({"deadlineSeconds": 31_536_001}, "definition.deadline", "/deadlineSeconds"),
    ({"steps": _many(65), "start": "s0"}, "definition.shape", "/steps"),
    ({"steps": {}}, "definition.shape", "/steps"),
    ({"connections": {f"c{n}": "breg" for n in range(17)}}, "definition.shape", "/connections"),
    ({"outcomes": {f"o{n}": True for n in range(65)}}, "definition.shape", "/outcomes"),
    ({"connections": {"records": "postgres"}}, "definition.connection", "/connections"),
    ({"start": "nowhere"}, "definition.shape", "/start"),
    ({"functionsFile": "other.rhai"}, "definition.functions-file", "/functionsFile"),
    ({"input": {"type": "objekt"}}, "definition.schema", "/input"),
    ({"input": {"$id": "https://example.org/x"}}, "definition.schema", "/input"),
    ({"outcomes": {"done": {"format": "shoe"}}}, "definition.schema", "/outcomes/done"),
    ({"outcomes": {"done": True, "other": True}}, "definition.outcome", "/outcomes/other"),
]


@pytest.mark.parametrize(("members", "code", "pointer"), _HERE)
def test_a_finding_has_the_code_and_pointer_of_the_format(
    tmp_path: Path, members: dict[str, Any], code: str, pointer: str
) -> None:
    found = load(tmp_path, v1alpha1(**members)).errors
    assert (f"coordinator.{code}", pointer) in [(one.code, one.spot.pointer) for one in found]


_IN_STEPS: list[tuple[str, dict[str, Any], str, str]] = [
    ("look", {"next": "nowhere"}, "definition.target", "/steps/look/next"),
    ("which", {"cases": {"yes": "nowhere"}}, "definition.target", "/steps/which/cases"),
    ("which", {"cases": {}}, "definition.cases", "/steps/which/cases"),
    ("look", {"connection": "other"}, "definition.connection", "/steps/look/connection"),
    ("look", {"operation": "external-get"}, "definition.operation", "/steps/look/operation"),
    (
        "look",
        {"input": same({"type": "input"}, {"type": "step", "step": "judge"})},
        "mapping.dominance",
        "/steps/look/input/arguments/1",
    ),
    ("look", {"next": "done"}, "definition.unreachable", "/steps/fetch"),
    ("judge", {"next": "look"}, "definition.cycle", "/steps"),
    ("judge", {"next": "due"}, "definition.cycle", "/steps"),
]


@pytest.mark.parametrize(("step_name", "members", "code", "pointer"), _IN_STEPS)
def test_a_finding_in_a_step_has_the_code_and_pointer_of_the_format(
    tmp_path: Path, step_name: str, members: dict[str, Any], code: str, pointer: str
) -> None:
    found = load(tmp_path, changed(step_name, **members)).errors
    assert (f"coordinator.{code}", pointer) in [(one.code, one.spot.pointer) for one in found]


def test_a_step_called_input_is_refused(tmp_path: Path) -> None:
    document = v1alpha1()
    document["steps"]["input"] = document["steps"]["done"]
    assert "definition.step" in codes(load(tmp_path, document))
