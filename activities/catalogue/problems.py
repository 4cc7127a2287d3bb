"""Mistakes of a catalogue document, gathered so that one reading shows them all."""

from __future__ import annotations

from collections.abc import Sequence

from activities.errors import CatalogueError


class CatalogueRefused(CatalogueError):
    """A document with one or more mistakes.

    It speaks as its first mistake; ``mistakes`` holds every one, in the document's order.
    """

    def __init__(self, mistakes: Sequence[CatalogueError]) -> None:
        first = mistakes[0]
        more = len(mistakes) - 1
        message = f"{first.message}, and {more} more" if more else first.message
        super().__init__(first.code, message, place=first.place, remedy=first.remedy)
        self.mistakes = tuple(mistakes)
