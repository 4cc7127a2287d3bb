"""Several schemas that hold at once, as one: the intersection that a value is made from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

from interpreter.contract.values import JsonValue

Schema: TypeAlias = dict[str, Any]
"""A schema's keywords; keywords that can not be intersected are kept in lists (`PATTERNS` …)."""

PATTERNS, FORMATS, NOTS, CONTAINS = "$patterns", "$formats", "$nots", "$contains"
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

_LISTED = {"pattern": PATTERNS, "format": FORMATS, "not": NOTS}
_LARGEST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_SMALLEST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_SCHEMAS = ("propertyNames", "unevaluatedProperties", "unevaluatedItems")
_MAPS = ("patternProperties", "dependentSchemas")


class Contradiction(Exception):
    """No value can satisfy both schemas."""


def canonical(schema: JsonValue) -> Schema:
    """A schema without ``const``, with one list for what may be there several times."""
    if schema is True:
        return {}
    if schema is False:
        raise Contradiction
    found: Schema = {}
    for key, value in schema.items():
        match key:
            case "const":
                found = intersection(found, {"enum": [value]})
            case "enum":
                found = intersection(found, {"enum": list(value)})
            case "type":
                found["type"] = [value] if isinstance(value, str) else list(value)
            case "pattern" | "format" | "not":
                found[_LISTED[key]] = [value]
            case "contains":
                counts = (schema.get("minContains", 1), schema.get("maxContains"))
                found[CONTAINS] = [(value, *counts)]
            case "minContains" | "maxContains":
                continue
            case _:
                found[key] = value
    return found


def intersection(one: Schema, two: Schema) -> Schema:
    """Both schemas in one; Contradiction where it is plain that nothing satisfies them."""
    merged = {**one, **two}
    for key in one.keys() & two.keys():
        merged[key] = _both(key, one[key], two[key])
    for key in ("items", "additionalProperties"):
        if key in one and key in two:
            merged[key] = both(one[key], two[key])
    if "properties" in merged:
        merged["properties"] = _properties(one, two)
    if "prefixItems" in merged:
        merged["prefixItems"] = _prefix(one, two)
    return merged


def both(one: JsonValue, two: JsonValue) -> JsonValue:
    """Two raw schemas as one raw schema."""
    if one is True or one == two:
        return two
    if two is True:
        return one
    return False if one is False or two is False else {"allOf": [one, two]}


def _both(key: str, one: Any, two: Any) -> Any:
    if key == "type":
        return _common_types(one, two)
    if key == "enum":
        return _common_values(one, two)
    if key == "multipleOf":
        return _common_multiple(one, two)
    if key == "required":
        return [*one, *(name for name in two if name not in one)]
    if key == "uniqueItems":
        return one or two
    if key in _LARGEST:
        return max(one, two)
    if key in _SMALLEST:
        return min(one, two)
    if key in _SCHEMAS:
        return both(one, two)
    if key in _MAPS:
        return _joined(one, two)
    if key in (PATTERNS, FORMATS, NOTS, CONTAINS):
        return [*one, *(item for item in two if item not in one)]
    if key == "dependentRequired":
        names = {**one, **two}
        return {name: [*one.get(name, ()), *two.get(name, ())] for name in names}
    return two


def _joined(one: Schema, two: Schema) -> Schema:
    shared = {name: both(one[name], two[name]) for name in one.keys() & two.keys()}
    return {**one, **two, **shared}


def _common_types(one: list[str], two: list[str]) -> list[str]:
    common = [name for name in TYPES if _allows(one, name) and _allows(two, name)]
    if "number" in common and "integer" in common:
        common.remove("integer")
    if not common:
        raise Contradiction
    return common


def _allows(types: Iterable[str], name: str) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _common_values(one: list[JsonValue], two: list[JsonValue]) -> list[JsonValue]:
    common = [value for value in one if any(same(value, other) for other in two)]
    if not common:
        raise Contradiction
    return common


def same(one: JsonValue, two: JsonValue) -> bool:
    """Equality of JSON Schema: numbers by value, and true is not 1."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[name], two[name]) for name in one)
    return bool(one == two)


def _common_multiple(one: float, two: float) -> float:
    if isinstance(one, int) and isinstance(two, int):
        return math.lcm(one, two)
    return max(one, two)


def member_schema(schema: Schema, name: str) -> JsonValue:
    """What a schema says about a member of this name, patterns of names left aside."""
    properties = schema.get("properties", {})
    if name in properties:
        return properties[name]
    return schema.get("additionalProperties", True)


def _properties(one: Schema, two: Schema) -> Schema:
    """A member has to fit on both sides, also where one of them does not name it."""
    names = {**one.get("properties", {}), **two.get("properties", {})}
    return {name: both(member_schema(one, name), member_schema(two, name)) for name in names}


def _prefix(one: Schema, two: Schema) -> list[JsonValue]:
    left, right = one.get("prefixItems", []), two.get("prefixItems", [])
    found = []
    for position in range(max(len(left), len(right))):
        first = left[position] if position < len(left) else one.get("items", True)
        second = right[position] if position < len(right) else two.get("items", True)
        found.append(both(first, second))
    return found
