"""Native functions on ranges, and those that walk through numbers, characters and bits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interpreter.language.failures import arithmetic, in_function, out_of_bounds
from interpreter.language.natives.registry import native
from interpreter.language.places import NOWHERE
from interpreter.language.values import (
    INT_BITS,
    INT_MAX,
    INT_MIN,
    BitStream,
    Character,
    CharacterStream,
    ExclusiveRange,
    FloatStepRange,
    InclusiveRange,
    StepRange,
    Value,
    copy_value,
)


def offset_and_length(size: int, start: int, length: int) -> tuple[int, int]:
    """A part of a container of ``size`` items, cut to what is there; from the end if negative."""
    if start < 0:
        start = max(size + start, 0)
    elif start >= size:
        return size, 0
    return start, max(min(length, size - start), 0)


def bounds(part: ExclusiveRange | InclusiveRange) -> tuple[int, int]:
    """Start and length of a range, for functions that take both."""
    start = max(part.start, 0)
    if type(part) is ExclusiveRange:
        return start, max(part.end, start) - start
    return start, min(max(part.end, start), INT_MAX - 1) - start + 1


def inner_bounds(part: ExclusiveRange | InclusiveRange) -> tuple[int, int]:
    """Start and length of a range, where an inclusive range may be empty too."""
    start = max(part.start, 0)
    if type(part) is ExclusiveRange:
        return start, max(part.end, start) - start
    return start, min(max(part.end, start - 1), INT_MAX - 1) - start + 1


def walk(value: Value) -> Iterable[Value] | None:
    """The values that a ``for`` loop over a value sees, or None for a type it can not walk."""
    kind = type(value)
    if kind is list:
        return copy_value(value)  # type: ignore[no-any-return]
    if kind is str:
        return map(Character, value)
    if kind is CharacterStream:
        return map(Character, value.text)
    if kind is ExclusiveRange or kind is InclusiveRange:
        return value.numbers()  # type: ignore[no-any-return]
    if kind is StepRange or kind is FloatStepRange:
        return _steps(value)
    if kind is BitStream:
        return (bool(value.bits >> bit & 1) for bit in range(value.length))
    return None


def _steps(value: StepRange | FloatStepRange) -> Iterable[Value]:
    number = value.start
    direction = value.direction
    while direction:
        following = number + value.step
        if type(following) is int and not INT_MIN <= following <= INT_MAX:
            return
        if following >= value.end if direction > 0 else following <= value.end:
            direction = 0
        yield number
        number = following


@native("range", types=(int, int))
def number_range(run: Any, place: int, start: int, end: int) -> ExclusiveRange:
    """``start..end``"""
    return ExclusiveRange(start, end)


@native("range", types=(int, int, int))
def step_range(run: Any, place: int, start: int, end: int, step: int) -> StepRange:
    """Integers, ``step`` apart."""
    following = start + step
    overflows = not INT_MIN <= following <= INT_MAX
    direction = 0 if overflows else _direction(start, end, following)
    return StepRange(start, end, step, direction)


@native("range", types=(ExclusiveRange, int))
def stepped(run: Any, place: int, part: ExclusiveRange, step: int) -> StepRange:
    """Every ``step``-th integer of a range."""
    return step_range(run, place, part.start, part.end, step)  # type: ignore[no-any-return]


@native("range", types=(float, float, float))
def float_step_range(run: Any, place: int, start: float, end: float, step: float) -> FloatStepRange:
    """Floats, ``step`` apart."""
    return FloatStepRange(start, end, step, _direction(start, end, start + step))


def _direction(start: float, end: float, following: float) -> int:
    if following == start:
        raise in_function("range", arithmetic("step value cannot be zero"), NOWHERE)
    if start < end and following > start:
        return 1
    return -1 if start > end and following < start else 0


@native("start", "get$start", types=(ExclusiveRange,), is_method=True)
@native("start", "get$start", types=(InclusiveRange,), is_method=True)
def start_of(run: Any, place: int, part: ExclusiveRange) -> int:
    """Where a range begins."""
    return part.start


@native("end", "get$end", types=(ExclusiveRange,), is_method=True)
@native("end", "get$end", types=(InclusiveRange,), is_method=True)
def end_of(run: Any, place: int, part: ExclusiveRange) -> int:
    """Where a range ends."""
    return part.end


@native("is_inclusive", "get$is_inclusive", types=(ExclusiveRange,), is_method=True)
@native("is_inclusive", "get$is_inclusive", types=(InclusiveRange,), is_method=True)
def is_inclusive(run: Any, place: int, part: Value) -> bool:
    """Whether the end belongs to a range."""
    return type(part) is InclusiveRange


@native("is_exclusive", "get$is_exclusive", types=(ExclusiveRange,), is_method=True)
@native("is_exclusive", "get$is_exclusive", types=(InclusiveRange,), is_method=True)
def is_exclusive(run: Any, place: int, part: Value) -> bool:
    """Whether the end does not belong to a range."""
    return type(part) is ExclusiveRange


@native("is_empty", "get$is_empty", types=(ExclusiveRange,), is_method=True)
@native("is_empty", "get$is_empty", types=(InclusiveRange,), is_method=True)
def is_empty(run: Any, place: int, part: ExclusiveRange) -> bool:
    """Whether a range holds no integer."""
    return part.is_empty()


@native("contains", types=(ExclusiveRange, int), is_method=True, is_pure=False)
@native("contains", types=(InclusiveRange, int), is_method=True, is_pure=False)
def contains(run: Any, place: int, part: ExclusiveRange, number: int) -> bool:
    """Whether an integer lies in a range."""
    return part.holds(number)


def _characters(text: str, start: int, length: int) -> CharacterStream:
    if length <= 0:
        return CharacterStream("")
    if start < 0:
        start = max(len(text) + start, 0)
    return CharacterStream(text[start : start + length])


@native("chars", "get$chars", types=(str,))
def characters(run: Any, place: int, text: str) -> CharacterStream:
    """The characters of a string."""
    return CharacterStream(text)


@native("chars", types=(str, int))
def characters_from(run: Any, place: int, text: str, start: int) -> CharacterStream:
    """The characters from a position on."""
    return _characters(text, start, INT_MAX)


@native("chars", types=(str, int, int))
def characters_part(run: Any, place: int, text: str, start: int, length: int) -> CharacterStream:
    """A number of characters from a position on."""
    return _characters(text, start, length)


@native("chars", types=(str, ExclusiveRange))
@native("chars", types=(str, InclusiveRange))
def characters_range(run: Any, place: int, text: str, part: ExclusiveRange) -> CharacterStream:
    """The characters in a range of positions."""
    return _characters(text, *inner_bounds(part))


@native("bits", types=(int, int, int))
def bits(run: Any, place: int, number: int, start: int, length: int) -> BitStream:
    """A number of bits of an integer."""
    first = start + INT_BITS if start < 0 else start
    if not 0 <= first < INT_BITS:
        raise out_of_bounds("BitField", INT_BITS, start)
    return BitStream(number >> first, max(min(length, INT_BITS - first), 0))


@native("bits", "get$bits", types=(int,))
def all_bits(run: Any, place: int, number: int) -> BitStream:
    """The bits of an integer, lowest first."""
    return BitStream(number, INT_BITS)


@native("bits", types=(int, int))
def bits_from(run: Any, place: int, number: int, start: int) -> BitStream:
    """The bits of an integer from a position on."""
    return bits(run, place, number, start, INT_MAX)  # type: ignore[no-any-return]


@native("bits", types=(int, ExclusiveRange))
@native("bits", types=(int, InclusiveRange))
def bits_range(run: Any, place: int, number: int, part: ExclusiveRange) -> BitStream:
    """The bits in a range of positions."""
    return bits(run, place, number, *inner_bounds(part))  # type: ignore[no-any-return]
