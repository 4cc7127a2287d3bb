"""JSON as it may come from a product: strict, finite, without duplicate names, not too deep."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from interpreter.contract.values import JsonValue, nested_deeper

DEEPEST_VALUE = 32
# RFC 8785 writes every number as a double: a larger integer would change its value on the way.
LARGEST_INTEGER = 2**53


def parse_json(body: bytes) -> JsonValue:
    """The value of a UTF-8 JSON text.

    Raises ValueError for anything that is not exactly one JSON value that this project can keep:
    duplicate names, NaN or infinity, integers beyond 2^53, lone surrogates, more than 32 levels.
    """
    try:
        text = body.decode("utf-8")
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if nested_deeper(body, value, DEEPEST_VALUE):
        raise ValueError("nested too deep")
    if "\\u" in text:
        # Only an escape can bring a lone surrogate in; it has no UTF-8 form and could not be kept.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate name")
    return value


def _integer(text: str) -> int:
    value = int(text)
    if abs(value) > LARGEST_INTEGER:
        raise ValueError("integer out of range")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("number out of range")
    return value


def _constant(_name: str) -> NoReturn:
    raise ValueError("not a JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_int=_integer,
    parse_float=_finite,
    parse_constant=_constant,
)
