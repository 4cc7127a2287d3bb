"""Compiled code: closures over a frame, with the operations they take.

A frame is ``[run, this, behind, variable, ...]``. Operations that come before anything can happen
are not counted by a closure but handed to whoever runs it (``Code.operations``), so that they are
added up once for a whole branch of the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from interpreter.language.running.run import Frame
from interpreter.language.values import Value

Step: TypeAlias = Callable[[Frame], Value]

FIRST_VARIABLE = 3
"""Where the variables of a frame begin."""

UNKNOWN: Final = object()
"""The ``constant`` of code whose value is not known before it runs."""


class Code:
    """Compiled code.

    ``run`` gives a value that nobody else holds; ``peek`` may give one that a variable still holds
    and must not be kept. ``is_quiet`` code changes nothing, so that a peeked value outlives it.
    ``is_safe`` code can not even fail, so that operations behind it may be counted before it.
    ``frames`` is how many Python calls it nests.
    """

    __slots__ = ("constant", "frames", "is_quiet", "is_safe", "operations", "peek", "run")

    def __init__(
        self,
        operations: int,
        run: Step,
        *,
        peek: Step | None = None,
        frames: int = 1,
        is_quiet: bool = False,
        is_safe: bool = False,
        constant: Value = UNKNOWN,
    ) -> None:
        self.operations = operations
        self.run = run
        self.peek = peek or run
        self.frames = frames
        self.is_quiet = is_quiet
        self.is_safe = is_safe
        self.constant = constant


def nested(*parts: Code) -> int:
    """Python calls nested by code that runs these parts."""
    return 1 + max((part.frames for part in parts), default=0)


def in_order(parts: list[Code]) -> tuple[int, tuple[tuple[int, Step], ...]]:
    """Operations before the first part, and each part with the operations before it.

    Operations are counted early, before parts that can not fail.
    """
    before = 0
    steps: list[tuple[int, Step]] = []
    all_safe = True
    for part in parts:
        if all_safe:
            before += part.operations
        steps.append((0 if all_safe else part.operations, part.run))
        all_safe = all_safe and part.is_safe
    return before, tuple(steps)
