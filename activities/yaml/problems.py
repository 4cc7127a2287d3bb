"""What is wrong with a file, and where the reader writes it down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from activities.yaml.codes import REMEDIES
from activities.yaml.sources import Spot


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains a finding."""

    message: str
    spot: Spot


class Sink(Protocol):
    """Takes findings; never raises, so that all independent ones are reported together."""

    def add(
        self,
        code: str,
        spot: Spot,
        message: str,
        remedy: str = "",
        related: Iterable[Related] = (),
    ) -> None:
        """Write down one finding; without ``remedy`` the code's own is meant."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: a code of `codes`, its place, a message without values and a remedy."""

    code: str
    spot: Spot
    message: str
    remedy: str


class Problems:
    """The plainest sink: a list, in the order of finding."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(
        self,
        code: str,
        spot: Spot,
        message: str,
        remedy: str = "",
        related: Iterable[Related] = (),
    ) -> None:
        """Write down one finding."""
        self.found.append(Problem(code, spot, message, remedy or REMEDIES.get(code, "")))
