"""Whether every value of one shape fits where a value of another shape is asked for.

Only what is declared is judged: a declared alternative that the target refuses is a misfit, a
silence is none. So a finding is always a value that the author's own schemas allow and the target
refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from activities.yaml.sources import child_pointer
from adapter.authoring.check.shapes import DEEPEST, Shape, both, of_value, same, type_of
from interpreter.contract.schemas import validator
from interpreter.contract.values import JsonValue

_MOST_CASES = 64


@dataclass(frozen=True, slots=True)
class Misfit:
    """A part that does not fit: its pointer inside the value, and why."""

    pointer: str
    why: str


def misfits(source: Shape, target: Shape) -> list[Misfit]:
    """Every part of ``source`` that ``target`` surely refuses; empty when all may fit."""
    return _compare(source, target, "", 0)


def cases(shape: Shape, depth: int = 0) -> list[Shape]:
    """The alternatives of a shape, each without further ones."""
    if not shape.options or depth > DEEPEST:
        return [shape]
    own = replace(shape, options=())
    flat: list[Shape] = []
    for option in shape.options:
        flat += cases(both(own, option()), depth + 1)
        if len(flat) > _MOST_CASES:
            return [own]
    return [one for one in flat if not one.impossible]


def _compare(source: Shape, target: Shape, at: str, depth: int) -> list[Misfit]:
    if depth > DEEPEST:
        return []
    allowed = cases(target)
    if not allowed:
        return [Misfit(at, "nothing is allowed here")]
    found: list[Misfit] = []
    for one in cases(source):
        # What holds beside the alternatives says best what is wrong.
        own = _one(one, replace(target, options=()), at, depth)
        if own or all(_one(one, other, at, depth) for other in allowed):
            found += own or [Misfit(at, _none_fits(one, allowed))]
    return found


def _none_fits(source: Shape, allowed: list[Shape]) -> str:
    if source.types and all(one.types is not None for one in allowed):
        wanted = frozenset[str]().union(*(one.types or frozenset() for one in allowed))
        if not source.types & wanted:
            return _type_words(source.types, wanted)
    return "fits none of the alternatives"


def _one(source: Shape, target: Shape, at: str, depth: int) -> list[Misfit]:
    if source.values is not None:
        return _values(source.values, target, at, depth)
    wrong = _types(source, target, at)
    if wrong:
        return wrong
    if target.values is not None and source.types is not None:
        kinds = {type_of(value) for value in target.values}
        if not any(source.can_be(kind) for kind in kinds):
            return [Misfit(at, "is none of the values that are allowed")]
    return [
        *_members(source, target, at, depth),
        *_items(source, target, at, depth),
        *_formats(source, target, at),
    ]


def _values(values: tuple[JsonValue, ...], target: Shape, at: str, depth: int) -> list[Misfit]:
    found: list[Misfit] = []
    for value in values:
        if target.values is not None and not any(same(value, one) for one in target.values):
            found.append(Misfit(at, "can be a value that is not allowed"))
            continue
        kind = type_of(value)
        if not target.can_be(kind):
            found.append(Misfit(at, _type_words(frozenset({kind}), target.types or frozenset())))
        elif isinstance(value, dict | list):
            found += _compare(of_value(value), replace(target, values=None), at, depth + 1)
        else:
            found += _bounds(value, target, at)
    return list(dict.fromkeys(found))


def _bounds(value: JsonValue, target: Shape, at: str) -> list[Misfit]:
    for bounds in target.bounds:
        error = next(validator(bounds).iter_errors(value), None)
        if error is not None:
            return [Misfit(at, f"can be a value that `{error.validator}` refuses")]
    return []


def _types(source: Shape, target: Shape, at: str) -> list[Misfit]:
    if source.types is None or target.types is None:
        return []
    wrong = frozenset(kind for kind in source.types if not target.can_be(kind))
    return [Misfit(at, _type_words(wrong, target.types))] if wrong else []


def _type_words(given: frozenset[str], wanted: frozenset[str]) -> str:
    one, other = (" or ".join(sorted(kinds)) or "nothing" for kinds in (given, wanted))
    return f"can be {one} where {other} is needed"


def _members(source: Shape, target: Shape, at: str, depth: int) -> list[Misfit]:
    if source.types is None or "object" not in source.types:
        return []
    rest = None if source.rest is None else source.rest()
    found: list[Misfit] = []
    for name in sorted(target.required):
        if name in source.required:
            continue
        if name in source.members:
            found.append(Misfit(child_pointer(at, name), "may be absent, but is required"))
        elif rest is not None and rest.impossible:
            found.append(Misfit(child_pointer(at, name), "is required, but absent"))
    others = None if target.rest is None else target.rest()
    for name, inner in source.members.items():
        below = child_pointer(at, name)
        if name in target.members:
            found += _compare(inner(), target.members[name](), below, depth + 1)
        elif others is not None and others.impossible:
            if not inner().impossible:
                found.append(Misfit(below, "is a member that is not allowed"))
        elif others is not None:
            found += _compare(inner(), others, below, depth + 1)
    return found


def _items(source: Shape, target: Shape, at: str, depth: int) -> list[Misfit]:
    if source.types is None or "array" not in source.types:
        return []
    found: list[Misfit] = []
    rest = None if source.items is None else source.items()
    for index in range(max(len(source.prefix), len(target.prefix))):
        given = source.prefix[index]() if index < len(source.prefix) else rest
        wanted = target.prefix[index] if index < len(target.prefix) else target.items
        if given is not None and not given.impossible and wanted is not None:
            found += _compare(given, wanted(), child_pointer(at, index), depth + 1)
    if rest is not None and not rest.impossible and target.items is not None:
        below = target.items()
        if not below.impossible:
            found += _compare(rest, below, child_pointer(at, "0"), depth + 1)
    if rest is not None and rest.impossible and len(source.prefix) < target.least_items:
        found.append(Misfit(at, "has too few items"))
    return found


_EXCLUSIVE = frozenset({"date", "date-time", "time", "uuid", "email", "ipv4", "ipv6", "duration"})
"""Formats of which no text has two."""


def _formats(source: Shape, target: Shape, at: str) -> list[Misfit]:
    pair = {source.format, target.format}
    if len(pair) == 2 and pair <= _EXCLUSIVE:
        return [Misfit(at, f"is a text of format {source.format}, not {target.format}")]
    return []
