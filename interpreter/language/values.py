"""The values of the language as Python objects, and what every value can be asked.

| Rhai            | Python                                        |
| --------------- | --------------------------------------------- |
| ``()``          | None                                          |
| bool, i64, f64  | bool, int (kept within 64 bits), float        |
| string, char    | str, Character                                |
| array, map      | list, dict with str keys (iterated by key)    |
| range, range=   | ExclusiveRange, InclusiveRange                |
| stepped range   | StepRange, FloatStepRange                     |
| chars, bits     | CharacterStream, BitStream                    |
| Fn              | FunctionPointer                               |

Arrays and maps are values: whoever keeps one that somebody else may still change copies it.
"""

from __future__ import annotations

import struct
from typing import Any, TypeAlias

Value: TypeAlias = Any
JsonValue: TypeAlias = Any
"""A value as ``json.loads`` gives it: None, bool, int, float, str, list or dict with str keys."""

INT_MAX = 2**63 - 1
INT_MIN = -(2**63)
INT_BITS = 64

MAXIMUM_STRING = 16_384
MAXIMUM_ARRAY = 256
MAXIMUM_MAP = 256


def byte_length(text: str) -> int:
    """Length of a text in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode())


class Character(str):
    """One Unicode scalar value."""

    __slots__ = ()


class _Pair:
    """Two integers; the subclasses say whether the second one belongs to the range."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Pair) or type(other) is not type(self):
            return False
        return (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((type(self), self.start, self.end))


class ExclusiveRange(_Pair):
    """``start..end``"""

    __slots__ = ()

    def holds(self, number: float) -> bool:
        """Whether the number lies within; a fraction may lie between two integers."""
        return self.start <= number < self.end

    def is_empty(self) -> bool:
        """Whether no integer lies within."""
        return self.start >= self.end

    def numbers(self) -> range:
        """Its integers."""
        return range(self.start, self.end)


class InclusiveRange(_Pair):
    """``start..=end``"""

    __slots__ = ()

    def holds(self, number: float) -> bool:
        """Whether the number lies within; a fraction may lie between two integers."""
        return self.start <= number <= self.end

    def is_empty(self) -> bool:
        """Whether no integer lies within."""
        return self.start > self.end

    def numbers(self) -> range:
        """Its integers."""
        return range(self.start, self.end + 1)


class StepRange:
    """Integers from ``start`` towards ``end``, ``step`` apart; ``direction`` 0 holds none."""

    __slots__ = ("direction", "end", "start", "step")

    def __init__(self, start: int, end: int, step: int, direction: int) -> None:
        self.start = start
        self.end = end
        self.step = step
        self.direction = direction


class FloatStepRange:
    """Floats from ``start`` towards ``end``, ``step`` apart; ``direction`` 0 holds none."""

    __slots__ = ("direction", "end", "start", "step")

    def __init__(self, start: float, end: float, step: float, direction: int) -> None:
        self.start = start
        self.end = end
        self.step = step
        self.direction = direction


class CharacterStream:
    """The characters of a part of a string."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class BitStream:
    """``length`` bits of an integer, lowest first."""

    __slots__ = ("bits", "length")

    def __init__(self, bits: int, length: int) -> None:
        self.bits = bits
        self.length = length


class FunctionPointer:
    """The name of a function with the arguments bound to it so far.

    ``arity`` is set when the pointer was made from a function of the source by its bare name.
    ``anchored`` pointers remember where they were made and are no switch cases for that reason.
    """

    __slots__ = ("anchored", "arity", "bound", "name")

    def __init__(
        self,
        name: str,
        bound: tuple[Value, ...] = (),
        *,
        arity: int | None = None,
        anchored: bool = False,
    ) -> None:
        self.name = name
        self.bound = bound
        self.arity = arity
        self.anchored = anchored

    def binding(self, values: list[Value]) -> FunctionPointer:
        """The same pointer with more arguments bound."""
        return FunctionPointer(
            self.name, (*self.bound, *values), arity=self.arity, anchored=self.anchored
        )


_SHORT_NAMES: dict[type, str] = {
    type(None): "()",
    bool: "bool",
    int: "i64",
    float: "f64",
    str: "string",
    Character: "char",
    list: "array",
    dict: "map",
    FunctionPointer: "Fn",
    ExclusiveRange: "range",
    InclusiveRange: "range=",
    StepRange: "range",
    FloatStepRange: "range",
    CharacterStream: "range",
    BitStream: "range",
}

_FULL_NAMES: dict[type, str] = {
    ExclusiveRange: "core::ops::range::Range<i64>",
    InclusiveRange: "core::ops::range::RangeInclusive<i64>",
    StepRange: "rhai::packages::iter_basic::StepRange<i64>",
    FloatStepRange: "rhai::packages::iter_basic::StepRange<f64>",
    CharacterStream: "rhai::packages::iter_basic::CharsStream",
    BitStream: "rhai::packages::iter_basic::BitRange",
}


FOREIGN_TYPES = frozenset(
    {ExclusiveRange, InclusiveRange, StepRange, FloatStepRange, CharacterStream, BitStream}
)
"""Types that are no part of the language itself: the engine looks for functions on them first."""

_ORDER = (
    int, float, ExclusiveRange, FunctionPointer, InclusiveRange, dict, str, list, Character,
    FloatStepRange, type(None), bool, BitStream, CharacterStream, StepRange,
)  # fmt: skip


def type_rank(value: Value) -> int:
    """Where a type stands when values are sorted that can not be compared.

    The engine orders types by identities that its build gives them; this is their order there.
    """
    return _ORDER.index(type(value))


def type_name(value: Value) -> str:
    """What ``type_of`` gives: ``i64``, ``string``, ``range=`` and so on."""
    return _SHORT_NAMES[type(value)]


def full_type_name(value: Value) -> str:
    """The engine's own name of the type, as it stands beside a result."""
    kind = type(value)
    return _FULL_NAMES.get(kind) or _SHORT_NAMES[kind]


def copy_value(value: Value) -> Value:
    """A value that shares no array and no map with the given one."""
    kind = type(value)
    if kind is list:
        return [copy_value(item) if type(item) in (list, dict) else item for item in value]
    if kind is dict:
        return {
            name: copy_value(item) if type(item) in (list, dict) else item
            for name, item in value.items()
        }
    return value


def switch_key(value: Value) -> Any:
    """A hashable stand-in that is equal for values which match the same switch case, or None."""
    kind = type(value)
    if kind is float:
        return (kind, struct.pack("<d", value))
    if kind is list:
        keys = tuple(switch_key(item) for item in value)
        return None if None in keys else (kind, keys)
    if kind is dict:
        keys = tuple((name, switch_key(value[name])) for name in sorted(value))
        return None if any(key is None for _, key in keys) else (kind, keys)
    if kind is FunctionPointer:
        if value.anchored:
            return None
        keys = tuple(switch_key(item) for item in value.bound)
        return None if None in keys else (kind, value.name, keys)
    if kind in (StepRange, FloatStepRange, CharacterStream, BitStream):
        return None
    return (kind, value)


def sizes(value: Value) -> tuple[int, int, int]:
    """Array items, map entries and string bytes in a value, everything inside it counted."""
    kind = type(value)
    if kind is str:
        return 0, 0, byte_length(value)
    if kind is not list and kind is not dict:
        return 0, 0, 0
    items = entries = characters = 0
    pending = [value]
    while pending:
        container = pending.pop()
        if type(container) is list:
            items += len(container)
            inner = container
        else:
            entries += len(container)
            inner = container.values()
        for item in inner:
            kind = type(item)
            if kind is str:
                characters += byte_length(item)
            elif kind is list or kind is dict:
                pending.append(item)
    return items, entries, characters
