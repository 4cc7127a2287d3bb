"""Reads the members of a table by name and form, and reports every deviation."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from activities.yaml.problems import Sink
from activities.yaml.sources import Spot
from activities.yaml.tree import Broken, Scalar, Sequence, Table, Tree, name_of
from adapter.authoring.diagnostics.diagnostic import LARGEST_FILE_REPORT
from adapter.authoring.diagnostics.nearest import suggestion
from interpreter.contract.values import JsonValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rule:
    """A form of text: its pattern, and the sentence that explains it."""

    pattern: re.Pattern[str]
    sentence: str


LOCAL_ID = Rule(
    re.compile(r"[a-z][a-z0-9_-]{0,63}\Z"),
    "use 1 to 64 of `a-z 0-9 _ -`, beginning with a letter",
)
FUNCTION_NAME = Rule(
    re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z"),
    "use 1 to 64 of letters, digits and `_`, beginning with a letter or `_`",
)
VERSION = Rule(re.compile(r"[A-Za-z0-9_-]{1,64}\Z"), "use 1 to 64 of letters, digits, `-` and `_`")
EXTERNAL_ID = Rule(
    re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,512}\Z"),
    "use 1 to 512 characters without control characters",
)
TITLE = Rule(
    re.compile(r"[^\x00-\x1f\x7f-\x9f]{0,200}\Z"), "use one line of at most 200 characters"
)
PROSE = Rule(re.compile(r"(?s).{0,16384}\Z"), "use at most 16384 characters")


class Section:
    """One table being read: each getter reports what is wrong and gives None.

    ``broken`` becomes true when a member is missing or refused. ``close`` reports the keys that
    nobody asked for.
    """

    def __init__(self, tree: Table, report: Sink, what: str) -> None:
        self.tree = tree
        self.report = report
        self.what = what
        self.broken = False
        self._asked: dict[str, None] = {}

    @property
    def spot(self) -> Spot:
        """Where the table stands."""
        return self.tree.spot

    def has(self, key: str) -> bool:
        """True when the author wrote the key."""
        self._asked.setdefault(key)
        return key in self.tree.entries

    def place(self, key: str) -> Spot:
        """Where the member's value stands, or the table if it has no such member."""
        entry = self.tree.entries.get(key)
        return entry.value.spot if entry else self.tree.spot

    def raw(self, key: str, *, required: bool = True, nullable: bool = False) -> Tree | None:
        """The member as it stands; None when it is absent, null or was refused by the reader."""
        self._asked.setdefault(key)
        entry = self.tree.entries.get(key)
        if entry is None:
            if required:
                self.refuse("config.missing-key", self.spot, f"{self.what} needs the key `{key}`")
            return None
        value = entry.value
        if isinstance(value, Broken):
            self.broken = True
            return None
        if isinstance(value, Scalar) and value.value is None and not nullable:
            self.refuse("config.null-value", value.spot, f"`{key}` is null")
            return None
        return value

    def table_needed(self, tree: Tree, what: str) -> None:
        """Report that ``what`` is no table; the reader's own refusals are not repeated."""
        self.broken = True
        if not isinstance(tree, Broken):
            message = f"{what} needs a mapping, not {name_of(tree)}"
            self.report.add("config.invalid-type", tree.spot, message)

    def refuse(self, code: str, spot: Spot, message: str, remedy: str = "") -> None:
        """Report a finding and remember that this table is not whole."""
        self.broken = True
        self.report.add(code, spot, message, remedy)

    def text(self, key: str, rule: Rule, *, required: bool = True) -> str | None:
        """Text of a given form."""
        return self._read(key, required, lambda value: read_text(self, value, f"`{key}`", rule))

    def word(self, key: str, words: tuple[str, ...], *, required: bool = True) -> str | None:
        """One of a few words."""

        def read(value: Tree) -> str | None:
            if not isinstance(value, Scalar) or value.value not in words:
                given = str(value.value) if isinstance(value, Scalar) else ""
                message = f"`{key}` is none of the words that fit here"
                self.refuse("config.unknown-variant", value.spot, message, suggestion(given, words))
                return None
            return str(value.value)

        return self._read(key, required, read)

    def integer(self, key: str, low: int, high: int, *, required: bool = True) -> int | None:
        """A whole number from ``low`` to ``high``."""

        def read(value: Tree) -> int | None:
            number = value.value if isinstance(value, Scalar) else None
            if not isinstance(number, int) or isinstance(number, bool):
                message = f"`{key}` needs an integer, not {name_of(value)}"
                self.refuse("config.expected-integer", value.spot, message)
                return None
            if not low <= number <= high:
                message = f"`{key}` must be from {low} to {high}"
                self.refuse("config.out-of-range", value.spot, message)
                return None
            return number

        return self._read(key, required, read)

    def number(self, key: str, low: float, high: float, *, required: bool = True) -> float | None:
        """A number from ``low`` to ``high``."""

        def read(value: Tree) -> float | None:
            number = value.value if isinstance(value, Scalar) else None
            if not isinstance(number, int | float) or isinstance(number, bool):
                message = f"`{key}` needs a number, not {name_of(value)}"
                self.refuse("config.expected-number", value.spot, message)
                return None
            if not low <= number <= high:
                message = f"`{key}` must be from {low:g} to {high:g}"
                self.refuse("config.out-of-range", value.spot, message)
                return None
            return float(number)

        return self._read(key, required, read)

    def boolean(self, key: str, *, required: bool = True) -> bool | None:
        """True or false."""

        def read(value: Tree) -> bool | None:
            if not isinstance(value, Scalar) or not isinstance(value.value, bool):
                message = f"`{key}` needs a boolean, not {name_of(value)}"
                self.refuse("config.expected-boolean", value.spot, message)
                return None
            return value.value

        return self._read(key, required, read)

    def section(self, key: str, what: str, *, required: bool = True) -> Section | None:
        """A table of known keys."""
        table = self.table(key, required=required)
        return None if table is None else Section(table, self.report, what)

    def table(self, key: str, *, required: bool = True) -> Table | None:
        """A table of any keys."""

        def read(value: Tree) -> Table | None:
            if not isinstance(value, Table):
                message = f"`{key}` needs a mapping, not {name_of(value)}"
                self.refuse("config.invalid-type", value.spot, message)
                return None
            return value

        return self._read(key, required, read)

    def sequence(self, key: str, *, required: bool = True) -> Sequence | None:
        """A list."""

        def read(value: Tree) -> Sequence | None:
            if not isinstance(value, Sequence):
                message = f"`{key}` needs a list, not {name_of(value)}"
                self.refuse("config.invalid-type", value.spot, message)
                return None
            return value

        return self._read(key, required, read)

    def foreign(self, key: str, *, required: bool = True) -> JsonValue:
        """Free JSON, null included; ``has`` tells null from absent."""
        value = self.raw(key, required=required, nullable=True)
        return None if value is None else value.to_json()

    def close(self) -> None:
        """Report every key that no getter asked for, as many as a report of a file shows."""
        unknown = [key for key in self.tree.entries if key not in self._asked]
        free = [one for one in self._asked if one not in self.tree.entries]
        for key in unknown[: LARGEST_FILE_REPORT + 1]:
            named = f"no key `{key}`" if _printable(key) else "no such key"
            message = f"{self.what} has {named}"
            place = self.tree.entries[key].key
            self.refuse("config.unknown-key", place, message, suggestion(key, free))

    def _read(self, key: str, required: bool, read: Callable[[Tree], T | None]) -> T | None:
        value = self.raw(key, required=required)
        return None if value is None else read(value)


def read_text(section: Section, value: Tree, what: str, rule: Rule) -> str | None:
    """The text of a scalar that must match a rule; None after a finding."""
    text = value.value if isinstance(value, Scalar) else None
    if isinstance(value, Broken):
        section.broken = True
        return None
    if not isinstance(text, str):
        message = f"{what} needs text, not {name_of(value)}"
        section.refuse("config.expected-string", value.spot, message)
        return None
    if not rule.pattern.match(text):
        message = f"{what} does not have the right form"
        section.refuse("config.invalid-value", value.spot, message, rule.sentence)
        return None
    return text


def local_names(section: Section, table: Table, what: str, most: int, least: int = 1) -> list[str]:
    """The keys of a table that are well-formed local ids; their number is checked too."""
    if not least <= len(table.entries) <= most:
        message = f"there must be {least} to {most} {what}s, not {len(table.entries)}"
        section.refuse("config.invalid-length", table.spot, message)
    names = []
    for name, entry in table.entries.items():
        if LOCAL_ID.pattern.match(name):
            names.append(name)
        else:
            message = f"the name of this {what} does not have the right form"
            section.refuse("config.invalid-value", entry.key, message, LOCAL_ID.sentence)
    return names


def _printable(key: str) -> bool:
    return len(key) <= 64 and key.isprintable()
