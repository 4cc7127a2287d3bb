"""How a branch enters a node: pure nodes are passed at once, the others become a command."""

from __future__ import annotations

from dataclasses import replace

from interpreter.contract.calls import OnRecord
from interpreter.contract.records import Closing, RunState
from interpreter.contract.values import JsonValue, digest
from interpreter.definition import nodes as n
from interpreter.errors import DefinitionError, MappingError
from interpreter.machine.bounds import fits_in_a_step
from interpreter.machine.commands import Observe, PerformCall, StartTimer
from interpreter.machine.pointers import epoch_milliseconds, resolve
from interpreter.machine.signals import takes
from interpreter.machine.state import Branch, Cursor, KeptSignal, Phase
from interpreter.machine.turn import CANCELLED, Turn

_BY_TIME = frozenset({"elapsed", "expired"})


def enter(turn: Turn, branch: str, node: str | None) -> None:
    """Move a branch to ``node`` and on through every node that needs nothing from the world."""
    while node is not None and turn.state.closing is None:
        node = _enter_one(turn, branch, node)


def leave(turn: Turn, branch: str, outlet: str, output: JsonValue = None) -> None:
    """Leave the node at which a branch stands through ``outlet`` with its output."""
    at = turn.branch(branch)
    cursor = at.cursor
    if cursor is None:
        raise ValueError("the branch stands at no node")
    if not turn.keep(branch, cursor.node, output):
        _too_much(turn, branch, cursor.node)
        return
    turn.put(branch, replace(turn.branch(branch), cursor=None))
    enter(turn, branch, turn.left(branch, cursor.node, cursor.visit, outlet))


def _too_much(turn: Turn, branch: str, name: str) -> None:
    """End a run that would keep more than it can hand on; what it has done stays done.

    A call's own ``failed`` outlet would say that nothing was applied.
    """
    if not _stopped(turn, turn.branch(branch)):
        turn.fail("data-limit", f"steps.{name}")


def _enter_one(turn: Turn, branch: str, name: str) -> str | None:
    node = turn.program.definition.nodes[name]
    at = turn.branch(branch)
    visit = at.visits.get(name, 0) + 1
    if visit > node.policy.most_visits:
        turn.fail("visit-limit", f"steps.{name}")
        return None
    turn.put(branch, replace(at, visits={**at.visits, name: visit}))
    turn.entered(branch, name, visit)
    try:
        match node:
            case n.ChooseNode():
                return _choose(turn, branch, name, visit, node)
            case n.MapNode():
                return _map(turn, branch, name, visit, node)
            case n.CallNode():
                _call(turn, branch, name, visit, node)
            case n.WaitNode():
                return _wait(turn, branch, name, visit, node)
            case n.FinishNode():
                _finish(turn, branch, name, visit, node)
            case _:
                turn.fail("node-kind-unsupported", f"steps.{name}")
    except MappingError as error:
        if "failed" in node.outlets and not _failed_is_case(node):
            turn.keep(branch, name, {"failureCode": error.code}, bounded=False)
            turn.note(branch, name, visit, "failed", "failed", error.code)
            return turn.left(branch, name, visit, "failed")
        turn.note(branch, name, visit, "failed", code=error.code)
        turn.fail_mapping(error)
    return None


def _failed_is_case(node: n.AnyNode) -> bool:
    """True where ``failed`` is a label of the author's, not the machine's way out."""
    return isinstance(node, n.ChooseNode) and node.failed_is_case is True


def _choose(turn: Turn, branch: str, name: str, visit: int, node: n.ChooseNode) -> str | None:
    place = f"steps.{name}.choose"
    if node.choose is not None:
        label = turn.value(node.choose, branch, place)
    else:
        label = node.otherwise
        for index, case in enumerate(node.cases):
            if turn.value(case.when, branch, f"steps.{name}.cases.{index}") is True:
                label = case.outlet
                break
    if not isinstance(label, str) or label not in node.outlets:
        raise MappingError("choice-invalid", "the label names no case", place=place)
    turn.keep(branch, name, label, bounded=False)
    turn.note(branch, name, visit, "succeeded", label)
    return turn.left(branch, name, visit, label)


def _map(turn: Turn, branch: str, name: str, visit: int, node: n.MapNode) -> str:
    place = f"steps.{name}.value"
    value = turn.value(node.value, branch, place)
    if not fits_in_a_step(value) and turn.limited():
        raise MappingError("mapping.value-size", "a value is larger than 256 KiB", place=place)
    if not turn.keep(branch, name, value):
        raise MappingError("data-limit", "the run keeps more than 6 MiB", place=place)
    turn.note(branch, name, visit, "succeeded", "next")
    return turn.left(branch, name, visit, "next")


def _stopped(turn: Turn, at: Branch) -> bool:
    """Close the run where a cancel or the deadline forbids anything that takes time."""
    if turn.state.deadline_passed:
        turn.close(Closing(RunState.EXPIRED, 0))
        return True
    if turn.state.cancel_requested and not at.after_cancel:
        turn.close(Closing(RunState.CANCELLED, 0))
        return True
    return False


def _call(turn: Turn, branch: str, name: str, visit: int, node: n.CallNode) -> None:
    at = turn.branch(branch)
    # What is on record is answered from there, and nothing is sent.
    if turn.ahead(branch, name, visit) is None and _stopped(turn, at):
        return
    place = f"steps.{name}.input"
    value = turn.value(node.input, branch, place)
    if not isinstance(value, dict):
        raise MappingError("mapping.call-shape", "a call's input is an object", place=place)
    if not fits_in_a_step(value):
        raise MappingError(
            "mapping.call-size", "a call's input is larger than 256 KiB", place=place
        )
    cursor = Cursor(name, visit, Phase.CALLING, 1, turn.number(2))
    turn.put(branch, replace(at, cursor=cursor))
    perform(turn, branch, cursor, node, value)


def perform(
    turn: Turn, branch: str, cursor: Cursor, node: n.CallNode, value: JsonValue = None
) -> None:
    """Ask the world for the call at which a branch stands; its input is mapped if not given."""
    if value is None:
        value = turn.value(node.input, branch, f"steps.{cursor.node}.input")
    operation = turn.program.definition.operations[node.operation]
    turn.commands.append(
        PerformCall(
            branch,
            cursor.node,
            cursor.visit,
            cursor.generation,
            operation.contract.id,
            operation.connection,
            operation.contract.effect,
            value,
            cursor.sequence,
            turn.state.unwritten,
            turn.branch(branch).after_cancel,
        )
    )


def _wait(turn: Turn, branch: str, name: str, visit: int, node: n.WaitNode) -> str | None:
    at = turn.branch(branch)
    ahead = turn.ahead(branch, name, visit)
    if ahead is not None:
        if not ahead.kept:
            # The numbers of its opening, so that what follows has those that stand on record.
            turn.number(2)
        return leave_as_recorded(turn, branch, name, visit, ahead)
    if turn.state.cancel_requested and not at.after_cancel and CANCELLED in node.outlets:
        if turn.follows_cancel(branch, name, visit):
            return take_cancel_route(turn, branch, name, visit)
    if _stopped(turn, at):
        return None
    source = node.wait
    if isinstance(source, n.ForSignal):
        kept = _take_kept(turn, node, source.signal)
        if kept is not None:
            turn.note(branch, name, visit, "succeeded", "resumed", kept.id)
            if not turn.keep(branch, name, kept.payload):
                _too_much(turn, branch, name)
                return None
            return turn.left(branch, name, visit, "resumed")
    until = _until(turn, branch, name, source)
    plan, plan_digest = _plan(turn, branch, name, source)
    cursor = Cursor(
        name,
        visit,
        Phase.WAITING,
        1,
        turn.number(2),
        until,
        plan=plan,
        plan_digest=plan_digest,
    )
    turn.put(branch, replace(turn.branch(branch), cursor=cursor))
    open_wait(turn, branch, cursor)
    return None


def open_wait(turn: Turn, branch: str, cursor: Cursor) -> None:
    """Ask the world to wait as the cursor says: by a timer, or by reading a source."""
    node = turn.program.definition.nodes[cursor.node]
    if not isinstance(node, n.WaitNode) or cursor.until_ms is None:
        return
    if isinstance(node.wait, n.ForCompletion):
        turn.commands.append(_observe(turn, branch, cursor, node.wait, cursor.until_ms))
        return
    turn.commands.append(
        StartTimer(
            branch,
            cursor.node,
            cursor.visit,
            node.wait.type,
            cursor.until_ms,
            cursor.sequence,
            turn.state.unwritten,
            cursor.plan,
            cursor.plan_digest,
        )
    )


def _plan(turn: Turn, branch: str, name: str, source: n.WaitSource) -> tuple[JsonValue, str]:
    """What a person is asked to approve and its digest; nothing for another kind of wait."""
    if not isinstance(source, n.ForApproval):
        return None, ""
    place = f"steps.{name}.plan"
    plan = turn.value(source.plan, branch, place)
    if not fits_in_a_step(plan):
        raise MappingError("mapping.plan-size", "a plan is larger than 256 KiB", place=place)
    try:
        return plan, digest(plan)
    except DefinitionError as error:
        # Without a canonical form nobody could say which plan was approved.
        raise MappingError("mapping.plan", error.message, place=place) from error


def _until(turn: Turn, branch: str, name: str, source: n.WaitSource) -> int:
    """When the wait is over, never later than the run's deadline."""
    match source:
        case n.UntilInstant():
            place = f"steps.{name}.waitUntil"
            text = turn.value(source.at, branch, place)
            try:
                until = epoch_milliseconds(text)
            except (TypeError, ValueError) as error:
                raise MappingError(
                    "mapping.timestamp", "not an RFC 3339 instant with offset", place=place
                ) from error
        case n.ForDuration():
            until = turn.now_ms + source.seconds * 1000
        case _:
            until = turn.now_ms + source.timeout_seconds * 1000
    return min(until, turn.state.facts.deadline_ms)


def _observe(
    turn: Turn, branch: str, cursor: Cursor, source: n.ForCompletion, until: int
) -> Observe:
    definition = turn.program.definition
    call = definition.nodes[source.call]
    if not isinstance(call, n.CallNode):
        raise MappingError(
            "wait.no-call", "the wait names no call", place=f"steps.{cursor.node}.call"
        )
    operation = definition.operations[call.operation]
    completion = operation.contract.completions[source.completion]
    accepted = turn.branch(branch).outputs.get(source.call)
    try:
        value = {key: resolve(accepted, path) for key, path in completion.input.items()}
    except LookupError as error:
        raise MappingError(
            "mapping.missing-value",
            f"the reply of step {source.call!r} does not name what to observe",
            place=f"steps.{cursor.node}.call",
        ) from error
    return Observe(
        branch,
        cursor.node,
        cursor.visit,
        completion.read,
        operation.connection,
        value,
        until,
        cursor.sequence,
        turn.state.unwritten,
    )


def _take_kept(turn: Turn, node: n.WaitNode, name: str) -> KeptSignal | None:
    for index, signal in enumerate(turn.state.signals):
        if signal.name == name and takes(turn.program, node, name, signal.payload):
            rest = turn.state.signals[:index] + turn.state.signals[index + 1 :]
            turn.change(signals=rest)
            return signal
    return None


def take_cancel_route(turn: Turn, branch: str, name: str, visit: int) -> str:
    """Mark the branch as on its ``onCancel`` route; gives the route's first node."""
    at = turn.branch(branch)
    turn.put(branch, replace(at, after_cancel=True, cursor=None))
    turn.keep(branch, name, None, bounded=False)
    turn.note(branch, name, visit, "cancelled", CANCELLED)
    return turn.left(branch, name, visit, CANCELLED)


def leave_as_recorded(
    turn: Turn, branch: str, name: str, visit: int, ahead: OnRecord
) -> str | None:
    """Leave a wait as the ledger says it ended, not by a cancel; gives the node behind it.

    Where the way on can not be told, as after a signal that is lost, the run ends here: what came
    after the wait was done, so its ``onCancel`` is not what the cancel is to bring about.
    """
    outlet, signal = ahead.resolution, ahead.signal
    outlets = turn.program.definition.nodes[name].outlets
    if outlet not in outlets or (signal is None and outlet not in _BY_TIME):
        turn.close(Closing(RunState.CANCELLED, 0))
        return None
    if signal is not None:
        kept = tuple(one for one in turn.state.signals if one.id != signal.id)
        turn.change(signals=kept)
        turn.remember(signal.id)
    turn.note(branch, name, visit, "succeeded", outlet, "" if signal is None else signal.id)
    if not turn.keep(branch, name, None if signal is None else signal.payload):
        _too_much(turn, branch, name)
        return None
    return turn.left(branch, name, visit, outlet)


def _finish(turn: Turn, branch: str, name: str, visit: int, node: n.FinishNode) -> None:
    at = turn.branch(branch)
    if turn.state.cancel_requested and not at.after_cancel:
        turn.close(Closing(RunState.CANCELLED, 0))
        return
    place = f"steps.{name}.output"
    output = None if node.output is None else turn.value(node.output, branch, place)
    if not fits_in_a_step(output) and turn.limited():
        raise MappingError("mapping.output-size", "an output is larger than 256 KiB", place=place)
    schema = turn.program.definition.outcomes[node.outcome]
    if not turn.program.schemas.fits(schema, output):
        raise MappingError(
            "outcome-invalid", "the output does not fit its outcome's schema", place=place
        )
    turn.note(branch, name, visit, "succeeded")
    state = RunState.CANCELLED if at.after_cancel else RunState.FINISHED
    turn.close(Closing(state, 0, outcome=node.outcome, output=output))
