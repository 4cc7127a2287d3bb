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


class Counted:
    """Decisions as the digits of a number that counts through them all, the first ones first."""

    def __init__(self, digits: list[int]) -> None:
        self._digits = digits
        self._limits: list[int] = []

    def among(self, count: int) -> int:
        """The present one of ``count`` alternatives."""
        position = len(self._limits)
        self._limits.append(count)
        if position >= len(self._digits):
            self._digits.append(0)
        return self._digits[position]

    def following(self) -> list[int] | None:
        """The digits of the next number, or None after the last one."""
        digits = self._digits[: len(self._limits)]
        for position in range(len(digits) - 1, -1, -1):
            if digits[position] + 1 < self._limits[position]:
                return [*digits[:position], digits[position] + 1]
        return None
