"""A virtual clock: a heap of due times and a present moment that only moves forward."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

BORN_INSIDE = 0
"""Rank of what the run itself set going: at one instant a timeout comes before a late arrival."""

SCRIPTED = 1
"""Rank of what the case lets happen."""


@dataclass(order=True, slots=True)
class Due:
    """Something that will happen unless it is called off."""

    at_ms: int
    rank: int
    order: int
    happen: Callable[[], None] = field(compare=False)
    off: bool = field(default=False, compare=False)


class Clock:
    """The time of one run, in epoch milliseconds."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self._heap: list[Due] = []
        self._order = 0

    def at(self, at_ms: int, rank: int, happen: Callable[[], None]) -> Due:
        """Let something happen at an instant, or now if that is over."""
        self._order += 1
        due = Due(max(at_ms, self.now_ms), rank, self._order, happen)
        heapq.heappush(self._heap, due)
        return due

    def turn(self) -> bool:
        """Move on to the next thing that is due and let it happen; False when nothing is."""
        while self._heap:
            due = heapq.heappop(self._heap)
            if due.off:
                continue
            self.now_ms = due.at_ms
            due.happen()
            return True
        return False
