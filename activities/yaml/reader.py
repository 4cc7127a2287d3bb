"""The strict YAML reader: bytes to a positioned tree, with every refusal collected.

Built on the events of libyaml, which every wheel of PyYAML carries: the parser written in Python
takes minutes for a hostile megabyte. Rules: contract 1.1; limits 1,048,576 bytes and 128 levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml import CSafeLoader

from activities.yaml.problems import Related, Sink
from activities.yaml.scalars import Refused, resolve
from activities.yaml.sources import Source, Spot, child_pointer
from activities.yaml.syntax import classify
from activities.yaml.tree import Broken, Entry, Scalar, Sequence, Table, Tree

LARGEST_FILE_BYTES = 1_048_576
DEEPEST_NESTING = 128

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SUBSTITUTION = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*")


class _TooDeep(Exception):
    """Reading stops: the tree is deeper than any file of ours."""


def decode(data: bytes, file: str, report: Sink) -> str | None:
    """The text of a YAML file without a byte order mark, or None after a finding."""
    if len(data) > LARGEST_FILE_BYTES:
        message = f"the file has more than {LARGEST_FILE_BYTES} bytes"
        report.add("yaml.too-large", Spot(file), message)
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        spot = Source(file, before).spot(len(before))
        report.add("yaml.not-utf8", spot, "the bytes from here on are not UTF-8")
        return None
    return text.removeprefix("\ufeff")


def read_yaml(
    data: bytes, file: str, report: Sink, *, substitution: bool = False
) -> tuple[Tree | None, Source | None]:
    """The tree and text of a YAML file; findings go to ``report``.

    The tree is None when nothing could be read. With ``substitution`` false, ``${NAME}`` is
    refused wherever it stands.
    """
    text = decode(data, file, report)
    if text is None:
        return None, None
    source = Source(file, text)
    control = _CONTROL.search(text)
    if control is not None:
        report.add("yaml.control-character", source.spot(control.start()), "a control character")
        return None, source
    reader = _Reader(source, report, substitution)
    try:
        return reader.read(), source
    except _TooDeep:
        return None, source
    except yaml.YAMLError as error:
        report.add(*classify(error, source))
        return None, source


class _Reader:
    """Turns parser events into a tree; one instance reads one file."""

    def __init__(self, source: Source, report: Sink, substitution: bool) -> None:
        self._source = source
        self._report = report
        self._substitution = substitution
        self._tabs = "\t" in source.text
        self._events: Iterator[Any] = iter(yaml.parse(source.text, Loader=CSafeLoader))

    def read(self) -> Tree | None:
        next(self._events)
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            self._report.add(
                "config.missing-envelope", Spot(self._source.file), "the file is empty"
            )
            return None
        if event.version or event.tags:
            self._refuse("yaml.tag", self._spot(event, ""), "a directive")
        tree = self._value(next(self._events), "", 0)
        next(self._events)
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            self._refuse(
                "yaml.multiple-documents", self._spot(event, ""), "a second document begins here"
            )
        return tree

    def _spot(self, event: Any, pointer: str) -> Spot:
        start, end = event.start_mark, event.end_mark
        length = end.column - start.column if end.line == start.line else 1
        return Spot(self._source.file, start.line + 1, start.column + 1, pointer, max(1, length))

    def _check_indentation(self, spot: Spot) -> None:
        before = (self._source.line(spot.line) or "")[: spot.column - 1]
        if "\t" in before and not before.strip():
            place = Spot(spot.file, spot.line, 1, spot.pointer)
            self._refuse("yaml.tab-indentation", place, "a tab indents this line")

    def _refuse(self, code: str, spot: Spot, message: str, *related: Related) -> None:
        self._report.add(code, spot, message, related=related)

    def _value(self, event: Any, pointer: str, depth: int) -> Tree:
        spot = self._spot(event, pointer)
        if self._tabs:
            self._check_indentation(spot)
        if isinstance(event, yaml.AliasEvent):
            self._refuse("yaml.alias", spot, "an alias stands for another value here")
            return Broken(spot)
        refused = self._decorations(event, spot)
        if isinstance(event, yaml.ScalarEvent):
            tree = self._scalar(event, spot)
        else:
            if depth >= DEEPEST_NESTING:
                message = f"values are nested deeper than {DEEPEST_NESTING} levels"
                self._refuse("yaml.too-deep", spot, message)
                raise _TooDeep
            if isinstance(event, yaml.SequenceStartEvent):
                tree = self._sequence(spot, pointer, depth)
            else:
                tree = self._table(spot, pointer, depth)
        return Broken(spot) if refused else tree

    def _decorations(self, event: Any, spot: Spot) -> bool:
        """Report an anchor or a tag; True when the value's meaning is lost with it."""
        if event.anchor is not None:
            self._refuse("yaml.anchor", spot, "an anchor names this value")
        if event.tag is not None:
            self._refuse("yaml.tag", spot, "a tag changes what this value is")
            return True
        return False

    def _scalar(self, event: Any, spot: Spot) -> Tree:
        text: str = event.value
        if _SURROGATE.search(text):
            self._refuse("yaml.invalid-escape", spot, "an escape stands for half a character")
            return Broken(spot)
        if not self._substitution and _SUBSTITUTION.search(text):
            message = "a substitution is not allowed in this file"
            self._refuse("config.substitution-not-allowed", spot, message)
            return Broken(spot)
        if event.style:
            return Scalar(spot, text)
        value = resolve(text)
        if isinstance(value, Refused):
            self._refuse(value.code, spot, _NUMBERS[value.code])
            return Broken(spot)
        return Scalar(spot, value)

    def _sequence(self, spot: Spot, pointer: str, depth: int) -> Tree:
        items: list[Tree] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, child_pointer(pointer, len(items)), depth + 1))
        return Sequence(spot, tuple(items))

    def _table(self, spot: Spot, pointer: str, depth: int) -> Tree:
        entries: dict[str, Entry] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, pointer, depth)
            below = child_pointer(pointer, key[0] if key else "?")
            value = self._value(next(self._events), below, depth + 1)
            if key is None:
                continue
            name, place = key
            if name in entries:
                first = Related("it is first defined here", entries[name].key)
                self._refuse("yaml.duplicate-key", place, "this key is defined twice", first)
                continue
            entries[name] = Entry(place, value)
        return Table(spot, entries)

    def _key(self, event: Any, pointer: str, depth: int) -> tuple[str, Spot] | None:
        if not isinstance(event, yaml.ScalarEvent):
            spot = self._spot(event, pointer)
            self._value(event, child_pointer(pointer, "?"), depth + 1)
            self._refuse("yaml.non-string-key", spot, "this key is not text")
            return None
        text: str = event.value
        spot = self._spot(event, child_pointer(pointer, text))
        if self._tabs:
            self._check_indentation(spot)
        if not event.style and text == "<<":
            self._refuse("yaml.merge-key", spot, "a merge key takes members from elsewhere")
            return None
        if self._decorations(event, spot):
            return None
        if not event.style and not isinstance(resolve(text), str):
            self._refuse("yaml.non-string-key", spot, "this key is not text")
            return None
        read = self._scalar(event, spot) if not event.style else Scalar(spot, text)
        return (text, spot) if isinstance(read, Scalar) else None


_NUMBERS = {
    "yaml.ambiguous-number": "YAML versions read this number differently",
    "config.out-of-range": "this number does not fit into 64 bits",
}
