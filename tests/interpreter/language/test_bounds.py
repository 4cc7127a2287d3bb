"""The bounds of contract 3.3, at their last good and first bad value."""

from __future__ import annotations

import pytest

from interpreter.language import JsonValue, ValueLimit, check_bounds


def nested(depth: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (nested(32), nested(33)),
        ([1] * 256, [1] * 257),
        ({str(i): 1 for i in range(256)}, {str(i): 1 for i in range(257)}),
        ([[1] * 256] * 15 + [[1] * 238], [[1] * 256] * 15 + [[1] * 240]),
        ("é" * 8_192, "é" * 8_193),
        ({"k" * 16_384: 1}, {"k" * 16_385: 1}),
        (["x" * 16_381] * 7 + ["x" * 16_376], ["x" * 16_381] * 8),
    ],
)
def test_the_last_value_within_a_bound_passes_and_the_next_does_not(
    good: JsonValue, bad: JsonValue
) -> None:
    check_bounds(good)
    with pytest.raises(ValueLimit):
        check_bounds(bad)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**60, [2**53 + 1]])
def test_a_value_without_canonical_json_is_refused(value: JsonValue) -> None:
    with pytest.raises(ValueLimit):
        check_bounds(value)


def test_a_very_deep_value_is_refused_without_overflow() -> None:
    with pytest.raises(ValueLimit):
        check_bounds(nested(100_000))


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, ["a", "x\udc00"], object(), {1, 2}])
def test_a_value_that_no_json_text_holds_is_refused(value: JsonValue) -> None:
    with pytest.raises(ValueLimit):
        check_bounds(value)


def test_escapes_count_for_the_canonical_size() -> None:
    check_bounds(["\x01" * 16_000])
    with pytest.raises(ValueLimit):
        check_bounds(["\x01" * 16_000, "\x01" * 16_000])
