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


def check_bounds(value: JsonValue) -> None:
    """Check a JSON value against the bounds.

    At most 32 levels below the root, 4,096 values, 256 items or members in an array or object,
    16,384 bytes in a string or member name, 131,072 bytes of canonical JSON (RFC 8785).
    Raises ValueLimit for the first bound that is broken.
    """
    nodes = 0
    pending: list[tuple[JsonValue, int]] = [(value, 0)]
    while pending:
        item, depth = pending.pop()
        nodes += 1
        if nodes > MAXIMUM_NODES:
            raise ValueLimit(f"a value holds more than {MAXIMUM_NODES} values")
        if depth > MAXIMUM_DEPTH:
            raise ValueLimit(f"a value is nested more than {MAXIMUM_DEPTH} levels deep")
        if isinstance(item, str):
            _check_text(item)
        elif isinstance(item, list | tuple | dict):
            if len(item) > MAXIMUM_MEMBERS:
                raise ValueLimit(f"an array or object has more than {MAXIMUM_MEMBERS} members")
            inner = item
            if isinstance(item, dict):
                for name in item:
                    _check_text(name)
                inner = list(item.values())
            pending.extend((child, depth + 1) for child in inner)
    try:
        size = len(rfc8785.dumps(value))
    except rfc8785.CanonicalizationError:
        raise ValueLimit("a value has no canonical JSON form") from None
    if size > MAXIMUM_CANONICAL:
        raise ValueLimit(f"a value takes more than {MAXIMUM_CANONICAL} bytes of canonical JSON")


def _check_text(text: str) -> None:
    if len(text) > MAXIMUM_TEXT or byte_length(text) > MAXIMUM_TEXT:
        raise ValueLimit(f"a string or member name has more than {MAXIMUM_TEXT} bytes")
