"""Shapes never say more than their schemas: checked against values that a validator judges."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from adapter.authoring.check.fit import misfits
from adapter.authoring.check.members import Presence, member
from adapter.authoring.check.shapes import either, of_schema, of_value

NAMES = ("a", "b", "0")
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
SCALARS = (None, True, False, 0, 1, 2.0, 1.5, "", "a", "2030-01-01")
SEEDS = range(12)
PAIRS = 60


def some_value(chance: random.Random, depth: int = 0) -> Any:
    """A small JSON value, more often an object than not."""
    kind = chance.random()
    if depth > 2 or kind < 0.3:
        return chance.choice(SCALARS)
    if kind < 0.5:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(3))]
    names = chance.sample(NAMES, chance.randrange(4))
    return {name: some_value(chance, depth + 1) for name in names}


def some_schema(chance: random.Random, depth: int = 0) -> Any:
    """A small schema with every keyword that shapes read, and some that they do not."""
    if depth > 2 or chance.random() < 0.15:
        return chance.choice([True, True, False, {}])

    def inner() -> Any:
        return some_schema(chance, depth + 1)

    keywords: dict[str, Any] = {
        "type": lambda: chance.sample(TYPES, chance.randint(1, 4)),
        "properties": lambda: {name: inner() for name in chance.sample(NAMES, 2)},
        "required": lambda: chance.sample(NAMES, chance.randint(0, 2)),
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": lambda: [inner()],
        "minItems": lambda: chance.randrange(3),
        "anyOf": lambda: [inner(), inner()],
        "oneOf": lambda: [inner(), inner()],
        "allOf": lambda: [inner()],
        "not": inner,
        "enum": lambda: [some_value(chance), some_value(chance)],
        "minLength": lambda: chance.randrange(2),
        "$ref": lambda: "#/$defs/x",
        "patternProperties": lambda: {"^a": inner()},
        "unevaluatedProperties": lambda: False,
    }
    return {name: keywords[name]() for name in chance.sample(list(keywords), chance.randint(1, 3))}


def judged(chance: random.Random) -> Iterator[tuple[Any, Any]]:
    """Pairs of a schema and a value that fits it."""
    for _ in range(PAIRS):
        schema = some_schema(chance)
        if not isinstance(schema, dict):
            continue
        schema["$defs"] = {"x": {"type": chance.sample(TYPES, 3)}}
        validator = Draft202012Validator(schema)
        for value in (some_value(chance) for _ in range(6)):
            if validator.is_valid(value):
                yield schema, value


def resolves(value: Any, name: str) -> bool:
    """True when the value has a member or item of this name."""
    if isinstance(value, dict):
        return name in value
    return isinstance(value, list) and name.isdigit() and int(name) < len(value)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_value_that_fits_a_schema_is_never_called_a_misfit(seed: int) -> None:
    for schema, value in judged(random.Random(seed)):
        assert misfits(of_value(value), of_schema(schema)) == [], (schema, value)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_said_of_a_member_holds_of_every_value(seed: int) -> None:
    for schema, value in judged(random.Random(seed)):
        for name in NAMES:
            found = member(of_schema(schema), f"/{name}")
            there = resolves(value, name)
            assert found.presence is not Presence.SURE or there, (schema, value, name)
            assert found.presence is not Presence.MISSING or not there, (schema, value, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_value_of_a_member_fits_its_shape(seed: int) -> None:
    for schema, value in judged(random.Random(seed)):
        for name in NAMES:
            if resolves(value, name):
                inner = value[name] if isinstance(value, dict) else value[int(name)]
                shape = member(of_schema(schema), f"/{name}").shape
                assert misfits(of_value(inner), shape) == [], (schema, value, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_of_two_shapes_takes_the_values_of_both(seed: int) -> None:
    chance = random.Random(seed)
    pairs = list(judged(chance))
    for (one, value), (other, _) in zip(pairs, reversed(pairs), strict=True):
        shape = either([of_schema(other), of_schema(one)])
        assert misfits(of_value(value), shape) == [], (one, other, value)
