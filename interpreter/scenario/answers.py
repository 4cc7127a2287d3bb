"""What the driver needs of either dialect's calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from interpreter.contract.operations import EffectClass, OperationContract
from interpreter.contract.schemas import escaped
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition
from interpreter.machine import MachineState
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.state import Cursor
from interpreter.scenario.cases import Act
from interpreter.scenario.faults import CaseFault
from interpreter.scenario.script import Script
from interpreter.scenario.trace import Note

Feed: TypeAlias = Callable[[e.Event], None]
Tell: TypeAlias = Callable[[str, str], None]
"""Takes a step and what happened there."""


class Answers(Protocol):
    """Carries calls out by a case's replies; what comes back is fed to the machine."""

    script: Script
    notes: list[Note]

    def perform(self, command: c.PerformCall) -> None:
        """Begin a call."""

    def cancel(self) -> None:
        """Let a recorded cancel act on calls that wait for their next attempt."""

    def act(self, act: Act, pointer: str, state: MachineState, cursor: Cursor) -> None:
        """Let an operator act on the unknown effect at ``cursor``."""

    def standings(self) -> dict[str, tuple[EffectClass, str]]:
        """Effect id -> its class and ``accepted``, ``unknown`` or ``not-applied``; reads too."""


def contract_of(definition: Definition, step: str) -> OperationContract:
    """The contract of a call step; CaseFault ``coordinator.scenario.reply-step`` otherwise."""
    node = definition.nodes.get(step)
    if not isinstance(node, n.CallNode):
        raise CaseFault(
            "coordinator.scenario.reply-step",
            f"step `{step}` is no call",
            place=f"/replies/{escaped(step)}",
            remedy="give replies to call steps only",
        )
    return definition.operations[node.operation].contract
