"""The decisions that a made-up value rests on: drawn from a seed, or counted through."""

from __future__ import annotations

import random
from typing import Protocol


class Choices(Protocol):
    """Decides whatever a schema leaves open."""

    def among(self, count: int) -> int:
        """One of ``count`` alternatives, as a number from 0."""
        ...


class Seeded:
    """Decisions that look random and are the same for the same seed, on every machine."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def among(self, count: int) -> int:
        """One of ``count`` alternatives."""
        return self._random.randrange(count)
