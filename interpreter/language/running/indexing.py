"""Indexes into arrays, maps, strings and the bits of integers, as places to read and assign."""

from __future__ import annotations

from collections.abc import Callable

from interpreter.language.failures import no_indexer, out_of_bounds, wrong_type
from interpreter.language.running.run import Place, Run, temporary
from interpreter.language.text import display
from interpreter.language.values import (
    INT_BITS,
    INT_MAX,
    Character,
    ExclusiveRange,
    InclusiveRange,
    Value,
    full_type_name,
    type_name,
)


def item_at(
    run: Run,
    place: Place,
    index: Value,
    index_place: int,
    operator_place: int,
    *,
    adds: bool,
    asks_indexer: bool,
) -> Place:
    """The place of an item. ``adds`` makes a missing property of a map.

    ``asks_indexer``: for a type without items the engine looks for a registered indexer first.
    """
    run.n += 1
    holder = place.holder[place.key]
    kind = type(holder)
    if kind is list:
        at = _array_index(holder, index, index_place)
        return Place(holder, at, is_reference=True, read_only=place.read_only)
    if kind is dict:
        if type(index) is not str:
            raise wrong_type("string", full_type_name(index), index_place)
        if index not in holder:
            if not adds:
                return temporary(None)
            holder[index] = None
            if place.read_only:
                run.loosen(holder, index)
        read_only = place.read_only and not run.is_loose(holder, index)
        return Place(holder, index, is_reference=True, read_only=read_only)
    if kind is int:
        return _bits(place, holder, index, index_place)
    if kind is str:
        return _text(place, holder, index, index_place)
    if asks_indexer:
        run.n += 1
    raise no_indexer(f"{type_name(holder)} [{type_name(index)}]", operator_place)


def _array_index(array: list[Value], index: Value, place: int) -> int:
    if type(index) is not int:
        raise wrong_type("i64", full_type_name(index), place)
    size = len(array)
    if not -size <= index < size:
        raise out_of_bounds("Array", size, index, place)
    return index + size if index < 0 else index


# Bits -----------------------------------------------------------------------------------------


def _bits(place: Place, number: int, index: Value, index_place: int) -> Place:
    if isinstance(index, ExclusiveRange | InclusiveRange):
        start, mask = _bit_field(index, index_place)
        value = (number & mask) >> start
        return _part(place, value, lambda new, at: _with_field(number, new, start, mask, at))
    if type(index) is not int:
        raise wrong_type("i64", full_type_name(index), index_place)
    if not -INT_BITS <= index < INT_BITS:
        raise out_of_bounds("BitField", INT_BITS, index, index_place)
    bit = index % INT_BITS
    return _part(place, bool(number >> bit & 1), lambda new, at: _with_bit(number, new, bit, at))


def _bit_field(part: ExclusiveRange | InclusiveRange, place: int) -> tuple[int, int]:
    """First bit and mask of a range of bits."""
    inclusive = type(part) is InclusiveRange
    start, end = part.start, part.end
    if end == INT_MAX:
        end = INT_BITS - 1 if inclusive else INT_BITS
    if not 0 <= start < INT_BITS:
        raise out_of_bounds("BitField", INT_BITS, start, place)
    if not 0 <= end <= INT_BITS - inclusive:
        raise out_of_bounds("BitField", INT_BITS, end, place)
    count = end - start + inclusive
    if count <= 0:
        return 0, 0
    if count == INT_BITS:
        return 0, -1
    return start, _signed(((1 << count) - 1) << start)


def _signed(number: int) -> int:
    number &= 2**64 - 1
    return number - 2**64 if number >= 2**63 else number


def _with_bit(number: int, new: Value, bit: int, place: int) -> int:
    if type(new) is not bool:
        raise wrong_type("bool", full_type_name(new), place)
    return _signed(number | 1 << bit) if new else _signed(number & ~(1 << bit))


def _with_field(number: int, new: Value, start: int, mask: int, place: int) -> int:
    if type(new) is not int:
        raise wrong_type("integer", full_type_name(new), place)
    return (number & ~mask) | (_signed(new << start) & mask)


def _part(whole: Place, value: Value, written: Callable[[Value, int], Value]) -> Place:
    """A part of a number or string, written back to the whole when it is assigned to."""
    part = temporary(value)

    def propagate(place: int) -> None:
        whole.holder[whole.key] = written(part.holder[0], place)

    part.propagate = propagate
    return part


# Strings --------------------------------------------------------------------------------------


def _text(place: Place, text: str, index: Value, index_place: int) -> Place:
    if type(index) is int:
        size = len(text)
        if not -size <= index < size:
            raise out_of_bounds("String", size, index, index_place)
        # Writing through a negative index changes the character that far from the start.
        at = abs(index)
        return _part(
            place, Character(text[index]), lambda new, where: _with_sign(text, new, at, where)
        )
    if isinstance(index, ExclusiveRange | InclusiveRange):
        start, end = _slice_bounds(text, index, index_place)
        inclusive = type(index) is InclusiveRange and bool(text)
        value = _slice(text, start, end, inclusive)
        return _part(place, value, lambda new, where: _with_slice(text, new, start, end, inclusive))
    raise wrong_type("i64", full_type_name(index), index_place)


def _slice_bounds(text: str, part: ExclusiveRange | InclusiveRange, place: int) -> tuple[int, int]:
    size = len(text)
    start, end = part.start, part.end
    if not size:
        return 0, 0
    if start < 0:
        if -start > size:
            raise out_of_bounds("String", size, start, place)
        start += size
    if end < 0:
        end = max(end + size, 0) if -end <= size else 0
    return start, end


def _slice(text: str, start: int, end: int, inclusive: bool) -> str:
    if start == 0 and end >= len(text) - inclusive:
        return text
    if inclusive:
        # A range of one character is taken for an empty one.
        return text[start : end + 1] if end > start else ""
    return text[start:end] if end > start else ""


def _with_sign(text: str, new: Value, at: int, place: int) -> str:
    if type(new) is not Character:
        raise wrong_type("char", full_type_name(new), place)
    return text[:at] + str(new) + text[at + 1 :] if at < len(text) else text


def _with_slice(text: str, new: Value, start: int, end: int, inclusive: bool) -> str:
    size = len(text)
    after = min(end, size - 1) + 1 if inclusive else min(end, size)
    return text[:start] + display(new) + (text[after:] if size else "")
