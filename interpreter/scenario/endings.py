"""How a case ends: the state of its run, in the words of its dialect."""

from __future__ import annotations

from collections.abc import Iterable

from interpreter.contract.operations import EffectClass
from interpreter.contract.records import Closing, RunState
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition
from interpreter.machine import MachineState
from interpreter.machine.state import Cursor, Phase
from interpreter.scenario.effects import ACCEPTED, UNKNOWN
from interpreter.scenario.faults import CaseFault
from interpreter.scenario.public import COMPLETED, DEADLINE_EXCEEDED

_PUBLIC_STATES = {
    RunState.FINISHED: COMPLETED,
    RunState.EXPIRED: DEADLINE_EXCEEDED,
}
_PUBLIC_CODES = {
    "choice-invalid": "coordinator.mapping.branch",
    "outcome-invalid": "coordinator.definition.outcome",
    "function.resource": "coordinator.function.resource-limit",
}
"""Failure codes that the public format spells otherwise; all others only gain their prefix."""


def closed_state(closing: Closing, effects: Iterable[tuple[EffectClass, str]]) -> RunState:
    """The state that the ledger would record, which knows every effect (protocol rule 1)."""
    standings = set(effects)
    if (EffectClass.MUTATION, UNKNOWN) in standings:
        return RunState.ATTENTION
    asked = (EffectClass.EVALUATION, UNKNOWN) in standings
    if closing.state is RunState.CANCELLED:
        changed = any(kind is not EffectClass.READ and s == ACCEPTED for kind, s in standings)
        return RunState.CANCELLED_AFTER_EFFECT if changed or asked else RunState.CANCELLED
    return RunState.ATTENTION if asked else closing.state


def standing_of(definition: Definition, state: MachineState) -> RunState:
    """The state of a run that has not ended, as people see it."""
    cursors = [one.cursor for one in state.branches.values() if one.cursor is not None]
    if any(cursor.phase is Phase.ATTENTION for cursor in cursors):
        return RunState.ATTENTION
    if state.cancel_requested:
        return RunState.CANCEL_REQUESTED
    if not cursors or any(cursor.phase is not Phase.WAITING for cursor in cursors):
        return RunState.RUNNING
    paused = any(_approval(definition, cursor) for cursor in cursors)
    return RunState.PAUSED if paused else RunState.WAITING


def _approval(definition: Definition, cursor: Cursor) -> bool:
    node = definition.nodes[cursor.node]
    return isinstance(node, n.WaitNode) and isinstance(node.wait, n.ForApproval)


def public_state(closing: Closing) -> str:
    """The public word for an end; CaseFault with the failure's code where there is none."""
    word = _PUBLIC_STATES.get(closing.state)
    if word is not None:
        return word
    code = closing.failure_code or closing.state.value
    raise CaseFault(
        _PUBLIC_CODES.get(code, f"coordinator.{code}"),
        f"the run fails at `{closing.failure_place}`",
        remedy="correct the mapping or function there, or what the case gives it",
    )
