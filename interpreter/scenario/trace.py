"""What became of a case: the way it took, how it ended and what it left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened: milliseconds since admission, the step, and what it was."""

    after_ms: int
    step: str
    what: str


@dataclass(frozen=True, slots=True)
class Note:
    """A finding that does not fail the case; ``pointer`` leads into the case."""

    code: str
    pointer: str
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """The end of a played case.

    ``state`` is in the words of the case's dialect, ``outcome`` is None where no finish was
    reached. ``outlets`` are (node, outlet) pairs that were taken. ``effects`` maps effect ids
    (``main/step:visit``) to ``accepted``, ``unknown`` or ``not-applied``; ``attempts`` counts the
    replies that each step consumed, ``frozen_commands`` the commands of mutations and evaluations.
    """

    path: tuple[str, ...]
    outlets: frozenset[tuple[str, str]]
    state: str
    outcome: str | None = None
    output: JsonValue = None
    failure_code: str = ""
    failure_place: str = ""
    elapsed_ms: int = 0
    effects: Mapping[str, str] = field(default_factory=dict)
    attempts: Mapping[str, int] = field(default_factory=dict)
    frozen_commands: int = 0
    timeline: tuple[Happening, ...] = ()
    notes: tuple[Note, ...] = ()
