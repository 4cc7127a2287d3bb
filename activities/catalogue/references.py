"""References inside a schema: that they lead somewhere, and never round in a circle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from activities.yaml.sources import child_pointer
from interpreter.contract.values import JsonValue

_REFERENCES = ("$ref", "$dynamicRef")
# These judge the same value again; every other keyword goes into the value and so comes to an end.
_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_NAMES = ("dependentSchemas",)
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_NO_SCHEMA = ("const", "enum", "default", "examples")


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """Why a schema is not accepted: JSON pointer inside it, what is wrong, what to do."""

    pointer: str
    message: str
    remedy: str


def reference_faults(schema: JsonValue) -> list[SchemaFault]:
    """Dangling references and references that never come to an end, each at its keyword."""
    resource: Resource[JsonValue] = DRAFT202012.create_resource(schema)
    resolver = Registry[JsonValue]().with_resource("", resource).resolver()
    targets: dict[int, list[JsonValue]] = {}
    faults = []
    for pointer, parent, keyword in _references(schema, "", False):
        try:
            target = resolver.lookup(str(parent[keyword])).contents
        except (Unresolvable, ValueError, TypeError, LookupError):
            remedy = "name a place in `$defs`"
            faults.append(SchemaFault(pointer, "the reference leads nowhere", remedy))
            continue
        targets.setdefault(id(parent), []).append(target)
    for pointer, parent, _ in _references(schema, "", False):
        if _comes_back(parent, targets):
            remedy = "let the reference go into a property or an item"
            faults.append(SchemaFault(pointer, "the reference never comes to an end", remedy))
    return faults


def _references(
    value: JsonValue, at: str, names: bool
) -> Iterator[tuple[str, dict[str, JsonValue], str]]:
    """Pointer, schema and keyword of every reference; ``names``: the keys are no keywords."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, child_pointer(at, index), False)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        below = child_pointer(at, key)
        if not names and key in _REFERENCES and isinstance(inner, str):
            yield below, value, key
        elif names or key not in _NO_SCHEMA:
            yield from _references(inner, below, not names and key in _NAMED)


def _comes_back(start: dict[str, JsonValue], targets: dict[int, list[JsonValue]]) -> bool:
    """True when judging a value by ``start`` judges the same value by ``start`` again."""
    seen: set[int] = set()
    waiting = list(_again(start, targets))
    while waiting:
        schema = waiting.pop()
        if schema is start:
            return True
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            waiting += _again(schema, targets)
    return False


def _again(
    schema: dict[str, JsonValue], targets: dict[int, list[JsonValue]]
) -> Iterator[JsonValue]:
    """The schemas that judge the same value as this one."""
    yield from targets.get(id(schema), ())
    for keyword in _SAME_VALUE:
        if keyword in schema:
            yield schema[keyword]
    for keyword in _SAME_VALUE_LISTS:
        if isinstance(schema.get(keyword), list):
            yield from schema[keyword]
    for keyword in _SAME_VALUE_NAMES:
        if isinstance(schema.get(keyword), dict):
            yield from schema[keyword].values()
