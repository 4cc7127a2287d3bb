"""Values of JSON: how deep they are is told alike on every Python."""

from __future__ import annotations

import pytest

from interpreter.contract.values import DEEPEST_JSON, JsonValue, canonical_bytes, nested_deeper


def _nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for level in range(levels):
        value = [value] if level % 2 else {"inner": value}
    return value


@pytest.mark.parametrize(("levels", "deeper"), [(0, False), (3, False), (4, True), (60_000, True)])
def test_levels_below_the_root_are_counted_without_recursion(levels: int, deeper: bool) -> None:
    assert nested_deeper(_nested(levels), 3) is deeper


def test_the_deepest_value_from_outside_has_a_canonical_form() -> None:
    assert canonical_bytes(_nested(DEEPEST_JSON))
