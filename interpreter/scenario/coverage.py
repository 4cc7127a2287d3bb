"""Which ways out of which nodes a set of played cases takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interpreter.definition.document import Definition
from interpreter.scenario.trace import Trace


@dataclass(frozen=True, slots=True, order=True)
class Outlet:
    """A named way out of a node, and the node behind it."""

    node: str
    outlet: str
    target: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every outlet of a definition, and those that no case takes."""

    outlets: tuple[Outlet, ...]
    untaken: tuple[Outlet, ...]

    @property
    def taken(self) -> int:
        """How many outlets some case takes."""
        return len(self.outlets) - len(self.untaken)

    @staticmethod
    def of(definition: Definition, traces: Iterable[Trace]) -> Coverage:
        """What the cases take together; a node that is never reached has all outlets untaken."""
        taken: set[tuple[str, str]] = set()
        for trace in traces:
            taken |= trace.outlets
        outlets = outlets_of(definition)
        untaken = tuple(one for one in outlets if (one.node, one.outlet) not in taken)
        return Coverage(outlets, untaken)


def outlets_of(definition: Definition) -> tuple[Outlet, ...]:
    """Every outlet, in the order of nodes and outlets in the definition."""
    return tuple(
        Outlet(name, outlet, target)
        for name, node in definition.nodes.items()
        for outlet, target in node.outlets.items()
    )
