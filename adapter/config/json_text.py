"""Strict JSON of a text: UTF-8, no member twice, no words beyond JSON, mistakes with a place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from interpreter.contract.values import DEEPEST_JSON, JsonValue, nested_deeper

_REMEDY = "write one JSON value in UTF-8"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_WORDS = frozenset({"NaN", "Infinity", "-Infinity"})


class BadJson(ValueError):
    """Text that is no JSON; ``line`` and ``column`` count from 1, the message has no value."""

    def __init__(self, message: str, line: int = 1, column: int = 1, remedy: str = _REMEDY) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.remedy = remedy


class _Twice(ValueError):
    """A member of an object stands twice."""


class _Word(ValueError):
    """A word that Python knows as a number and JSON does not."""


def strict_json(data: bytes) -> JsonValue:
    """The one value that the bytes hold; a byte order mark before it is passed over.

    Raises BadJson with the place of the mistake; values that are nested more than 256 levels deep,
    and numbers with thousands of digits, are placed at the beginning.
    """
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise _at(before, len(before), "the bytes from here on are not UTF-8") from error
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BadJson("this is not well-formed JSON", error.lineno, error.colno) from error
    except _Twice as error:
        message, remedy = "a member of this object is named twice", "keep one of the two"
        raise _at(text, next(_repeated(text), 0), message, remedy) from error
    except _Word as error:
        message, remedy = "NaN and infinities are no JSON", "write a number, or leave it out"
        raise _at(text, next(_words(text), 0), message, remedy) from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise BadJson("a number has too many digits", remedy="write it as a text") from error
    if nested_deeper(data, value, DEEPEST_JSON):
        raise _too_deep()
    return value


def _too_deep() -> BadJson:
    return BadJson("values are nested too deeply", remedy=f"nest {DEEPEST_JSON} levels at most")


def _at(text: str, offset: int, message: str, remedy: str = _REMEDY) -> BadJson:
    line = text.count("\n", 0, offset) + 1
    return BadJson(message, line, offset - text.rfind("\n", 0, offset), remedy)


def _repeated(text: str) -> Iterator[int]:
    """Where a member's name stands that its object has already, in a text that is well-formed."""
    objects: list[set[str] | None] = []
    naming = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        names = objects[-1] if objects else None
        if token in "{[":
            objects.append(set() if token == "{" else None)
        elif token in "}]":
            objects.pop()
        elif naming and names is not None and token[0] == '"':
            name = json.loads(token)
            if name in names:
                yield match.start()
            names.add(name)
        naming = token in "{,"


def _words(text: str) -> Iterator[int]:
    return (match.start() for match in _TOKEN.finditer(text) if match[0] in _WORDS)


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Twice
    return members


def _no_constant(_: str) -> NoReturn:
    raise _Word
