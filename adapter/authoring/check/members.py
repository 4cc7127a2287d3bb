"""Whether a pointer finds a member in every value of a shape."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from activities.yaml.sources import child_pointer, pointer_parts
from adapter.authoring.check.shapes import ANY, DEEPEST, NOTHING, Shape, both, either, of_value

_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,5})\Z")


class Presence(IntEnum):
    """How certain it is that the member is there, from best to worst."""

    SURE = 0
    UNPROVEN = 1
    OPTIONAL = 2
    MISSING = 3


@dataclass(frozen=True, slots=True)
class Member:
    """A member's shape, how certain it is, and for what is uncertain the pointer up to there.

    ``known`` are the names that are declared where the search ended.
    """

    shape: Shape
    presence: Presence
    at: str = ""
    known: frozenset[str] = frozenset()


def member(shape: Shape, pointer: str) -> Member:
    """What is known about the value at ``pointer`` of a value of this shape."""
    found = Member(shape, Presence.SURE)
    at = ""
    for part in pointer_parts(pointer):
        at = child_pointer(at, part)
        step = _step(found.shape, part, 0)
        worst = step if step.presence > found.presence else found
        if worst.presence is Presence.MISSING:
            return Member(NOTHING, Presence.MISSING, at, step.known)
        place = at if worst is step else found.at
        found = Member(step.shape, worst.presence, place, worst.known)
    return found


def _step(shape: Shape, part: str, depth: int) -> Member:
    if shape.options and depth < DEEPEST:
        return _either([_step(_within(shape, one()), part, depth + 1) for one in shape.options])
    if shape.values is not None:
        return _in_values(shape, part)
    found: list[Member] = []
    if shape.can_be("object"):
        found.append(_of_object(shape, part))
    if shape.can_be("array"):
        found.append(_of_array(shape, part))
    if shape.types is None:
        # It may be an object or a list, and it may as well be neither.
        sure = [one for one in found if one.presence is not Presence.MISSING]
        return _weakened(_either(sure)) if sure else Member(ANY, Presence.UNPROVEN)
    if shape.types - {"object", "array"}:
        found.append(Member(NOTHING, Presence.MISSING))
    return _either(found) if found else Member(NOTHING, Presence.MISSING)


def _within(shape: Shape, option: Shape) -> Shape:
    return both(replace(shape, options=()), option)


def _weakened(found: Member) -> Member:
    return Member(found.shape, max(found.presence, Presence.UNPROVEN), found.at, found.known)


def _of_object(shape: Shape, part: str) -> Member:
    known = frozenset(shape.members)
    if part in shape.members:
        sure = part in shape.required
        presence = Presence.SURE if sure else Presence.OPTIONAL
        inner = shape.members[part]()
        if inner.impossible:
            return Member(NOTHING, Presence.MISSING, known=known)
        return Member(inner, presence, known=known)
    rest = ANY if shape.rest is None else shape.rest()
    if rest.impossible:
        return Member(NOTHING, Presence.MISSING, known=known)
    presence = Presence.SURE if part in shape.required else Presence.UNPROVEN
    return Member(rest, presence, known=known)


def _of_array(shape: Shape, part: str) -> Member:
    if not _INDEX.match(part):
        return Member(NOTHING, Presence.MISSING)
    index = int(part)
    if index < len(shape.prefix):
        inner = shape.prefix[index]()
    else:
        inner = ANY if shape.items is None else shape.items()
    if inner.impossible:
        return Member(NOTHING, Presence.MISSING)
    return Member(inner, Presence.SURE if index < shape.least_items else Presence.UNPROVEN)


def _in_values(shape: Shape, part: str) -> Member:
    values = shape.values or ()
    inner = [_step(of_value(value), part, 0) for value in values if isinstance(value, dict | list)]
    if len(inner) < len(values):
        inner.append(Member(NOTHING, Presence.MISSING))
    return _either(inner)


def _either(found: Iterable[Member]) -> Member:
    """One of several cases: missing in all is missing, missing in some is optional."""
    cases = [one for one in found if not (one.shape is NOTHING and one.presence is Presence.SURE)]
    there = [one for one in cases if one.presence is not Presence.MISSING]
    known = frozenset[str]().union(*(one.known for one in cases))
    if not there:
        return Member(NOTHING, Presence.MISSING, known=known)
    presence = max(one.presence for one in there)
    if len(there) < len(cases):
        presence = Presence.OPTIONAL
    return Member(either([one.shape for one in there]), presence, known=known)
