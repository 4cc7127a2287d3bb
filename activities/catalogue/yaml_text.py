"""Strict YAML: one plain document, no anchors or tags, no duplicate keys, a line for each place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from activities.catalogue.schemas import pointer_of
from activities.errors import CatalogueError
from interpreter.contract.values import JsonValue

LARGEST_DOCUMENT_BYTES = 1_048_576
DEEPEST_DOCUMENT = 128

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,15})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
# Plain scalars that one YAML version reads as a number and another one as text.
_AMBIGUOUS = re.compile(r"[-+]?(0[0-9_]+|0[xob][0-9a-f_]+|\.[0-9]+|[0-9]+\.|\.inf|\.nan)", re.I)
_CONSTANTS = {"null": None, "~": None, "": None, "true": True, "false": False}
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class YamlText:
    """The value of a document and the line (from 1) of each JSON pointer in it."""

    value: JsonValue
    lines: dict[str, int] = field(default_factory=dict)

    def line(self, pointer: str) -> int:
        """The line of a pointer, or of the nearest place around it."""
        while pointer not in self.lines and pointer:
            pointer = pointer.rpartition("/")[0]
        return self.lines.get(pointer, 1)


def read_yaml(text: str, name: str) -> YamlText:
    """Read one document (JSON is YAML, too).

    Raises CatalogueError ``catalogue.too-large``, ``catalogue.syntax`` or ``catalogue.yaml``
    with the place ``name:line``.
    """
    if len(text.encode("utf-8", "replace")) > LARGEST_DOCUMENT_BYTES:
        raise CatalogueError(
            "catalogue.too-large",
            f"the document has more than {LARGEST_DOCUMENT_BYTES} bytes",
            place=name,
            remedy="split it into several documents",
        )
    try:
        return _Reading(name, iter(yaml.parse(text, Loader=_Loader))).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise CatalogueError(
            "catalogue.syntax",
            "the text is not YAML",
            place=f"{name}:{mark.line + 1 if mark is not None else 1}",
            remedy="check indentation, quotes, tabs and colons there",
        ) from error


class _Reading:
    """Builds the value of one document from its events."""

    def __init__(self, name: str, events: Iterator[Any]) -> None:
        self._name = name
        self._events = events
        self._lines: dict[str, int] = {}

    def document(self) -> YamlText:
        next(self._events)
        begin = next(self._events)
        if not isinstance(begin, yaml.DocumentStartEvent):
            self._refuse(begin, "the document is empty", "write apiVersion, kind and the rest")
        value = self._value(next(self._events), [])
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._refuse(after, "a file holds exactly one document", "remove the other ones")
        return YamlText(value, self._lines)

    def _value(self, event: Any, path: list[Any]) -> JsonValue:
        self._check(event, path)
        self._lines[pointer_of(path)] = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._items(path)
        return self._members(path)

    def _items(self, path: list[Any]) -> list[JsonValue]:
        items: list[JsonValue] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, [*path, len(items)]))
        return items

    def _members(self, path: list[Any]) -> dict[str, JsonValue]:
        members: dict[str, JsonValue] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            self._check(event, path)
            if not isinstance(event, yaml.ScalarEvent):
                self._refuse(event, "a key must be text", "write a plain or quoted key")
            if event.value in members:
                self._refuse(event, "the key occurs twice", "keep one of the two")
            if event.value == "<<" and event.implicit[0]:
                self._refuse(event, "merge keys are not accepted", "write the members out")
            members[event.value] = self._value(next(self._events), [*path, event.value])
        return members

    def _check(self, event: Any, path: list[Any]) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self._refuse(event, "anchors and aliases are not accepted", "write the value out")
        if event.tag is not None:
            self._refuse(event, "tags are not accepted", "remove the tag")
        if len(path) > DEEPEST_DOCUMENT:
            self._refuse(event, "the document is nested too deep", "flatten it")

    def _scalar(self, event: Any) -> JsonValue:
        text: str = event.value
        if not event.implicit[0]:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        if _INTEGER.fullmatch(text):
            return int(text)
        if _AMBIGUOUS.fullmatch(text):
            self._refuse(event, "an ambiguous number", "quote it, or write plain decimal digits")
        if _NUMBER.fullmatch(text):
            return float(text)
        return text

    def _refuse(self, event: Any, message: str, remedy: str) -> NoReturn:
        place = f"{self._name}:{event.start_mark.line + 1}"
        raise CatalogueError("catalogue.yaml", message, place=place, remedy=remedy)
