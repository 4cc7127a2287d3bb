"""The form of ``coordinator/v1`` projects: keys, names, ranges, mappings and steps."""

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

Document = dict[str, Any]


def test_a_small_project_compiles(tmp_path: Path) -> None:
    result = load(tmp_path, project({"a": read(), "done": DONE}))
    assert codes(result) == []
    assert result.definition is not None
    assert result.definition.definition.start == "a"


def test_every_step_type_compiles(tmp_path: Path) -> None:
    signal = {"name": "paid", "schema": {"type": "object"}}
    steps = {
        "look": read("which"),
        "which": branch("ask", "later"),
        "later": step("wait-until", waitUntil={"context": "/deadlineAt"}, next="done"),
        "ask": submit("result"),
        "result": step(
            "wait-for",
            call="ask",
            completion="result",
            timeoutSeconds=60,
            next="pay",
            onTimeout="done",
            onCancel="done",
        ),
        "pay": step("wait-for", signal=signal, timeoutSeconds=60, next="plan"),
        "plan": step(
            "approve",
            plan={"step": "look"},
            timeoutSeconds=60,
            next="tell",
            onRejected="done",
        ),
        "tell": send(onDeclaredRefusal={"recipient-suppressed": "done"}, onFailed="done"),
        "done": DONE,
    }
    result = load(tmp_path, project(steps))
    assert codes(result) == []
    assert result.definition is not None
    outlets = result.definition.definition.nodes["tell"].outlets
    assert set(outlets) == {"next", "refused:recipient-suppressed", "failed"}


def test_the_read_of_a_completion_is_pinned_on_the_connection_of_its_call(tmp_path: Path) -> None:
    wait = step("wait-for", call="a", completion="result", timeoutSeconds=60, next="done")
    result = load(tmp_path, project({"a": submit("b"), "b": wait, "done": DONE}))
    assert result.definition is not None
    pinned = result.definition.definition.operations["casework.read-review-request/v1"]
    assert (pinned.connection, pinned.contract.id) == ("reviews", "casework.read-review-request/v1")


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"deadlineSeconds": 0}, "config.out-of-range", "/deadlineSeconds"),
        ({"deadlineSeconds": "60"}, "config.expected-integer", "/deadlineSeconds"),
        ({"deadlineSeconds": True}, "config.expected-integer", "/deadlineSeconds"),
        ({"functionsFile": "f.rhai"}, "definition.functions-file", "/functionsFile"),
        ({"project": {"id": "small"}}, "config.missing-key", "/project"),
        ({"project": {"id": "Small", "version": "1"}}, "config.invalid-value", "/project/id"),
        ({"project": {"id": "a", "version": "1.0"}}, "config.invalid-value", "/project/version"),
        ({"project": {"id": "a", "version": 1}}, "config.expected-string", "/project/version"),
        ({"start": "nowhere"}, "definition.shape", "/start"),
        ({"extra": 1}, "config.unknown-key", "/extra"),
        ({"kind": "Other"}, "config.wrong-kind", "/kind"),
        ({"apiVersion": "coordinator/v2"}, "config.unsupported-api-version", "/apiVersion"),
        (
            {"apiVersion": "registry.registrystack.org/coordinator/v1alpha1"},
            "config.retired-api-version",
            "/apiVersion",
        ),
        ({"apiVersion": None}, "config.missing-envelope", ""),
        ({"outcomes": {}}, "config.invalid-length", "/outcomes"),
        ({"outcomes": {"Done!": True}}, "config.invalid-value", "/outcomes/Done!"),
        ({"connections": {"registry": "brag"}}, "definition.connection", "/connections/registry"),
        ({"input": {"type": "objekt"}}, "definition.schema", "/input/type"),
        ({"input": {"$ref": "https://x.example/y"}}, "definition.schema", "/input/$ref"),
        ({"input": {"format": "shoe-size"}}, "definition.schema", "/input/format"),
        ({"input": 3}, "definition.schema", "/input"),
    ],
)
def test_a_wrong_top_level_value_is_refused_at_its_place(
    tmp_path: Path, change: Document, code: str, pointer: str
) -> None:
    result = load(tmp_path, project({"a": read(), "done": DONE}, **change))
    found = {(one.code.removeprefix("coordinator."), one.spot.pointer) for one in result.errors}
    assert (code, pointer) in found
    assert result.definition is None


@pytest.mark.parametrize(
    ("one", "code", "pointer"),
    [
        (step("cal"), "config.unknown-variant", "/steps/a/type"),
        (step("sql", query="x"), "config.unknown-variant", "/steps/a/type"),
        (read(opration="x"), "config.unknown-key", "/steps/a/opration"),
        (read(operation="reed"), "definition.operation", "/steps/a/operation"),
        (read(next="don"), "definition.target", "/steps/a/next"),
        (read(input=None), "config.null-value", "/steps/a/input"),
        (read(input="x"), "config.invalid-type", "/steps/a/input"),
        (read(input={}), "config.unknown-variant", "/steps/a/input"),
        (read(input={"inptu": ""}), "config.unknown-variant", "/steps/a/input"),
        (read(input={"input": "", "literal": 1}), "config.unknown-variant", "/steps/a/input"),
        (read(input={"input": "id"}), "mapping.pointer", "/steps/a/input/input"),
        (read(input={"input": "/a~2"}), "mapping.pointer", "/steps/a/input/input"),
        (read(input={"first": []}), "config.invalid-length", "/steps/a/input/first"),
        (read(input={"context": "/now"}), "config.unknown-variant", "/steps/a/input/context"),
        (read(input={"literal": 2**60}), "config.out-of-range", "/steps/a/input/literal"),
        (
            read(input={"function": "f", "arguments": [{"input": ""}] * 17}),
            "function.arity",
            "/steps/a/input/arguments",
        ),
        (read(policy={"attempts": 0}), "config.out-of-range", "/steps/a/policy/attempts"),
        (read(policy={"atempts": 1}), "config.unknown-key", "/steps/a/policy/atempts"),
        (read(onDeclaredRefusal={}), "config.invalid-length", "/steps/a/onDeclaredRefusal"),
        (branch("done", "done", cases={}), "definition.cases", "/steps/a/cases"),
        (
            branch("done", "done", cases={"failed": "done"}),
            "definition.cases",
            "/steps/a/cases/failed",
        ),
        (step("finish", outcome="gone"), "definition.outcome", "/steps/a/outcome"),
        (step("wait-for", next="done"), "config.missing-key", "/steps/a"),
        ([], "config.invalid-type", "/steps/a"),
    ],
)
def test_a_wrong_step_is_refused_at_its_place(
    tmp_path: Path, one: Any, code: str, pointer: str
) -> None:
    result = load(tmp_path, project({"a": one, "done": DONE}))
    found = {(one.code.removeprefix("coordinator."), one.spot.pointer) for one in result.errors}
    assert (code, pointer) in found


def test_a_step_may_not_be_called_input(tmp_path: Path) -> None:
    result = load(tmp_path, project({"input": read(), "done": DONE}))
    assert codes(result) == ["definition.step"]


def test_the_nearest_name_is_suggested(tmp_path: Path) -> None:
    result = load(tmp_path, project({"a": read(next="doen"), "done": DONE}))
    assert "`done`" in only(result).remedy


def test_independent_problems_are_reported_together(tmp_path: Path) -> None:
    steps = {"a": read(next="gone", policy={"attempts": 0}), "b": step("cal"), "done": DONE}
    document = project(steps, deadlineSeconds=0, extra=1)
    result = load(tmp_path, document)
    assert set(codes(result)) >= {
        "config.out-of-range",
        "config.unknown-variant",
        "config.unknown-key",
    }
    assert len(result.errors) == 4


def test_a_step_that_can_not_be_read_causes_no_second_finding(tmp_path: Path) -> None:
    steps = {"a": read("b"), "b": step("cal", next="c"), "c": read(), "done": DONE}
    assert codes(load(tmp_path, project(steps))) == ["config.unknown-variant"]


def test_an_operation_that_the_catalogue_lacks_is_refused_with_the_nearest(tmp_path: Path) -> None:
    operations = {"read": {"operation": "breg.read-recrod/v1", "connection": "registry"}}
    result = load(tmp_path, project({"a": read(), "done": DONE}, operations=operations))
    assert codes(result) == ["definition.operation"]
    assert "breg.read-record/v1" in only(result).remedy


def test_of_an_operation_that_the_catalogue_lacks_nothing_else_is_said(tmp_path: Path) -> None:
    operations = {"submit": {"operation": "casework.submit-review-request/v9"}}
    operations["submit"]["connection"] = "reviews"
    wait = {"call": "a", "completion": "result", "timeoutSeconds": 9, "onTimeout": "done"}
    steps = {
        "a": submit("b"),
        "b": step("wait-for", **wait, next="c"),
        "c": step("choose", choose={"step": "b", "path": "/decision"}, cases={"yes": "d"}),
        "d": {**DONE, "output": {"step": "a", "path": "/reviewRequestId"}},
        "done": DONE,
    }
    result = load(tmp_path, project(steps, operations=operations))
    assert codes(result) == ["definition.operation"]
    assert not [one for one in codes(result, warnings=True) if one.startswith("mapping.")]


def test_an_operation_on_a_connection_of_another_product_is_refused(tmp_path: Path) -> None:
    operations = {"read": {"operation": "breg.read-record/v1", "connection": "notices"}}
    result = load(tmp_path, project({"a": read(), "done": DONE}, operations=operations))
    assert only(result).code == "coordinator.definition.operation"
    assert "`registry`" in only(result).remedy


def test_a_proposal_action_is_refused(tmp_path: Path) -> None:
    operations = {"read": {"operation": "breg.apply-proposal/v1", "connection": "registry"}}
    result = load(tmp_path, project({"a": read(), "done": DONE}, operations=operations))
    assert codes(result) == ["operation.proposal-action"]


def test_a_substitution_is_refused(tmp_path: Path) -> None:
    result = load(tmp_path, project({"a": read(next="${NEXT}"), "done": DONE}))
    assert codes(result) == ["config.substitution-not-allowed"]


def test_a_trigger_maps_the_event_to_the_input(tmp_path: Path) -> None:
    trigger = {
        "event": "record.created",
        "schema": {
            "type": "object",
            "required": ["key"],
            "properties": {"key": {"type": "string"}},
        },
        "input": {"object": {"id": {"input": "/key"}}},
    }
    result = load(tmp_path, project({"a": read(), "done": DONE}, triggers={"new": trigger}))
    assert result.definition is not None
    assert result.definition.definition.triggers["new"].event == "record.created"


@pytest.mark.parametrize(
    ("mapping", "code"),
    [
        ({"object": {"id": {"input": "/kee"}}}, "mapping.missing-member"),
        ({"object": {"id": {"step": "a"}}}, "mapping.reference"),
        ({"object": {"id": {"context": "/runId"}}}, "mapping.context"),
        ({"object": {}}, "mapping.type"),
    ],
)
def test_a_trigger_that_does_not_give_the_input_is_refused(
    tmp_path: Path, mapping: Document, code: str
) -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["key"],
        "properties": {"key": {"type": "string"}},
    }
    trigger = {"event": "e", "schema": schema, "input": mapping}
    result = load(tmp_path, project({"a": read(), "done": DONE}, triggers={"new": trigger}))
    assert codes(result) == [code]
