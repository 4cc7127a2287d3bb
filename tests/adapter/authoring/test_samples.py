"""Values made up from schemas: whatever some value fits, a value is found for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from activities.catalogue import Catalogue
from adapter.authoring.samples import NoSample, generate, variants
from interpreter.contract.schemas import validator

_TEXTS = st.text("abcxyz019-", max_size=8)
_NUMBERS = st.integers(-50, 50) | st.sampled_from([-1.5, 0.25, 2.5])
_SCALARS = st.none() | st.booleans() | _NUMBERS | _TEXTS
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def _around(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    """A schema that ``value`` fits: so there is one."""
    kind = draw(st.sampled_from(["plain", "enum", "anyOf", "oneOf", "allOf", "not", "if", "$ref"]))
    if depth > 3 or kind == "plain":
        return draw(_plain(value, depth))
    if kind == "enum":
        return {"enum": [value, *draw(st.lists(_SCALARS, max_size=2))]}
    if kind == "oneOf":
        return {"oneOf": [draw(_plain(value, depth + 1)), False]}
    if kind == "not":
        return draw(_plain(value, depth)) | {"not": {"const": ["another"]}}
    if kind == "if":
        other = draw(_around(value, depth + 1))
        return {"if": draw(_plain(value, depth + 1)), "then": other, "else": False}
    if kind == "$ref":
        return {"$ref": "#/$defs/shared", "$defs": {"shared": draw(_plain(value, depth + 1))}}
    both = [draw(_around(value, depth + 1)), draw(_around(value, depth + 1))]
    return {kind: both}


@st.composite
def _plain(draw: st.DrawFn, value: Any, depth: int) -> Any:
    match value:
        case None | bool():
            return {"type": "null" if value is None else "boolean"}
        case int() | float():
            low, high = draw(st.integers(0, 9)), draw(st.integers(0, 9))
            return {"type": "number", "minimum": value - low, "maximum": value + high}
        case str():
            spare = draw(st.integers(0, 3))
            bounds = {"minLength": max(len(value) - spare, 0), "maxLength": len(value) + spare}
            pattern = draw(st.sampled_from(["^[a-z0-9-]*$", "[^ ]*", "^(?:[abcxyz019]|-)*$"]))
            return {"type": "string", **bounds} | draw(st.sampled_from([{}, {"pattern": pattern}]))
        case list():
            most = len(value) + draw(st.integers(0, 2))
            items = {"anyOf": [draw(_plain(one, depth + 1)) for one in value]} if value else {}
            return {"type": "array", "items": items, "minItems": len(value), "maxItems": most}
        case _:
            named = {name: draw(_plain(one, depth + 1)) for name, one in value.items()}
            closed = draw(st.sampled_from([{}, {"additionalProperties": False}]))
            return {"type": "object", "properties": named, "required": list(value), **closed}


def _rooted(schema: Any) -> Any:
    """The same with every ``$defs`` at the root, under a name of its own."""
    shared: dict[str, Any] = {}

    def moved(part: Any) -> Any:
        if isinstance(part, list):
            return [moved(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$defs" in part and "$ref" in part:
            name = f"part{len(shared)}"
            shared[name] = None
            shared[name] = moved(part["$defs"]["shared"])
            return {"$ref": f"#/$defs/{name}"}
        return {key: moved(one) for key, one in part.items()}

    found = moved(schema)
    return {"allOf": [found], "$defs": shared}


@settings(
    max_examples=100, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
@given(st.data())
def test_a_schema_that_some_value_fits_gives_a_value_that_fits(data: st.DataObject) -> None:
    value = data.draw(_VALUES)
    schema = _rooted(data.draw(_around(value)))
    assert validator(schema).is_valid(value)
    assert validator(schema).is_valid(generate(schema, "seed"))


@pytest.mark.parametrize("id", [one.id for one in Catalogue.standard().contracts()])
@pytest.mark.parametrize("seed", ["one", "two", "three"])
def test_every_schema_of_the_catalogue_gives_a_value(id: str, seed: str) -> None:
    contract = Catalogue.standard().find(id).contract
    schemas = [contract.request, contract.response]
    schemas += [one.value_schema for one in contract.completions.values()]
    for schema in schemas:
        assert validator(schema).is_valid(generate(schema, seed))


def test_the_same_seed_gives_the_same_value_and_another_one_another() -> None:
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    assert generate(schema, "a") == generate(schema, "a")
    assert generate(schema, "a") != generate(schema, "b")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": name, "minLength": 1}
        for name in ("date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6")
    ]
    + [
        {"type": "string", "format": name}
        for name in ("uri", "uri-reference", "uuid", "json-pointer", "regex")
    ],
)
def test_every_known_format_is_met(schema: Any) -> None:
    assert validator(schema).is_valid(generate(schema, "x"))


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z][a-z0-9-]{0,63}$",
        r"^\+[1-9][0-9]{1,14}$",
        r"^(?:AB|CD)-\d{4}(-[XYZ])?$",
        r"^sha256:[0-9a-f]{64}$",
        r"^[^\s@]+@[^\s@]+\.[a-z]{2,}$",
        r"\S",
        r"^\u0041\x42\.\/$",
    ],
)
def test_simple_patterns_are_met(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    assert validator(schema).is_valid(generate(schema, "x"))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "multipleOf": 7, "minimum": 100, "exclusiveMaximum": 106},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "array", "uniqueItems": True, "minItems": 3, "items": {"enum": [1, 2, 3]}},
        {"type": "array", "prefixItems": [{"const": 1}, {"type": "null"}], "items": False},
        {"type": "array", "contains": {"const": "x"}, "minContains": 2},
        {"type": "object", "minProperties": 3, "propertyNames": {"pattern": "^k[0-9]$"}},
        {"type": "object", "patternProperties": {"^n": {"type": "null"}}, "minProperties": 1}
        | {"additionalProperties": False},
        {"required": ["a"], "dependentRequired": {"a": ["b"]}},
        {"required": ["a"], "dependentSchemas": {"a": {"required": ["c"]}}},
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"properties": {"next": {"$ref": "#"}}}}},
        {"type": "string", "not": {"enum": ["a"]}},
        {"enum": [1, "a", None], "type": ["string", "null"]},
    ],
    ids=json.dumps,
)
def test_keywords_are_met(schema: Any) -> None:
    assert validator(schema).is_valid(generate(schema, "x"))


def test_what_a_schema_leaves_open_comes_from_the_example() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}, "data": {}}}
    example = {"id": "theirs", "data": {"name": "Ada"}, "more": 1}
    made = generate(schema, "x", example)
    assert (made["data"], made["more"]) == ({"name": "Ada"}, 1)
    assert made["id"] != "theirs"


@pytest.mark.parametrize("schema", [False, {"type": "string", "minLength": 3, "maxLength": 2}])
def test_a_schema_that_nothing_fits_gives_one_clear_error(schema: Any) -> None:
    with pytest.raises(NoSample):
        generate(schema, "x")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 40},
        {"type": "string", "format": "date-time"},
        {"type": "integer", "minimum": 3, "maximum": 9},
        {"type": "number", "exclusiveMaximum": -4},
        {"type": ["null", "string"]},
        {"enum": ["a", "b"]},
        {"type": "array", "minItems": 2, "items": {"const": 1}},
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/x"}}}
        | {"$defs": {"x": {"type": "boolean"}}},
        {"type": "object", "minProperties": 2, "properties": {"a": {"type": "string"}}},
        {"allOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
        {"oneOf": [{"type": "string", "maxLength": 0}, {"type": "null"}]},
        {"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["x"]}}
        | {"type": "object", "required": ["k"], "properties": {"k": {"enum": [1, 2]}}},
    ],
)
def test_every_variant_fits_its_schema(schema: Any) -> None:
    found = list(variants(schema))
    assert found
    assert all(validator(schema).is_valid(value) for value in found)


def test_variants_go_through_every_alternative() -> None:
    schema = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": {"enum": [1, 2]}, "b": {"type": "boolean"}},
    }
    found = [(one["a"], one["b"]) for one in variants(schema)]
    assert found == [(1, False), (1, True), (2, False), (2, True)]
