"""Findings about a public project as its own check reports them: the same codes and pointers.

Line and column stay where the mistake is; the public format places some findings at the part
around it (contract 2.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from adapter.authoring.diagnostics.codes import CODES
from adapter.authoring.diagnostics.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class _Rule:
    """Findings of these codes at these pointers get another code; the first group is kept."""

    codes: tuple[str, ...]
    pointer: re.Pattern[str]
    code: str = ""


_RULES = (
    _Rule(
        ("config.invalid-length",),
        re.compile(r"(/(?:steps|connections|outcomes))\Z"),
        "coordinator.definition.shape",
    ),
    _Rule(
        ("config.invalid-value",),
        re.compile(r"(/project/(?:id|version))\Z"),
        "coordinator.definition.shape",
    ),
    _Rule(
        ("config.out-of-range",),
        re.compile(r"(/deadlineSeconds)\Z"),
        "coordinator.definition.deadline",
    ),
    _Rule(
        ("config.unknown-variant", "coordinator.definition.connection"),
        re.compile(r"(/connections)/[^/]+\Z"),
        "coordinator.definition.connection",
    ),
    _Rule(("coordinator.definition.target",), re.compile(r"(/steps/[^/]+/cases)/[^/]+\Z")),
    _Rule(("coordinator.definition.cycle",), re.compile(r"(/steps)/[^/]+\Z")),
    _Rule(("coordinator.definition.schema",), re.compile(r"(/input|/outcomes/[^/]+)(?:/.*)?\Z")),
)


def as_public(one: Diagnostic) -> Diagnostic:
    """The finding with the public format's code and pointer, where they differ from ours."""
    for rule in _RULES:
        found = rule.pointer.match(one.spot.pointer)
        if one.code in rule.codes and found is not None:
            code = rule.code or one.code
            remedy = CODES[code].remedy if one.remedy == CODES[one.code].remedy else one.remedy
            return replace(
                one, code=code, remedy=remedy, spot=replace(one.spot, pointer=found.group(1))
            )
    return one
