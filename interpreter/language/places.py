"""Places in a source text, packed into integers."""

from __future__ import annotations

# A place is line * 65536 + column; 0 is "no place". Both parts saturate as in the engine.
NOWHERE = 0


MAXIMUM_PART = 0xFFFF


def place_of(line: int, column: int) -> int:
    """Pack a line and a column, each at most 65,535, into one integer."""
    if line <= MAXIMUM_PART and column <= MAXIMUM_PART:
        return line << 16 | column
    return (min(line, MAXIMUM_PART) << 16) | min(column, MAXIMUM_PART)


def line_of(place: int) -> int | None:
    """The line of a place, or None for no place."""
    return (place >> 16) or None


def column_of(place: int) -> int | None:
    """The column of a place, or None for no place and for the very start of a line."""
    return (place & MAXIMUM_PART) or None
