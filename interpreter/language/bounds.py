"""The bounds of every JSON value that goes into a function or comes out (contract 3.3)."""

from __future__ import annotations

import rfc8785

from interpreter.language.errors import ValueLimit
from interpreter.language.values import JsonValue, byte_length

MAXIMUM_DEPTH = 32
MAXIMUM_NODES = 4_096
MAXIMUM_MEMBERS = 256
MAXIMUM_TEXT = 16_384
MAXIMUM_CANONICAL = 131_072

_LARGEST_INTEGER = 2**53 - 1
_LONGEST_NUMBER = 25
_LONGEST_WORD = len("false")
_LONGEST_ESCAPE = len("\\u001f")
_NO_CANONICAL_FORM = "a value has no canonical JSON form"


def check_bounds(value: JsonValue) -> None:
    """Check a JSON value against the bounds.

    At most 32 levels below the root, 4,096 values, 256 items or members in an array or object,
    16,384 bytes in a string or member name, 131,072 bytes of canonical JSON (RFC 8785).
    Raises ValueLimit for the first bound that is broken.
    """
    level: list[JsonValue] = [value]
    nodes, size = 1, 0
    for _ in range(MAXIMUM_DEPTH + 1):
        below: list[JsonValue] = []
        for item in level:
            size += _most_bytes(item, below)
            if nodes + len(below) > MAXIMUM_NODES:
                raise ValueLimit(f"a value holds more than {MAXIMUM_NODES} values")
        if not below:
            break
        nodes += len(below)
        level = below
    else:
        raise ValueLimit(f"a value is nested more than {MAXIMUM_DEPTH} levels deep")
    # Writing the canonical form takes longer than everything before, and mostly it is not needed.
    if size > MAXIMUM_CANONICAL and _canonical_size(value) > MAXIMUM_CANONICAL:
        raise ValueLimit(f"a value takes more than {MAXIMUM_CANONICAL} bytes of canonical JSON")


def _most_bytes(item: JsonValue, below: list[JsonValue]) -> int:
    """How many bytes a value takes at most, those inside it apart, which are added to ``below``."""
    kind = type(item)
    if kind is str:
        return _most_of_text(item)
    if kind is int:
        if not -_LARGEST_INTEGER <= item <= _LARGEST_INTEGER:
            raise ValueLimit(_NO_CANONICAL_FORM)
        return _LONGEST_NUMBER
    if kind is dict or kind is list:
        if len(item) > MAXIMUM_MEMBERS:
            raise ValueLimit(f"an array or object has more than {MAXIMUM_MEMBERS} members")
        if kind is list:
            below.extend(item)
            return 2 + len(item)
        below.extend(item.values())
        return 2 + 2 * len(item) + sum(map(_most_of_text, item))
    if item is None or kind is bool:
        return _LONGEST_WORD
    return _most_of_another(item, below)


def _most_of_another(item: JsonValue, below: list[JsonValue]) -> int:
    """The same for floats and for classes made from JSON types."""
    plain: JsonValue
    for base, plain in ((str, str), (int, int), (dict, dict), (list, list), (tuple, list)):
        if isinstance(item, base):
            return _most_bytes(plain(item), below)
    if not isinstance(item, float) or item - item != 0.0:
        raise ValueLimit(_NO_CANONICAL_FORM)
    return _LONGEST_NUMBER


def _most_of_text(text: str) -> int:
    if text.isascii() and len(text) <= MAXIMUM_TEXT:
        return 2 + _LONGEST_ESCAPE * len(text)
    try:
        if len(text) > MAXIMUM_TEXT or byte_length(text) > MAXIMUM_TEXT:
            raise ValueLimit(f"a string or member name has more than {MAXIMUM_TEXT} bytes")
    except UnicodeEncodeError:
        raise ValueLimit(_NO_CANONICAL_FORM) from None
    return 2 + _LONGEST_ESCAPE * len(text)


def _canonical_size(value: JsonValue) -> int:
    try:
        return len(rfc8785.dumps(value))
    except rfc8785.CanonicalizationError:
        raise ValueLimit(_NO_CANONICAL_FORM) from None
