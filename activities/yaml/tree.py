"""A neutral tree that remembers where each value stands in the author's file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from activities.yaml.sources import Spot
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class Scalar:
    """Null, a boolean, a number or a text."""

    spot: Spot
    value: bool | int | float | str | None

    def to_json(self) -> JsonValue:
        """The value itself."""
        return self.value


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    spot: Spot
    items: tuple[Tree, ...]

    def to_json(self) -> JsonValue:
        """A JSON array."""
        return [item.to_json() for item in self.items]


@dataclass(frozen=True, slots=True)
class Entry:
    """A member of a table: where its key stands, and its value."""

    key: Spot
    value: Tree


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping with text keys, in the author's order."""

    spot: Spot
    entries: dict[str, Entry]

    def to_json(self) -> JsonValue:
        """A JSON object."""
        return {key: entry.value.to_json() for key, entry in self.entries.items()}


@dataclass(frozen=True, slots=True)
class Broken:
    """A value that the reader refused; it has been reported and says nothing more."""

    spot: Spot

    def to_json(self) -> JsonValue:
        """Null, since nothing is known."""
        return None


Tree: TypeAlias = Scalar | Sequence | Table | Broken


def find(tree: Tree, parts: list[str]) -> Spot:
    """The place of the value at these reference tokens, or of the nearest parent that exists."""
    return _way(tree, parts)[-1].spot


def find_key(tree: Tree, parts: list[str]) -> Spot:
    """The place of the key of a member, where a person looks for it; else as `find` gives it."""
    if parts:
        above = value_at(tree, parts[:-1])
        if isinstance(above, Table) and parts[-1] in above.entries:
            return above.entries[parts[-1]].key
    return find(tree, parts)


def value_at(tree: Tree, parts: list[str]) -> Tree | None:
    """The value at these reference tokens, or None where there is none."""
    way = _way(tree, parts)
    return way[-1] if len(way) > len(parts) else None


def _way(tree: Tree, parts: list[str]) -> list[Tree]:
    """The values that reference tokens lead through, the root first, as far as there are any."""
    way = [tree]
    for part in parts:
        if isinstance(tree, Table) and part in tree.entries:
            tree = tree.entries[part].value
        elif isinstance(tree, Sequence) and part.isdigit() and int(part) < len(tree.items):
            tree = tree.items[int(part)]
        else:
            break
        way.append(tree)
    return way


def name_of(tree: Tree) -> str:
    """What a person calls this kind of value."""
    if isinstance(tree, Table):
        return "a mapping"
    if isinstance(tree, Sequence):
        return "a list"
    if isinstance(tree, Broken):
        return "a refused value"
    kinds: dict[type, str] = {bool: "a boolean", int: "an integer", float: "a number", str: "text"}
    return "null" if tree.value is None else kinds[type(tree.value)]
