"""Native functions on numbers and booleans."""

from __future__ import annotations

from typing import Any

from interpreter.language.failures import arithmetic
from interpreter.language.natives.registry import native
from interpreter.language.values import INT_MIN, Value


@native("is_zero", "get$is_zero", types=(int,))
@native("is_zero", "get$is_zero", types=(float,))
def is_zero(run: Any, place: int, x: float) -> bool:
    """Whether a number is zero."""
    return x == 0


@native("is_odd", "get$is_odd", types=(int,))
def is_odd(run: Any, place: int, x: int) -> bool:
    """Whether an integer is odd."""
    return x % 2 != 0


@native("is_even", "get$is_even", types=(int,))
def is_even(run: Any, place: int, x: int) -> bool:
    """Whether an integer is even."""
    return x % 2 == 0


@native("-", types=(int,))
def negated(run: Any, place: int, x: int) -> int:
    """The negative of an integer."""
    if x == INT_MIN:
        raise arithmetic(f"Negation overflow: -{x}")
    return -x


@native("-", types=(float,))
def negated_float(run: Any, place: int, x: float) -> float:
    """The negative of a float."""
    return -x


@native("+", types=(int,))
@native("+", types=(float,))
def unchanged(run: Any, place: int, x: Value) -> Value:
    """The number itself."""
    return x


@native("abs", types=(int,))
def absolute(run: Any, place: int, x: int) -> int:
    """The size of an integer."""
    if x == INT_MIN:
        raise arithmetic(f"Negation overflow: -{x}")
    return abs(x)


@native("abs", types=(float,))
def absolute_float(run: Any, place: int, x: float) -> float:
    """The size of a float."""
    return abs(x)


@native("sign", types=(int,))
def sign(run: Any, place: int, x: int) -> int:
    """-1, 0 or 1."""
    return (x > 0) - (x < 0)


@native("sign", types=(float,))
def sign_float(run: Any, place: int, x: float) -> int:
    """-1, 0 or 1."""
    if x != x:
        raise arithmetic("Sign of NaN is undefined")
    return (x > 0) - (x < 0)


@native("!", types=(bool,))
def inverted(run: Any, place: int, x: bool) -> bool:
    """The other boolean."""
    return not x


@native("max", types=(int, int))
def largest(run: Any, place: int, x: int, y: int) -> int:
    """The larger of two integers."""
    return x if x >= y else y


@native("min", types=(int, int))
def smallest(run: Any, place: int, x: int, y: int) -> int:
    """The smaller of two integers."""
    return x if x <= y else y


@native("max", types=(float, float))
@native("max", types=(int, float))
@native("max", types=(float, int))
def largest_float(run: Any, place: int, x: float, y: float) -> float:
    """The larger of two numbers, as a float."""
    x, y = float(x), float(y)
    return x if x >= y else y


@native("min", types=(float, float))
@native("min", types=(int, float))
@native("min", types=(float, int))
def smallest_float(run: Any, place: int, x: float, y: float) -> float:
    """The smaller of two numbers, as a float."""
    x, y = float(x), float(y)
    return x if x <= y else y
