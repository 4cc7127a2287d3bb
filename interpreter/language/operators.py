"""The built-in operators: what each does for each pair of types, and the errors it raises.

``binary(symbol, left, right)`` finds the operation for two values, or None when the engine has no
built-in one and looks for a registered function instead. Errors carry no place.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TypeAlias

from interpreter.language.failures import arithmetic, too_large
from interpreter.language.values import (
    INT_MAX,
    INT_MIN,
    MAXIMUM_STRING,
    Character,
    ExclusiveRange,
    InclusiveRange,
    Value,
    byte_length,
)

Operation: TypeAlias = Callable[[Value, Value], Value]

_EPSILON = 2.0**-52
_MAXIMUM_SHIFT = 2**32 - 1


# Integers -----------------------------------------------------------------------------------


def add(x: int, y: int) -> int:
    """Sum of two integers."""
    result = x + y
    if INT_MIN <= result <= INT_MAX:
        return result
    raise arithmetic(f"Addition overflow: {x} + {y}")


def subtract(x: int, y: int) -> int:
    """Difference of two integers."""
    result = x - y
    if INT_MIN <= result <= INT_MAX:
        return result
    raise arithmetic(f"Subtraction overflow: {x} - {y}")


def multiply(x: int, y: int) -> int:
    """Product of two integers."""
    result = x * y
    if INT_MIN <= result <= INT_MAX:
        return result
    raise arithmetic(f"Multiplication overflow: {x} * {y}")


def divide(x: int, y: int) -> int:
    """Quotient of two integers, rounded towards zero."""
    if y == 0:
        raise arithmetic(f"Division by zero: {x} / {y}")
    if x == INT_MIN and y == -1:
        raise arithmetic(f"Division overflow: {x} / {y}")
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def modulo(x: int, y: int) -> int:
    """Remainder of two integers, with the sign of the first."""
    if y == 0 or (x == INT_MIN and y == -1):
        raise arithmetic(f"Modulo division by zero or overflow: {x} % {y}")
    remainder = abs(x) % abs(y)
    return remainder if x >= 0 else -remainder


def power(x: int, y: int) -> int:
    """An integer raised to a power of zero or more."""
    if y > _MAXIMUM_SHIFT:
        raise arithmetic(f"Exponential overflow: {x} ** {y}")
    if y < 0:
        raise arithmetic(f"Integer raised to a negative power: {x} ** {y}")
    if x in (0, 1, -1):
        return x if y % 2 or x == 1 else 1 if not y or x else 0
    # A base of two or more leaves 64 bits at the 64th power at the latest.
    result: int = x ** min(y, 64)
    if not INT_MIN <= result <= INT_MAX:
        raise arithmetic(f"Exponential overflow: {x} ** {y}")
    return result


def _wrapped(number: int) -> int:
    number &= 2**64 - 1
    return number - 2**64 if number >= 2**63 else number


def shift_left(x: int, y: int) -> int:
    """Bits moved up; a negative count moves down, 64 or more leaves nothing."""
    if y < 0:
        return shift_right(x, min(-y, INT_MAX))
    return 0 if y >= 64 else _wrapped(x << y)


def shift_right(x: int, y: int) -> int:
    """Bits moved down, keeping the sign; a negative count moves up."""
    if y < 0:
        return shift_left(x, min(-y, INT_MAX))
    return x >> min(y, 63)


# Floats -------------------------------------------------------------------------------------


def _divide_floats(x: float, y: float) -> float:
    if y != 0.0:
        return x / y
    if x == 0.0 or x != x or y != y:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _modulo_floats(x: float, y: float) -> float:
    if y == 0.0 or math.isinf(x) or x != x or y != y:
        return math.nan
    return math.fmod(x, y)


def _power_floats(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = y == math.floor(y) and math.fmod(y, 2.0) != 0.0
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:
        if x == 0.0:
            odd = y == math.floor(y) and math.fmod(y, 2.0) != 0.0
            return math.copysign(math.inf, x) if odd else math.inf
        return math.nan


def _scale(x: float, y: float) -> float:
    """What a difference is measured by; 0 for a NaN beside a zero, which then counts as equal."""
    if x * y == 0.0:
        return 1.0
    x, y = abs(x), abs(y)
    # A NaN gives way to the other number.
    return y if x != x else x if y != y else max(x, y)


def _near(x: float, y: float) -> bool:
    scale = _scale(x, y)
    return scale == 0.0 or abs(x - y) / scale <= _EPSILON


def _far(x: float, y: float) -> bool:
    scale = _scale(x, y)
    return scale != 0.0 and abs(x - y) / scale > _EPSILON


def _above(x: float, y: float) -> bool:
    scale = _scale(x, y)
    return scale != 0.0 and (x - y) / scale > _EPSILON


def _at_least(x: float, y: float) -> bool:
    scale = _scale(x, y)
    return scale == 0.0 or (x - y) / scale > -_EPSILON


def _as_floats(operation: Operation) -> Operation:
    return lambda x, y: operation(float(x), float(y))


# Texts --------------------------------------------------------------------------------------


def _join(x: str, y: str) -> str:
    text = str.__add__(x, y)
    if byte_length(text) > MAXIMUM_STRING:
        raise too_large("Length of string")
    return text


def _without(x: str, y: str) -> str:
    if not y:
        return x
    return x.replace(y, "") if x else y


def _without_character(x: str, y: str) -> str:
    return x.replace(str(y), "")


def _two_signs(text: str) -> str:
    # A string against a character is compared by its first two characters only.
    return str(text[:2])


def _compare_signs(operation: Operation) -> Operation:
    return lambda x, y: operation(_two_signs(x), _two_signs(y))


def _plain(operation: Operation) -> Operation:
    return lambda x, y: operation(str(x), str(y))


# Tables -------------------------------------------------------------------------------------

_COMPARISONS: dict[str, Operation] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}

_INTEGERS: dict[str, Operation] = {
    **_COMPARISONS,
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "**": power,
    "<<": shift_left,
    ">>": shift_right,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "..": ExclusiveRange,
    "..=": InclusiveRange,
}

_BOOLEANS: dict[str, Operation] = {
    **_COMPARISONS,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}

_FLOATS: dict[str, Operation] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide_floats,
    "%": _modulo_floats,
    "**": _power_floats,
    "==": _near,
    "!=": _far,
    ">": _above,
    ">=": _at_least,
    "<": lambda x, y: _above(y, x),
    "<=": lambda x, y: _at_least(y, x),
}

_NUMBERS = {symbol: _as_floats(operation) for symbol, operation in _FLOATS.items()}
_STRINGS: dict[str, Operation] = {**_COMPARISONS, "+": _join, "-": _without}
_CHARACTERS = {
    **{symbol: _plain(operation) for symbol, operation in _COMPARISONS.items()},
    "+": _join,
}
_MIXED_TEXTS = {symbol: _compare_signs(operation) for symbol, operation in _COMPARISONS.items()}
_UNITS: dict[str, Operation] = {
    symbol: (lambda x, y: True) if symbol == "==" else (lambda x, y: False)
    for symbol in _COMPARISONS
}
_DIFFERENT: dict[str, Operation] = {
    symbol: (lambda x, y: True) if symbol == "!=" else (lambda x, y: False)
    for symbol in _COMPARISONS
}
_SAME_RANGES: dict[str, Operation] = {"==": operator.eq, "!=": operator.ne}

_UNIT = type(None)
_BINARY: dict[tuple[type, type], dict[str, Operation]] = {
    (int, int): _INTEGERS,
    (bool, bool): _BOOLEANS,
    (float, float): _FLOATS,
    (float, int): _NUMBERS,
    (int, float): _NUMBERS,
    (str, str): _STRINGS,
    (Character, Character): _CHARACTERS,
    (Character, str): {**_MIXED_TEXTS, "+": _join},
    (str, Character): {**_MIXED_TEXTS, "+": _join, "-": _without_character},
    (_UNIT, _UNIT): _UNITS,
    (_UNIT, str): {**_DIFFERENT, "+": lambda x, y: y},
    (str, _UNIT): {**_DIFFERENT, "+": lambda x, y: x},
    (int, _UNIT): {
        **_DIFFERENT,
        "..": lambda x, y: ExclusiveRange(x, INT_MAX),
        "..=": lambda x, y: InclusiveRange(x, INT_MAX),
    },
    (_UNIT, int): {
        **_DIFFERENT,
        "..": lambda x, y: ExclusiveRange(0, y),
        "..=": lambda x, y: InclusiveRange(0, y),
    },
    (ExclusiveRange, ExclusiveRange): _SAME_RANGES,
    (InclusiveRange, InclusiveRange): _SAME_RANGES,
    (ExclusiveRange, InclusiveRange): {"!=": lambda x, y: True},
    (InclusiveRange, ExclusiveRange): {"!=": lambda x, y: True},
}
_NONE: dict[str, Operation] = {}


def operations(left: type, right: type) -> dict[str, Operation]:
    """The built-in operators for a pair of types, by symbol."""
    found = _BINARY.get((left, right))
    if found is not None:
        return found
    return _NONE if left is right else _DIFFERENT


def binary(symbol: str, left: Value, right: Value) -> Operation | None:
    """The built-in operation for two values, or None."""
    return operations(type(left), type(right)).get(symbol)


def by_types(symbol: str) -> dict[tuple[type, type], Operation | None]:
    """One operator for each pair of types that has operators of its own; None where it has not."""
    return {types: table.get(symbol) for types, table in _BINARY.items()}


def between_types(symbol: str) -> Operation | None:
    """One operator for a pair of different types that has no operators of its own."""
    return _DIFFERENT.get(symbol)


# Compound assignments of one value to another that give a new value. An array, the only value
# that is changed in place, is handled where assignments are.
_COMPOUND: dict[tuple[type, type], dict[str, Operation]] = {
    (int, int): {f"{symbol}=": _INTEGERS[symbol] for symbol in "+ - * / % ** << >> & | ^".split()},
    (bool, bool): {f"{symbol}=": _BOOLEANS[symbol] for symbol in "&|^"},
    (float, float): {f"{symbol}=": _FLOATS[symbol] for symbol in "+ - * / % **".split()},
    (float, int): {f"{symbol}=": _NUMBERS[symbol] for symbol in "+ - * / % **".split()},
    (Character, Character): {"+=": lambda x, y: str.__add__(x, y)},
    (Character, str): {"+=": lambda x, y: _join(x, y) if y else x},
    (str, str): {"+=": lambda x, y: _join(x, y) if x and y else x or y, "-=": _without},
    (str, Character): {"+=": _join, "-=": _without_character},
}


def compound(symbol: str, left: Value, right: Value) -> Operation | None:
    """The built-in compound assignment for two values, or None."""
    return _COMPOUND.get((type(left), type(right)), _NONE).get(symbol)
