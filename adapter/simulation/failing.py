"""Failures on demand: which strike now, and what was asked for at run time."""

from __future__ import annotations

from collections import Counter

from adapter.errors import Refused
from adapter.simulation.plan import Failure, SimulationPlan
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition


class Failing:
    """One failure per step at most; each command counts its own attempts."""

    def __init__(self, definition: Definition, plan: SimulationPlan) -> None:
        self._steps = steps_that_can_fail(definition)
        self._failures: dict[str, Failure] = {}
        self._struck: Counter[tuple[str, str]] = Counter()
        for failure in plan.failures:
            self.set(failure)

    def every(self) -> list[Failure]:
        """The failures that are set, by step."""
        return [self._failures[step] for step in sorted(self._failures)]

    def set(self, failure: Failure) -> None:
        """Have a step fail from now on; Refused ``simulation.unknown-step``."""
        require_step(self._steps, failure.step)
        self._failures[failure.step] = failure
        self._forget(failure.step)

    def clear(self, step: str = "") -> None:
        """Have a step, or every step, work again."""
        for one in [step] if step else list(self._failures):
            require_step(self._steps, one)
            self._failures.pop(one, None)
            self._forget(one)

    def strike(self, step: str, command: str, *, repeats: bool) -> Failure | None:
        """The failure that strikes this attempt of a command.

        A command that ``repeats`` itself in every run (a read) is struck anew after it worked.
        """
        failure = self._failures.get(step)
        if failure is None:
            return None
        if failure.times is None or self._struck[step, command] < failure.times:
            self._struck[step, command] += 1
            return failure
        if repeats:
            del self._struck[step, command]
        return None

    def _forget(self, step: str) -> None:
        for one in [known for known in self._struck if known[0] == step]:
            del self._struck[one]


def steps_that_can_fail(definition: Definition) -> list[str]:
    """Calls, and waits for a completion: those that make requests."""
    return [
        name
        for name, node in definition.nodes.items()
        if isinstance(node, n.CallNode)
        or (isinstance(node, n.WaitNode) and isinstance(node.wait, n.ForCompletion))
    ]


def require_step(steps: list[str], step: str) -> None:
    """Refused ``simulation.unknown-step`` for a step that makes no requests."""
    if step not in steps:
        raise Refused(
            "simulation.unknown-step",
            "the project has no step of this name that calls a product",
            place=step[:64],
            remedy=f"use one of: {', '.join(sorted(steps))}",
            status=422,
        )
