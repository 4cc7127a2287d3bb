"""JSON values to values of the language and back (contract 3.3)."""

from __future__ import annotations

from interpreter.language.errors import EvaluationError
from interpreter.language.values import (
    INT_MAX,
    INT_MIN,
    Character,
    JsonValue,
    Value,
    full_type_name,
)

_MAXIMUM_NESTING = 128
"""Nesting that JSON readers accept; deeper values are refused instead of overflowing a stack."""


def from_json(value: JsonValue, depth: int = 0) -> Value:
    """A JSON value as a value of the language, sharing nothing with it.

    An integer beyond 64 bits becomes a float. Raises EvaluationError ``input`` for what is no JSON
    value: a number that is not finite, a key that is no string, half a surrogate pair.
    """
    kind = type(value)
    if kind is dict or kind is list:
        if depth > _MAXIMUM_NESTING:
            raise EvaluationError("input", "an argument is nested too deeply")
        if kind is list:
            return [item if _is_plain(item) else from_json(item, depth + 1) for item in value]
        return {
            name if type(name) is str and name.isascii() else _name(name): item
            if _is_plain(item)
            else from_json(item, depth + 1)
            for name, item in value.items()
        }
    if value is None or kind is bool:
        return value
    if kind is str:
        return _checked(value)
    if kind is int:
        return value if INT_MIN <= value <= INT_MAX else _wide(value)
    if kind is float:
        if value - value != 0.0:
            raise EvaluationError("input", "an argument is a number that is not finite")
        return value
    return _subclass(value, depth)


def _is_plain(value: JsonValue) -> bool:
    """Whether a value is one of the many that need neither a check nor a copy."""
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    if kind is int:
        return bool(INT_MIN <= value <= INT_MAX)
    return value is None or kind is bool


def _subclass(value: JsonValue, depth: int) -> Value:
    """A value of a class made from a JSON type, as that type."""
    if isinstance(value, list | tuple):
        return from_json(list(value), depth)
    if isinstance(value, dict):
        return from_json(dict(value), depth)
    if isinstance(value, str):
        return _checked(str(value))
    if isinstance(value, int):
        return from_json(int(value))
    if isinstance(value, float):
        return from_json(float(value))
    raise EvaluationError("input", "an argument is no JSON value")


def _wide(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise EvaluationError("input", "an argument is a number that is too large") from None


def _checked(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise EvaluationError("input", "a text of an argument is no Unicode text") from None
    return text


def _name(name: JsonValue) -> str:
    if not isinstance(name, str):
        raise EvaluationError("input", "the name of a member of an argument is no text")
    return _checked(str(name))


def to_json(value: Value) -> JsonValue:
    """A value of the language as JSON, the members of objects in the order of their names.

    A character becomes a string, a number that is not finite becomes null. Raises EvaluationError
    ``output`` for a range, a stream or a function pointer.
    """
    try:
        return _json(value)
    except TypeError:
        raise EvaluationError(
            "output", "the value of a function is no JSON value", type_name=full_type_name(value)
        ) from None


def _json(value: Value) -> JsonValue:
    """The same; raises TypeError for what JSON does not have."""
    kind = type(value)
    if kind is str or kind is int or value is None or kind is bool:
        return value
    if kind is dict:
        return {name: _json(value[name]) for name in sorted(value)}
    if kind is list:
        return [_json(item) for item in value]
    if kind is float:
        return value if value - value == 0.0 else None
    if kind is Character:
        return str(value)
    raise TypeError
