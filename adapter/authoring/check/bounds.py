"""The size of one JSON value that functions and steps pass on (contract 3.3)."""

from __future__ import annotations

from interpreter.contract.values import JsonValue

DEEPEST_VALUE = 32
MOST_NODES = 4_096
MOST_MEMBERS = 256
LONGEST_TEXT_BYTES = 16_384


def beyond_bounds(value: JsonValue) -> str | None:
    """Why a value is too large, in words that follow its name; None when it is not."""
    nodes = 0
    waiting: list[tuple[JsonValue, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        nodes += 1
        if nodes > MOST_NODES:
            return f"holds more than {MOST_NODES} values"
        if depth > DEEPEST_VALUE:
            return f"is nested deeper than {DEEPEST_VALUE} levels"
        texts = [one] if isinstance(one, str) else list(one) if isinstance(one, dict) else []
        if any(len(text.encode()) > LONGEST_TEXT_BYTES for text in texts):
            return f"holds a text of more than {LONGEST_TEXT_BYTES} bytes"
        if isinstance(one, dict | list):
            if len(one) > MOST_MEMBERS:
                return f"holds a list or object of more than {MOST_MEMBERS} members"
            inner = one.values() if isinstance(one, dict) else one
            waiting += [(item, depth + 1) for item in inner]
    return None
