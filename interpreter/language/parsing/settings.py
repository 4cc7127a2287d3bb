"""Where the parser stands: the nesting level and its limit, places, and compile errors there."""

from __future__ import annotations

from interpreter.language.errors import CompileError
from interpreter.language.places import column_of, line_of

MAXIMUM_DEPTH = 64
"""Levels of nesting in an expression, at the top level and in a function (contract 3.1)."""


def refuse(message: str, place: int) -> CompileError:
    """A compile error at a place of the source."""
    return CompileError(message, line_of(place), column_of(place))


class Setting:
    """Where the parser stands: nesting level, place, and what the surroundings allow."""

    __slots__ = ("breakable", "in_function", "level", "place", "top")

    def __init__(
        self, level: int, place: int, *, in_function: bool, breakable: bool, top: bool
    ) -> None:
        self.level = level
        self.place = place
        self.in_function = in_function
        self.breakable = breakable
        self.top = top

    def copy(self) -> Setting:
        """The same setting as an object of its own."""
        return Setting(
            self.level,
            self.place,
            in_function=self.in_function,
            breakable=self.breakable,
            top=self.top,
        )

    def deeper(self, place: int | None = None) -> Setting:
        """One level further in. Raises CompileError beyond the depth limit."""
        if self.level >= MAXIMUM_DEPTH:
            raise refuse("an expression is nested too deeply", self.place)
        inner = self.copy()
        inner.level += 1
        if place is not None:
            inner.place = place
        return inner
