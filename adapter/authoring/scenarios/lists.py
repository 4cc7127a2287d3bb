"""Bounded lists of a scenario file, and the maps whose keys are steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from activities.yaml.tree import Table
from adapter.authoring.formats.shape import LOCAL_ID, Rule, Section, read_text

T = TypeVar("T")


def read_list(
    section: Section,
    key: str,
    what: str,
    most: int,
    read: Callable[[Section], T | None],
    *,
    least: int = 1,
    required: bool = False,
) -> tuple[T, ...]:
    """A list of ``least`` to ``most`` tables; what could not be read is left out."""
    sequence = section.sequence(key, required=required)
    if sequence is None:
        return ()
    check_length(section, key, len(sequence.items), least, most)
    found = []
    for tree in sequence.items:
        if not isinstance(tree, Table):
            section.table_needed(tree, what)
            continue
        inner = Section(tree, section.report, what)
        one = read(inner)
        inner.close()
        section.broken = section.broken or inner.broken
        if one is not None:
            found.append(one)
    return tuple(found)


def read_names(
    section: Section, key: str, most: int, *, required: bool, repeated: bool = False
) -> list[str] | None:
    """A list of 1 to ``most`` step names, each once unless ``repeated``."""
    sequence = section.sequence(key, required=required)
    if sequence is None:
        return None
    check_length(section, key, len(sequence.items), 1, most)
    names: list[str] = []
    for tree in sequence.items:
        name = read_text(section, tree, "a step's name", LOCAL_ID)
        if name is not None and name in names and not repeated:
            message = f"step `{name}` stands here twice"
            section.refuse("config.duplicate-item", tree.spot, message)
        elif name is not None:
            names.append(name)
    return names


def step_tables(
    section: Section, key: str, most: int, rule: Rule = LOCAL_ID, *, required: bool
) -> Table | None:
    """A map of at most ``most`` entries whose keys are names of a form."""
    table = section.table(key, required=required)
    if table is None:
        return None
    if len(table.entries) > most:
        check_length(section, key, len(table.entries), 0, most)
    for name, entry in table.entries.items():
        if not rule.pattern.match(name):
            message = f"a name under `{key}` does not have the right form"
            section.refuse("config.invalid-value", entry.key, message, rule.sentence)
    return table


def check_length(section: Section, key: str, length: int, least: int, most: int) -> None:
    """Report a list or map that is too short or too long."""
    if not least <= length <= most:
        message = f"`{key}` must have {least} to {most} items, not {length}"
        section.refuse("coordinator.scenarios.invalid-length", section.place(key), message)
