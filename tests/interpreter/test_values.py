"""Values of JSON: how deep they are is told alike on every Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interpreter.contract.values import DEEPEST_JSON, JsonValue, canonical_bytes, nested_deeper


def _nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for level in range(levels):
        value = [value] if level % 2 else {"inner": value}
    return value


@pytest.mark.parametrize(("levels", "deeper"), [(0, False), (3, False), (4, True), (60_000, True)])
def test_levels_below_the_root_are_counted_without_recursion(levels: int, deeper: bool) -> None:
    text = b"[" * levels + b"1" + b"]" * levels
    assert nested_deeper(text, _nested(levels), 3) is deeper


class _Unseen(list[JsonValue]):
    def __iter__(self) -> Iterator[JsonValue]:
        raise AssertionError("looked at")


def test_a_text_with_too_few_brackets_is_told_by_its_text_alone() -> None:
    assert not nested_deeper(b'{"a": [[1]]}', _Unseen([1]), 3)
    with pytest.raises(AssertionError):
        nested_deeper(b'{"a": [[{}]]}', _Unseen([1]), 3)


def test_the_deepest_value_from_outside_has_a_canonical_form() -> None:
    assert canonical_bytes(_nested(DEEPEST_JSON))
