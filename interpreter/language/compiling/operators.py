"""Compiling operators: the fast ways for common types and the way through the tables."""

from __future__ import annotations

from typing import Any

from interpreter.language import operators
from interpreter.language.compiling.code import Code, Step, nested
from interpreter.language.running.run import Frame, call_by_name
from interpreter.language.values import (
    FOREIGN_TYPES,
    INT_MAX,
    INT_MIN,
    Character,
    Value,
    copy_value,
)

_DIRECT = frozenset({int, bool, str, Character})


def binary(symbol: str, name: str, left: Code, right: Code, place: int) -> Code:
    """An operator with two operands. ``name`` is the function behind it (``contains`` for in)."""
    general = _general(symbol, name, place)
    first = left.peek if right.is_quiet else left.run
    maker = _FAST.get(symbol)
    before, between = left.operations, right.operations
    if left.is_safe:
        before, between = before + between, 0
    run = (maker or _plain)(first, between, right.peek, right.constant, general)
    return Code(
        1 + before,
        run,
        frames=nested(left, right),
        is_quiet=left.is_quiet and right.is_quiet and symbol != "!in",
    )


def _general(symbol: str, name: str, place: int) -> Any:
    table = operators.by_types(symbol)
    between = operators.between_types(symbol)
    native_only = name == symbol

    def general(frame: Frame, x: Value, y: Value) -> Value:
        kinds = (type(x), type(y))
        if kinds in table:
            operation = table[kinds]
        else:
            operation = None if kinds[0] is kinds[1] else between
        if operation is not None and FOREIGN_TYPES.isdisjoint(kinds):
            return operation(x, y)
        return call_by_name(
            frame[0],
            name,
            [copy_value(x), copy_value(y)],
            place,
            native_only=native_only,
            operator=symbol,
        )[0]

    return general


def _plain(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        return general(frame, x, right(frame))

    return run


def _add(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    if type(constant) is int:

        def with_constant(frame: Frame) -> Value:
            x = left(frame)
            frame[0].n += operations
            if type(x) is int:
                result = x + constant
                if INT_MIN <= result <= INT_MAX:
                    return result
            return general(frame, x, constant)

        return with_constant

    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        if type(x) is int and type(y) is int:
            result = x + y
            if INT_MIN <= result <= INT_MAX:
                return result
        return general(frame, x, y)

    return run


def _subtract(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        if type(x) is int and type(y) is int:
            result = x - y
            if INT_MIN <= result <= INT_MAX:
                return result
        return general(frame, x, y)

    return run


def _multiply(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        if type(x) is int and type(y) is int:
            result = x * y
            if INT_MIN <= result <= INT_MAX:
                return result
        return general(frame, x, y)

    return run


def _equal(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    if type(constant) in _DIRECT:
        kind = type(constant)

        def with_constant(frame: Frame) -> Value:
            x = left(frame)
            frame[0].n += operations
            if type(x) is kind:
                return x == constant
            return general(frame, x, constant)

        return with_constant

    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        kind = type(x)
        if kind is type(y) and kind in _DIRECT:
            return x == y
        return general(frame, x, y)

    return run


def _unequal(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        kind = type(x)
        if kind is type(y) and kind in _DIRECT:
            return x != y
        return general(frame, x, y)

    return run


def _less(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    if type(constant) is int:

        def with_constant(frame: Frame) -> Value:
            x = left(frame)
            frame[0].n += operations
            return x < constant if type(x) is int else general(frame, x, constant)

        return with_constant

    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x < y
        return general(frame, x, y)

    return run


def _at_most(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x <= y
        return general(frame, x, y)

    return run


def _greater(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x > y
        return general(frame, x, y)

    return run


def _at_least(left: Step, operations: int, right: Step, constant: Value, general: Any) -> Step:
    def run(frame: Frame) -> Value:
        x = left(frame)
        frame[0].n += operations
        y = right(frame)
        if type(x) is int and type(y) is int:
            return x >= y
        return general(frame, x, y)

    return run


_FAST = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "==": _equal,
    "!=": _unequal,
    "<": _less,
    "<=": _at_most,
    ">": _greater,
    ">=": _at_least,
}


def negation(operand: Code, place: int) -> Code:
    """``!operand``"""
    peek = operand.peek

    def run(frame: Frame) -> Value:
        x = peek(frame)
        if x is True:
            return False
        if x is False:
            return True
        return call_by_name(frame[0], "!", [copy_value(x)], place, native_only=True, operator="!")[
            0
        ]

    return Code(1 + operand.operations, run, frames=nested(operand), is_quiet=operand.is_quiet)


def constant_code(value: Value) -> Code:
    """A known value, one operation."""
    if type(value) in (list, dict):
        return Code(
            1,
            lambda frame: copy_value(value),
            peek=lambda frame: value,
            is_quiet=True,
            is_safe=True,
        )
    return Code(1, lambda frame: value, is_quiet=True, is_safe=True, constant=value)
