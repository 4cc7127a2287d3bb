"""Where a run stands: at its beginning, and what it waits for, asks for and is in doubt about."""

from __future__ import annotations

from interpreter.contract.effects import ROOT_BRANCH
from interpreter.contract.runs import StartRun
from interpreter.definition import nodes as n
from interpreter.machine.commands import Command, PerformCall
from interpreter.machine.entry import open_wait, perform
from interpreter.machine.pointers import epoch_milliseconds
from interpreter.machine.program import Program
from interpreter.machine.signals import has_passed
from interpreter.machine.state import Branch, Phase, RunFacts
from interpreter.machine.state import RunState as MachineState
from interpreter.machine.turn import Turn


def begin(start: StartRun) -> MachineState:
    """The state before anything has happened."""
    facts = RunFacts(
        run_id=start.run_id,
        workflow=start.workflow,
        version=start.version,
        input=start.input,
        admitted_at=start.admitted_at,
        deadline_at=start.deadline_at,
        deadline_ms=epoch_milliseconds(start.deadline_at),
        execution=start.execution,
    )
    return MachineState(facts=facts, branches={ROOT_BRANCH: Branch()})


def reopened(program: Program, state: MachineState) -> tuple[Command, ...]:
    """The commands that open again what a continued run waits for, calls in back-off included.

    So are those of effects that it has passed and that are to be sent again.
    """
    turn = Turn(program, state, 0)
    for name, branch in state.branches.items():
        cursor = branch.cursor
        node = None if cursor is None else program.definition.nodes[cursor.node]
        if cursor is not None and cursor.phase is Phase.WAITING:
            open_wait(turn, name, cursor)
        elif cursor is not None and cursor.phase is Phase.CALLING and isinstance(node, n.CallNode):
            perform(turn, name, cursor, node)
    for effect, view in state.effects.items():
        if view.resend is not None:
            turn.commands.append(resent(program, effect, *view.resend))
    return tuple(turn.commands)


def resent(program: Program, effect: str, generation: int, sequence: int) -> PerformCall:
    """The call that sends the command on record of an effect again which its run has passed."""
    branch, name, visit = visit_of(effect)
    node = program.definition.nodes[name]
    if not isinstance(node, n.CallNode):
        raise ValueError("an effect is a visit of a call")
    operation = program.definition.operations[node.operation]
    contract, connection = operation.contract, operation.connection
    about = (contract.id, connection, contract.effect, None, sequence)
    return PerformCall(branch, name, visit, generation, *about, passed=True)


def doubted(program: Program, state: MachineState) -> tuple[PerformCall, ...]:
    """The effects whose fate is unknown, as they were asked for; none of a run that is ending."""
    turn = Turn(program, state, 0)
    if state.closing is not None or state.closed is not None:
        return ()
    for name, branch in state.branches.items():
        cursor = branch.cursor
        node = None if cursor is None else program.definition.nodes[cursor.node]
        attends = cursor is not None and cursor.phase is Phase.ATTENTION
        if attends and cursor is not None and isinstance(node, n.CallNode):
            perform(turn, name, cursor, node)
    return tuple(one for one in turn.commands if isinstance(one, PerformCall))


def visit_of(visit: str) -> tuple[str, str, int]:
    """Branch, node and number of a visit (``branch/node:number``); ValueError for anything else."""
    branch, _, rest = visit.rpartition("/")
    node, _, number = rest.rpartition(":")
    return branch, node, int(number)


def attended(state: MachineState, visit: str) -> tuple[str, str, int, int] | None:
    """Branch, node, number and generation of a visit at which a branch stands in doubt."""
    for name, branch in state.branches.items():
        cursor = branch.cursor
        if cursor is None or cursor.phase is not Phase.ATTENTION:
            continue
        if visit == f"{name}/{cursor.node}:{cursor.visit}":
            return name, cursor.node, cursor.visit, cursor.generation
    return None


def answered(state: MachineState, visit: str) -> bool:
    """True where a run that goes on has left an effect behind, with the answer that it had.

    A ledger that was restored may have lost that answer.
    """
    goes_on = state.closing is None and state.closed is None
    return goes_on and visit in state.effects and has_passed(state, visit)
