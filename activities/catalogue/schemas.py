"""JSON Schemas of operations: what is accepted as one, and the compiled validators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from activities.catalogue.references import SchemaFault, reference_faults
from interpreter.contract.schemas import validator
from interpreter.contract.values import JsonValue

DEEPEST_SCHEMA = 32
KNOWN_FORMATS = frozenset(
    {
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
        "uuid",
    }
)
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
# Under these keywords the keys are names that the author chose, not keywords.
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_VALUES = frozenset({"const", "enum", "default", "examples", "example"})


def pointer_of(parts: Iterator[Any] | list[Any]) -> str:
    """The JSON pointer (RFC 6901) of a path of keys and positions."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def schema_faults(schema: JsonValue) -> list[SchemaFault]:
    """Everything that keeps a value from being a schema of an operation; empty when it is one.

    Accepted are objects and booleans of draft 2020-12, at most 32 deep, whose references stay
    inside (``#…``) and come to an end, without ``$id``, with known formats only: nothing is ever
    fetched.
    """
    if not isinstance(schema, dict | bool):
        return [SchemaFault("", "a schema is an object or a boolean", "write an object")]
    faults = list(_own_faults(schema, [], 0))
    if faults:
        return faults
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        pointer = pointer_of(list(error.absolute_path))
        remedy = "write a schema of draft 2020-12"
        return [SchemaFault(pointer, "not a valid schema of draft 2020-12", remedy)]
    return reference_faults(schema)


def _own_faults(schema: JsonValue, path: list[Any], depth: int) -> Iterator[SchemaFault]:
    if depth > DEEPEST_SCHEMA:
        yield SchemaFault(pointer_of(path), "the schema is nested too deep", "at most 32 levels")
        return
    if isinstance(schema, list):
        for position, item in enumerate(schema):
            yield from _own_faults(item, [*path, position], depth + 1)
        return
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        here = [*path, key]
        if key == "$id":
            yield SchemaFault(pointer_of(here), "$id is not accepted", "remove it")
        elif key in _REFERENCES and not (isinstance(value, str) and value.startswith("#")):
            yield SchemaFault(pointer_of(here), "a reference leaves the schema", "start it with #")
        elif key == "format" and value not in KNOWN_FORMATS:
            known = ", ".join(sorted(KNOWN_FORMATS))
            yield SchemaFault(pointer_of(here), "unknown format", f"use one of {known}")
        elif key in _NAMED and isinstance(value, dict):
            for name, inner in value.items():
                yield from _own_faults(inner, [*here, name], depth + 2)
        elif key not in _VALUES:
            yield from _own_faults(value, here, depth + 1)


Check = Callable[[JsonValue], str | None]
"""Gives None for a value that fits, else the JSON pointer of the first misfit."""


def compile_check(schema: JsonValue) -> Check:
    """A check of values against an accepted schema, formats asserted.

    The pointer never holds a value of the data, only names and positions on the way to it.
    """
    compiled = validator(schema)

    def check(value: JsonValue) -> str | None:
        error: ValidationError | None = next(compiled.iter_errors(value), None)
        return None if error is None else pointer_of(list(error.absolute_path)) or "/"

    return check
