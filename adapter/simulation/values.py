"""Replies made up from contracts: with what is known already, and valid whatever happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from activities.catalogue.schemas import compile_check
from adapter.authoring.samples import NoSample, generate
from interpreter.contract.operations import Condition
from interpreter.contract.values import JsonValue

ABSENT: Any = object()


def made(
    schema: JsonValue,
    seed: str,
    *,
    example: JsonValue = ABSENT,
    wishes: Mapping[str, JsonValue] | None = None,
    rules: tuple[JsonValue, ...] = (),
) -> JsonValue:
    """A value that fits ``schema`` and ``rules``; NoSample if there is none.

    ``wishes`` are values for declared members at the top, which are kept where they fit.
    """
    declared = _declared(schema)
    hoped = {name: {"const": v} for name, v in (wishes or {}).items() if name in declared}
    attempts: list[tuple[JsonValue, ...]] = [rules]
    if hoped:
        attempts.insert(0, (*rules, {"properties": hoped}))
        attempts[1:1] = [(*rules, {"properties": {name: hoped[name]}}) for name in hoped]
    for extra in attempts:
        try:
            return _made(_narrowed(schema, extra), seed, example)
        except NoSample:
            continue
    raise NoSample


def _made(schema: JsonValue, seed: str, example: JsonValue) -> JsonValue:
    return generate(schema, seed) if example is ABSENT else generate(schema, seed, example)


def _narrowed(schema: JsonValue, rules: tuple[JsonValue, ...]) -> JsonValue:
    """The schema with more to hold; it stays the root that its references start from."""
    if not rules:
        return schema
    if not isinstance(schema, dict):
        return {"allOf": [schema, *rules]}
    return {**schema, "allOf": [*schema.get("allOf", ()), *rules]}


def _declared(schema: JsonValue) -> set[str]:
    """The members that a schema declares at the top, also behind a reference."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema.get("properties", {}))
    reference = schema.get("$ref", "")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        found |= _declared(schema.get("$defs", {}).get(reference.removeprefix("#/$defs/")))
    return found


def completed_by(schema: JsonValue, seed: str, value: JsonValue) -> JsonValue:
    """A written value as a reply: itself if it fits, else with what it lacks made up."""
    if compile_check(schema)(value) is None:
        return value
    try:
        filled = made(schema, seed, example=value)
    except NoSample:
        return value
    merged = _over(filled, value)
    return merged if compile_check(schema)(merged) is None else value


def _over(below: JsonValue, above: JsonValue) -> JsonValue:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    shared = {name: _over(below[name], above[name]) for name in below.keys() & above.keys()}
    return {**below, **above, **shared}


def at(pointer: str, schema: JsonValue) -> JsonValue:
    """A schema that asks for a member at a JSON pointer and tells what it has to be."""
    for token in reversed(pointer.split("/")[1:]):
        name = token.replace("~1", "/").replace("~0", "~")
        schema = {"type": "object", "required": [name], "properties": {name: schema}}
    return schema


def none_of(*conditions: Condition | None) -> JsonValue:
    """A schema of values for which none of the conditions holds."""
    rules = [
        at(one.path, {"not": {"enum": list(one.values)}}) for one in conditions if one is not None
    ]
    return {"allOf": rules}


def member(value: JsonValue, pointer: str) -> JsonValue:
    """The member at a JSON pointer of objects, ``ABSENT`` if there is none."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if not isinstance(value, dict) or name not in value:
            return ABSENT
        value = value[name]
    return value


def echoes(input: JsonValue) -> dict[str, JsonValue]:
    """The scalars of an input by name, where the name is not used twice."""
    found = list(_scalars(input))
    counted = Counter(name for name, _ in found)
    return {name: value for name, value in found if counted[name] == 1}


def _scalars(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str | int | float):
                yield name, inner
            else:
                yield from _scalars(inner)
