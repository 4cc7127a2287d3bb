"""The proof of types: pointers exist, and values fit where they go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.adapter.authoring.projects import DONE, codes, load, only, project, read, send, step

JsonSchema = Any


def publish(mapping: Any, outcome: JsonSchema, **members: Any) -> dict[str, Any]:
    """A project that reads a record and publishes a mapping as an outcome."""
    steps = {"a": read(), "done": {**DONE, "output": mapping}}
    return project(steps, outcomes={"done": outcome}, **members)


INPUT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "list", "open", "either"],
    "properties": {
        "id": {"type": "string"},
        "maybe": {"type": "string"},
        "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "open": {"type": "object"},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "word": {"enum": ["x", "y"]},
        "deep": {"$ref": "#/$defs/deep"},
    },
    "$defs": {"deep": {"type": "object", "properties": {"deep": {"$ref": "#/$defs/deep"}}}},
}


@pytest.mark.parametrize(
    ("pointer", "code"),
    [
        ("/id", None),
        ("/list/0", None),
        ("/idd", "mapping.missing-member"),
        ("/id/0", "mapping.missing-member"),
        ("/list/x", "mapping.missing-member"),
        ("/maybe", "mapping.optional-member"),
        ("/deep/deep/deep", "mapping.optional-member"),
        ("/either/x", "mapping.missing-member"),
    ],
)
def test_a_pointer_must_find_a_member(tmp_path: Path, pointer: str, code: str | None) -> None:
    result = load(tmp_path, publish({"input": pointer}, True, input=INPUT))
    assert codes(result) == ([] if code is None else [code])


@pytest.mark.parametrize("pointer", ["/open/x", "/list/1"])
def test_a_member_of_which_nothing_is_known_is_a_warning(tmp_path: Path, pointer: str) -> None:
    result = load(tmp_path, publish({"input": pointer}, True, input=INPUT))
    assert codes(result) == []
    assert "mapping.unproven-member" in codes(result, warnings=True)


def test_a_misspelled_member_gets_the_nearest_name(tmp_path: Path) -> None:
    result = load(tmp_path, publish({"input": "/lsit"}, True, input=INPUT))
    assert "`list`" in only(result).remedy


def test_a_member_of_a_response_must_exist(tmp_path: Path) -> None:
    result = load(tmp_path, publish({"step": "a", "path": "/data/domainData/name"}, True))
    assert "mapping.unproven-member" in codes(result, warnings=True)
    result = load(tmp_path, publish({"step": "a", "path": "/data/0/name"}, True))
    assert codes(result) == [] or codes(result) == ["mapping.missing-member"]


@pytest.mark.parametrize(
    ("mapping", "outcome"),
    [
        ({"input": "/id"}, {"type": "string"}),
        ({"input": "/id"}, {"type": ["string", "null"]}),
        ({"input": "/id"}, {"anyOf": [{"type": "null"}, {"type": "string"}]}),
        ({"input": "/id"}, {"enum": ["a", "b"]}),
        ({"input": "/list/0"}, {"type": "number"}),
        ({"literal": 2.0}, {"type": "integer"}),
        ({"literal": "a"}, {"enum": ["a", "b"]}),
        ({"literal": {"x": [1, "a"]}}, {"type": "object", "required": ["x"]}),
        ({"input": "/either"}, {"type": ["string", "null"]}),
        ({"object": {"n": {"input": "/list/0"}}}, {"properties": {"n": {"type": "integer"}}}),
        ({"input": "/open"}, {"type": "object", "required": ["x"]}),
        ({"function": "same", "arguments": [{"input": ""}]}, {"type": "integer"}),
        ({"list": [{"input": "/id"}]}, {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_a_value_that_may_fit_is_accepted(tmp_path: Path, mapping: Any, outcome: Any) -> None:
    assert codes(load(tmp_path, publish(mapping, outcome, input=INPUT))) == []


@pytest.mark.parametrize(
    ("mapping", "outcome", "pointer"),
    [
        ({"input": "/id"}, {"type": "integer"}, "/steps/done/output"),
        ({"input": "/either"}, {"type": "string"}, "/steps/done/output"),
        ({"input": "/id"}, {"const": 4}, "/steps/done/output"),
        ({"literal": "c"}, {"enum": ["a", "b"]}, "/steps/done/output"),
        ({"literal": "abc"}, {"type": "string", "maxLength": 2}, "/steps/done/output"),
        ({"literal": "x"}, {"type": "string", "format": "uuid"}, "/steps/done/output"),
        ({"literal": 1.5}, {"type": "integer"}, "/steps/done/output"),
        ({"literal": True}, {"type": "integer"}, "/steps/done/output"),
        (
            {"object": {"n": {"input": "/id"}}},
            {"properties": {"n": {"type": "null"}}},
            "/steps/done/output/object/n",
        ),
        ({"object": {}}, {"type": "object", "required": ["n"]}, "/steps/done/output"),
        (
            {"object": {"m": {"literal": 1}}},
            {"properties": {}, "additionalProperties": False},
            "/steps/done/output/object/m",
        ),
        ({"list": [{"input": "/id"}]}, {"items": {"type": "integer"}}, "/steps/done/output/list/0"),
        ({"list": []}, {"type": "array", "minItems": 1}, "/steps/done/output"),
        ({"input": ""}, {"type": "object", "required": ["maybe"]}, "/steps/done/output"),
        ({"context": "/attempt"}, {"type": "string"}, "/steps/done/output"),
        ({"input": "/id"}, False, "/steps/done/output"),
    ],
)
def test_a_value_that_can_not_fit_is_refused_where_it_comes_from(
    tmp_path: Path, mapping: Any, outcome: Any, pointer: str
) -> None:
    result = load(tmp_path, publish(mapping, outcome, input=INPUT))
    assert only(result).code == "coordinator.mapping.type"
    assert only(result).spot.pointer == pointer


def test_a_request_is_checked_against_the_operation(tmp_path: Path) -> None:
    wrong = {"object": {"collection": {"literal": "things"}, "recordID": {"input": "/id"}}}
    result = load(tmp_path, project({"a": read(input=wrong), "done": DONE}))
    messages = sorted(one.message for one in result.errors)
    assert codes(result) == ["mapping.type", "mapping.type"]
    assert "`/recordID`" in messages[0]
    assert "`/recordId`" in messages[1]


def test_a_pattern_of_a_request_is_checked_against_literals(tmp_path: Path) -> None:
    message = {
        "object": {
            "senderProfile": {"literal": "desk"},
            "to": {"object": {"phone": {"literal": "12"}}},
            "content": {"literal": {"text": "x"}},
        }
    }
    result = load(tmp_path, project({"a": send(input=message), "done": DONE}))
    assert only(result).spot.pointer == "/steps/a/input/object/to/object/phone"


def test_an_alternative_of_a_request_is_enough(tmp_path: Path) -> None:
    message = {
        "object": {
            "senderProfile": {"literal": "desk"},
            "to": {"object": {"phone": {"literal": "+4912"}}},
            "content": {"literal": {"text": "x"}},
        }
    }
    assert codes(load(tmp_path, project({"a": send(input=message), "done": DONE}))) == []


@pytest.mark.parametrize(
    ("mapping", "errors", "warning"),
    [
        ({"context": "/deadlineAt"}, [], False),
        ({"literal": "2030-01-01T00:00:00Z"}, [], False),
        ({"function": "same", "arguments": []}, ["function.arity"], False),
        ({"input": "/id"}, [], True),
        ({"literal": "tomorrow"}, ["mapping.type"], False),
        ({"literal": 4}, ["mapping.type"], False),
    ],
)
def test_an_instant_must_be_one(
    tmp_path: Path, mapping: Any, errors: list[str], warning: bool
) -> None:
    steps = {"a": step("wait-until", waitUntil=mapping, next="done"), "done": DONE}
    result = load(tmp_path, project(steps))
    assert codes(result) == errors
    assert ("mapping.instant" in codes(result, warnings=True)) is warning


def choose(mapping: Any, *labels: str) -> dict[str, Any]:
    """A project that chooses by a mapping among labels that all lead to the end."""
    cases = dict.fromkeys(labels, "done")
    return project(
        {"a": step("choose", choose=mapping, cases=cases), "done": DONE},
        input={
            "type": "object",
            "required": ["word", "count"],
            "properties": {"word": {"enum": ["x", "y"]}, "count": {"type": "integer"}},
        },
    )


def test_a_label_without_a_case_is_refused(tmp_path: Path) -> None:
    result = load(tmp_path, choose({"input": "/word"}, "x"))
    assert only(result).code == "coordinator.mapping.missing-case"
    assert "`y`" in only(result).message


def test_a_case_that_is_never_taken_is_a_warning(tmp_path: Path) -> None:
    result = load(tmp_path, choose({"input": "/word"}, "x", "y", "z"))
    assert codes(result) == []
    assert "mapping.unused-case" in codes(result, warnings=True)


def test_a_label_must_be_text(tmp_path: Path) -> None:
    assert codes(load(tmp_path, choose({"input": "/count"}, "x"))) == ["mapping.type"]


def test_the_label_of_a_choose_can_be_read_later(tmp_path: Path) -> None:
    document = choose({"input": "/word"}, "x", "y")
    document["steps"]["done"] = {**DONE, "output": {"step": "a"}}
    document["outcomes"] = {"done": {"enum": ["x", "y"]}}
    assert codes(load(tmp_path, document)) == []
    document["outcomes"] = {"done": {"enum": ["x"]}}
    assert codes(load(tmp_path, document)) == ["mapping.type"]


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"$ref": "#"}, "/input/$ref"),
        (
            {"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#"}}}},
            "/input/anyOf/0/$ref",
        ),
        ({"$ref": "#/$defs/none"}, "/input/$ref"),
        ({"$ref": "#none"}, "/input/$ref"),
        ({"properties": {"a": {"$dynamicRef": "#x"}}}, "/input/properties/a/$dynamicRef"),
        ({"pattern": "("}, "/input/pattern"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "/input/$schema"),
    ],
)
def test_a_schema_that_can_not_judge_a_value_is_refused(
    tmp_path: Path, schema: Any, pointer: str
) -> None:
    steps = {"a": read(input={"literal": {"collection": "a", "recordId": "b"}}), "done": DONE}
    result = load(tmp_path, project(steps, input=schema))
    found = {(one.code, one.spot.pointer) for one in result.errors}
    assert ("coordinator.definition.schema", pointer) in found


def test_a_schema_may_refer_to_itself_inside_a_value(tmp_path: Path) -> None:
    tree = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string"}, "$ref": {"$ref": "#"}, "more": {"$ref": "#"}},
    }
    assert codes(load(tmp_path, project({"a": read(), "done": DONE}, input=tree))) == []
