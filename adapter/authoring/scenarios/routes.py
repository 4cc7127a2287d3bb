"""Ways through a workflow's graph: to one outlet of one step, and from there to a finish."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from interpreter.definition.document import Definition
from interpreter.definition.nodes import FinishNode
from interpreter.scenario import Outlet


@dataclass(frozen=True, slots=True)
class Route:
    """The steps of a run in order, each with the outlet it takes, and the step at the end."""

    hops: tuple[tuple[str, str], ...]
    end: str

    @property
    def path(self) -> list[str]:
        """The steps in order."""
        return [*(step for step, _ in self.hops), self.end]


def route_through(definition: Definition, outlet: Outlet) -> Route | None:
    """The shortest route that takes an outlet, or None if no run can."""
    before = _shortest(definition, definition.start, {outlet.node})
    ends = {name for name, node in definition.nodes.items() if isinstance(node, FinishNode)}
    after = _shortest(definition, outlet.target, ends)
    if before is None or after is None:
        return None
    return Route((*before.hops, (outlet.node, outlet.outlet), *after.hops), after.end)


def _shortest(definition: Definition, start: str, ends: set[str]) -> Route | None:
    """Breadth first, in the order in which steps write their outlets: the main way comes first."""
    known: dict[str, tuple[str, str] | None] = {start: None}
    waiting = deque([start])
    while waiting:
        step = waiting.popleft()
        if step in ends:
            return _walked(known, step)
        for outlet, target in definition.nodes[step].outlets.items():
            if target not in known:
                known[target] = (step, outlet)
                waiting.append(target)
    return None


def _walked(known: dict[str, tuple[str, str] | None], end: str) -> Route:
    hops: list[tuple[str, str]] = []
    step = end
    while (hop := known[step]) is not None:
        hops.append(hop)
        step = hop[0]
    return Route(tuple(reversed(hops)), end)
