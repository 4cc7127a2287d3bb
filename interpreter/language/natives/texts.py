"""Native functions that turn values into text, and those on characters."""

from __future__ import annotations

from typing import Any

from interpreter.language.natives.registry import ANY, native
from interpreter.language.text import debug_depth, script_debug, script_text
from interpreter.language.values import Character, FunctionPointer, Value

_UNIT = type(None)


@native("to_string", types=(ANY,), is_method=True)
@native("to_string", types=(list,), is_method=True)
@native("to_string", types=(dict,), is_method=True)
@native("to_string", types=(str,))
@native("to_string", types=(Character,))
@native("to_string", types=(bool,))
@native("to_string", types=(_UNIT,))
@native("to_string", types=(float,))
def to_string(run: Any, place: int, value: Value) -> str:
    """A value as text."""
    if type(value) in (list, dict):
        run.ended_with(debug_depth(value))
    return script_text(value)


@native("to_debug", types=(ANY,), is_method=True)
@native("to_debug", types=(list,), is_method=True)
@native("to_debug", types=(dict,), is_method=True)
@native("to_debug", types=(FunctionPointer,), is_method=True)
@native("to_debug", types=(str,))
@native("to_debug", types=(Character,))
@native("to_debug", types=(bool,))
@native("to_debug", types=(_UNIT,))
@native("to_debug", types=(float,))
def to_debug(run: Any, place: int, value: Value) -> str:
    """A value as text that shows its type."""
    if type(value) in (list, dict):
        run.ended_with(debug_depth(value))
    return script_debug(value)


def _unsigned(value: int) -> int:
    return value & (2**64 - 1)


@native("to_hex", types=(int,))
def to_hex(run: Any, place: int, value: int) -> str:
    """The 64 bits in base 16."""
    return f"{_unsigned(value):x}"


@native("to_octal", types=(int,))
def to_octal(run: Any, place: int, value: int) -> str:
    """The 64 bits in base 8."""
    return f"{_unsigned(value):o}"


@native("to_binary", types=(int,))
def to_binary(run: Any, place: int, value: int) -> str:
    """The 64 bits in base 2."""
    return f"{_unsigned(value):b}"


@native("to_int", types=(Character,))
def to_int(run: Any, place: int, value: str) -> int:
    """The number of a character."""
    return ord(value)
