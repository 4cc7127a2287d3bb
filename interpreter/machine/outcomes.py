"""Whether a value satisfies a schema of the definition."""

from __future__ import annotations

import json
from functools import lru_cache

from jsonschema import Draft202012Validator

from interpreter.contract.values import JsonValue, canonical_bytes
from interpreter.machine.program import Program


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Draft202012Validator:
    return Draft202012Validator(
        json.loads(schema), format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def fits(schema: JsonValue, value: JsonValue) -> bool:
    """True when the value satisfies a JSON Schema 2020-12; formats are asserted."""
    if schema is True:
        return True
    return _validator(canonical_bytes(schema)).is_valid(value)


def satisfies(program: Program, outcome: str, output: JsonValue) -> bool:
    """True when the output fits the outcome's declared schema."""
    return fits(program.definition.outcomes[outcome], output)
