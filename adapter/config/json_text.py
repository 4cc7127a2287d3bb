"""Strict JSON of a file: UTF-8, no member twice, no words beyond JSON, mistakes with a place."""

from __future__ import annotations

import json
from typing import NoReturn

from interpreter.contract.values import JsonValue


class BadJson(ValueError):
    """Bytes that are no JSON; ``line`` and ``column`` count from 1, the message has no value."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def strict_json(data: bytes) -> JsonValue:
    """The one value that the bytes hold; a byte order mark before it is passed over.

    Raises BadJson. Where a member stands twice the place is the beginning of the file.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        raise BadJson("the bytes from here on are not UTF-8", line, column) from error
    try:
        return json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise BadJson("this is not well-formed JSON", error.lineno, error.colno) from error
    except RecursionError as error:
        raise BadJson("values are nested too deeply") from error


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise BadJson("a member of an object is named twice")
    return members


def _no_constant(_: str) -> NoReturn:
    raise BadJson("NaN and infinities are no JSON")
