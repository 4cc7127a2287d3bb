"""Values as text: what ``to_string`` and ``to_debug`` give, and how numbers are written.

Two notations exist. A script sees ``script_text`` and ``script_debug``; messages and constant
parts of back-tick strings use ``display``, with ``native_debug`` for what is inside containers.
"""

from __future__ import annotations

import struct

from interpreter.language.signs import is_hidden
from interpreter.language.values import (
    INT_MAX,
    Character,
    ExclusiveRange,
    FunctionPointer,
    InclusiveRange,
    Value,
    full_type_name,
    type_name,
)


def _single(number: float) -> float:
    single: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return single


# The engine keeps these two bounds in single precision.
_LARGEST_PLAIN = _single(1e13)
_SMALLEST_PLAIN = _single(1e-13)

_ESCAPES = {"\t": "\\t", "\r": "\\r", "\n": "\\n", "\\": "\\\\", "\0": "\\0"}


def _digits(number: float) -> tuple[str, str, int]:
    """Sign, shortest digits and decimal exponent: 1.25e-7 is ("", "125", -7)."""
    mantissa, _, exponent = repr(number).partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    power = int(exponent or 0) + len(whole) - 1
    digits = whole + fraction
    stripped = digits.lstrip("0")
    power -= len(digits) - len(stripped)
    return sign, stripped.rstrip("0") or "0", power


def _scientific(number: float) -> str:
    sign, digits, power = _digits(number)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{power}"


def _positional(number: float) -> str:
    """Decimal digits without an exponent, and ``.0`` for a whole number."""
    sign, digits, power = _digits(number)
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{sign}{whole}.{digits[power + 1 :] or '0'}"


def _is_special(number: float) -> bool:
    return number - number != 0.0


def _special(number: float) -> str:
    if number != number:
        return "NaN"
    return "inf" if number > 0 else "-inf"


def float_text(number: float) -> str:
    """A float as ``to_string`` writes it: ``1.0``, ``0.0`` for minus zero, ``1e300``."""
    if _is_special(number):
        return _special(number)
    size = abs(number)
    if size == 0.0:
        return "0.0"
    if size > _LARGEST_PLAIN or size < _SMALLEST_PLAIN:
        return _scientific(number)
    return _positional(number)


def float_debug(number: float) -> str:
    """A float as ``to_debug`` writes it: ``1.0``, ``-0.0``, ``1e16``, ``1e-5``."""
    if _is_special(number):
        return _special(number)
    size = abs(number)
    if size == 0.0:
        return repr(number)
    if size >= 1e16 or size < 1e-4:
        return _scientific(number)
    return _positional(number)


def string_debug(text: str) -> str:
    """A string between double quotes, with escapes for what would not show."""
    return '"' + "".join(_shown(sign, '"') for sign in text) + '"'


def _shown(sign: str, quote: str) -> str:
    if sign == quote:
        return "\\" + sign
    if " " <= sign <= "~" and sign != "\\":
        return sign
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if is_hidden(sign):
        return f"\\u{{{ord(sign):x}}}"
    return sign


def range_text(value: ExclusiveRange | InclusiveRange) -> str:
    """A range as it is written in source; an open end is left out."""
    symbol = ".." if type(value) is ExclusiveRange else "..="
    end = "" if value.end == INT_MAX else value.end
    return f"{value.start}{symbol}{end}"


def display(value: Value) -> str:
    """A value in a message or in a constant back-tick string."""
    kind = type(value)
    if kind is str or kind is Character:
        return str(value)
    if value is None:
        return ""
    if kind is float:
        return float_text(value)
    if kind is FunctionPointer:
        return f"Fn({value.name})"
    return native_debug(value)


def native_debug(value: Value) -> str:
    """A value inside a container that ``display`` writes."""
    kind = type(value)
    if kind is Character:
        return "'" + _shown(value, "'") + "'"
    if kind is FunctionPointer:
        mark = ("*" if value.arity is not None else "") + ("+" if value.anchored else "")
        bound = "".join(f", {native_debug(item)}" for item in value.bound)
        return f"Fn{mark}({string_debug(value.name)}{bound})"
    if kind is list:
        return "[" + ", ".join(native_debug(item) for item in value) + "]"
    if kind is dict:
        entries = (f"{string_debug(name)}: {native_debug(value[name])}" for name in sorted(value))
        return "#{" + ", ".join(entries) + "}"
    if kind in (bool, int, float, str, ExclusiveRange, InclusiveRange) or value is None:
        return script_debug(value)
    return full_type_name(value)


def script_text(value: Value) -> str:
    """What ``value.to_string()`` and ``${value}`` give."""
    kind = type(value)
    if kind is list or kind is dict:
        return script_debug(value)
    if kind in (int, bool):
        return script_debug(value)
    if kind in (str, Character, float, FunctionPointer) or value is None:
        return display(value)
    return script_debug(value)


def script_debug(value: Value) -> str:
    """What ``value.to_debug()`` gives."""
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if value is None:
        return "()"
    if kind is str:
        return string_debug(value)
    if kind is Character:
        return str(value)
    if kind is float:
        return float_debug(value)
    if kind is list:
        return "[" + ", ".join(script_debug(item) for item in value) + "]"
    if kind is dict:
        entries = (f"{string_debug(name)}: {script_debug(value[name])}" for name in sorted(value))
        return "#{" + ", ".join(entries) + "}"
    if kind is FunctionPointer:
        return f"Fn({value.name})"
    if kind is ExclusiveRange or kind is InclusiveRange:
        return range_text(value)
    return type_name(value)


def debug_depth(value: Value) -> int:
    """How many inner conversions end the conversion of a value: one per nested last item."""
    depth = 0
    while value and type(value) in (list, dict):
        depth += 1
        value = value[-1] if type(value) is list else value[max(value)]
    return depth
