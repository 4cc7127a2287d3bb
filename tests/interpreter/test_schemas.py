"""A value that does not fit is told by place and rule, and never by itself."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.contract.schemas import Misfit, first_misfit, validator


@pytest.mark.parametrize(
    ("schema", "value", "pointer", "rule"),
    [
        ({"minLength": 3}, "xy", "", "minLength 3"),
        ({"properties": {"a": {"maximum": 1.5}}}, {"a": 7}, "/a", "maximum 1.5"),
        ({"required": ["a", "b"]}, {"a": 1}, "", "required b"),
        ({"dependentRequired": {"a": ["b", "c"]}}, {"a": 1, "c": 1}, "", "dependentRequired b"),
        ({"items": {"type": "string"}}, ["x", 7], "/1", "type string"),
        ({"type": ["string", "null"]}, 7, "", "type string or null"),
        ({"format": "date"}, "canary", "", "format date"),
        ({"uniqueItems": True}, ["canary", "canary"], "", "uniqueItems"),
        ({"additionalProperties": False}, {"canary": 1}, "", "additionalProperties"),
        ({"pattern": "^[A-Z]+$"}, "canary", "", "pattern"),
        ({"enum": ["secret-of-the-author"]}, "canary", "", "enum"),
        ({"const": "secret-of-the-author"}, "canary", "", "const"),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, "canary", "", "anyOf"),
        ({"properties": {"a/b~": {"type": "null"}}}, {"a/b~": "canary"}, "/a~1b~0", "type null"),
        (False, "canary", "", "nothing fits here"),
    ],
)
def test_a_misfit_names_its_place_and_the_rule_that_is_broken(
    schema: Any, value: Any, pointer: str, rule: str
) -> None:
    assert first_misfit(validator(schema), value) == Misfit(pointer, rule)


def test_what_fits_has_no_misfit() -> None:
    assert first_misfit(validator({"minLength": 3}), "xyz") is None
