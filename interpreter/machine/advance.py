"""The one transition: an event becomes a new state and commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from interpreter.contract.effects import ROOT_BRANCH, Reply, ReplyKind
from interpreter.contract.operations import EffectClass
from interpreter.contract.records import Closed, Closing, RunState
from interpreter.definition import nodes as n
from interpreter.machine import events as e
from interpreter.machine.commands import Attend, Command, StopWaiting
from interpreter.machine.entry import (
    enter,
    leave,
    leave_as_recorded,
    perform,
    take_cancel_route,
)
from interpreter.machine.program import Program
from interpreter.machine.signals import SignalVerdict, judge
from interpreter.machine.standing import answered, resent
from interpreter.machine.state import (
    Cursor,
    EffectView,
    KeptSignal,
    Phase,
)
from interpreter.machine.state import RunState as MachineState
from interpreter.machine.trail import Passage
from interpreter.machine.turn import CANCELLED, Turn, always

_ADMITTED = frozenset({SignalVerdict.COMPLETED, SignalVerdict.KEPT})


def advance(
    program: Program,
    state: MachineState,
    event: e.Event,
    limited: Callable[[], bool] = always,
    gives_up: Callable[[], bool] = always,
) -> tuple[MachineState, tuple[Command, ...]]:
    """Take one event; gives the next state and what the world is asked to do.

    An event about a visit at which no branch stands any more is late and changes nothing: the
    first recorded wins. ``limited`` is asked where a value or the run is found to be too large, and
    ``gives_up`` where a route of ``onCancel`` stands at an unknown evaluation: False for an
    execution that went on there before these were ends.
    """
    after, commands, _ = advance_traced(program, state, event, limited, gives_up)
    return after, commands


def advance_traced(
    program: Program,
    state: MachineState,
    event: e.Event,
    limited: Callable[[], bool] = always,
    gives_up: Callable[[], bool] = always,
) -> tuple[MachineState, tuple[Command, ...], tuple[Passage, ...]]:
    """The same, with the way that the run took through its graph in this turn."""
    if isinstance(event, e.ClosedAs):
        return *_closed(state, event.closed), ()
    if state.closed is not None or (state.closing is not None):
        return state, (), ()
    turn = Turn(program, state, event.now_ms, limited, gives_up)
    match event:
        case e.Started():
            enter(turn, ROOT_BRANCH, program.definition.start)
        case e.Answered():
            _answered(turn, event)
        case e.RetriedSame():
            _retried_same(turn, event)
        case e.Elapsed():
            _elapsed(turn, event)
        case e.Completed():
            _completed(turn, event)
        case e.Signalled():
            _signalled(turn, event)
        case e.Decided():
            _decided(turn, event)
        case e.CancelRequested():
            _cancel_requested(turn, event)
        case e.DeadlineReached():
            _deadline_reached(turn)
        case e.DoubtLifted():
            _doubt_lifted(turn, event)
    return turn.state, tuple(turn.commands), tuple(turn.trail)


def _closed(state: MachineState, closed: Closed) -> tuple[MachineState, tuple[Command, ...]]:
    if closed.state is RunState.ATTENTION:
        # The ledger holds an unknown effect that the machine's memory missed: a person is needed.
        return replace(state, closing=None, wanted=state.closing), ()
    return replace(state, closed=closed), ()


def _standing_at(
    turn: Turn,
    event: e.Answered | e.RetriedSame | e.Elapsed | e.Completed | e.Decided,
    *phases: Phase,
) -> Cursor | None:
    branch = turn.state.branches.get(event.branch)
    cursor = branch.cursor if branch is not None else None
    if cursor is None or (cursor.node, cursor.visit) != (event.node, event.visit):
        return None
    return cursor if cursor.phase in phases else None


def _written(turn: Turn, sequence: int) -> None:
    """Drop the projections that a write up to ``sequence`` has carried."""
    if turn.state.unwritten:
        rest = tuple(step for step in turn.state.unwritten if step.sequence > sequence)
        turn.change(unwritten=rest)


def _answered(turn: Turn, event: e.Answered) -> None:
    cursor = _standing_at(turn, event, Phase.CALLING, Phase.ATTENTION)
    if cursor is None or event.generation < cursor.generation:
        return
    reply = event.reply
    if reply.kind is ReplyKind.NOT_PERMITTED:
        _not_permitted(turn, event, reply)
        return
    _written(turn, cursor.sequence)
    _keep_standing(turn, event, reply)
    match reply.kind:
        case ReplyKind.ACCEPTED:
            leave(turn, event.branch, "next", reply.output)
        case ReplyKind.UNKNOWN | ReplyKind.RECEIPT_EXPIRED:
            _attend(turn, event.branch, cursor, reply)
        case ReplyKind.DECLARED_REFUSAL:
            _refused(turn, event.branch, cursor, reply, n.REFUSAL_OUTLET + reply.code)
        case _:
            _refused(turn, event.branch, cursor, reply, "failed")


def _keep_standing(turn: Turn, event: e.Answered, reply: Reply) -> None:
    node = turn.program.definition.nodes[event.node]
    if not isinstance(node, n.CallNode):
        return
    contract = turn.program.definition.operations[node.operation].contract
    if contract.effect is EffectClass.READ:
        return
    effect = f"{event.branch}/{event.node}:{event.visit}"
    known = turn.state.effects.get(effect)
    view = EffectView(contract.id, reply.kind.value, "" if known is None else known.act)
    turn.change(effects={**turn.state.effects, effect: view})


def _attend(turn: Turn, branch: str, cursor: Cursor, reply: Reply) -> None:
    code = reply.code or reply.kind.value
    at = turn.branch(branch)
    attended = replace(cursor, phase=Phase.ATTENTION, code=code)
    turn.put(branch, replace(at, cursor=attended))
    if turn.state.cancel_requested and _may_stay_unknown(turn, attended):
        # Nothing settles it any more, so what is left of the cancel's own route is not done.
        if not at.after_cancel or turn.gives_up():
            turn.close(Closing(RunState.CANCELLED, 0))
            return
    turn.commands.append(Attend(branch, cursor.node, cursor.visit, code))


def _may_stay_unknown(turn: Turn, cursor: Cursor) -> bool:
    """True for an evaluation: it changes nothing that a person could look up at the product."""
    node = turn.program.definition.nodes[cursor.node]
    if cursor.phase is not Phase.ATTENTION or not isinstance(node, n.CallNode):
        return False
    contract = turn.program.definition.operations[node.operation].contract
    return contract.effect is EffectClass.EVALUATION


def _refused(turn: Turn, branch: str, cursor: Cursor, reply: Reply, outlet: str) -> None:
    node = turn.program.definition.nodes[cursor.node]
    if outlet in node.outlets:
        member = "refusalCode" if reply.kind is ReplyKind.DECLARED_REFUSAL else "failureCode"
        leave(turn, branch, outlet, {member: reply.code})
        return
    refusal = reply.kind in (ReplyKind.DECLARED_REFUSAL, ReplyKind.REFUSED)
    own_word = refusal and (
        reply.kind is ReplyKind.DECLARED_REFUSAL or reply.code.startswith("product-")
    )
    turn.fail("product-refused" if own_word else reply.code, f"steps.{cursor.node}")


def _not_permitted(turn: Turn, event: e.Answered, reply: Reply) -> None:
    """PostgreSQL's word on permission means the same as the driver's own event (rule 7)."""
    match reply.code:
        case "run-closed":
            turn.change(closed=_closed_from(reply))
        case "deadline":
            turn.change(deadline_passed=True)
            turn.close(Closing(RunState.EXPIRED, 0))
        case "cancel":
            turn.change(cancel_requested=True)
            turn.close(Closing(RunState.CANCELLED, 0))
        case _:
            turn.fail(reply.code, f"steps.{event.node}")


def _closed_from(reply: Reply) -> Closed:
    record = reply.output or {}
    return Closed(
        RunState(record.get("state", RunState.FAILED.value)),
        record.get("outcome", ""),
        record.get("output"),
        record.get("failureCode", ""),
    )


def _retried_same(turn: Turn, event: e.RetriedSame) -> None:
    cursor = _standing_at(turn, event, Phase.ATTENTION)
    node = turn.program.definition.nodes[event.node]
    if not isinstance(node, n.CallNode):
        return
    if cursor is None:
        _resend(turn, event)
        return
    if event.generation <= cursor.generation and _told(turn, event):
        # The act was carried out before; continue-as-new makes Temporal forget its id. Another one
        # comes from a restored ledger, which has lost generations.
        return
    at = turn.branch(event.branch)
    sequence = turn.number(2)
    turned = replace(
        cursor, phase=Phase.CALLING, generation=event.generation, sequence=sequence, code=""
    )
    turn.put(event.branch, replace(at, cursor=turned))
    perform(turn, event.branch, turned, node)
    _note_effect(turn, f"{event.branch}/{event.node}:{event.visit}", act=event.act)


def _told(turn: Turn, event: e.RetriedSame) -> bool:
    known = turn.state.effects.get(f"{event.branch}/{event.node}:{event.visit}")
    return not event.act or (known is not None and known.act == event.act)


def _note_effect(turn: Turn, effect: str, **members: Any) -> None:
    known = turn.state.effects.get(effect)
    if known is not None:
        noted = replace(known, **members)
        turn.change(effects={**turn.state.effects, effect: noted})


def _resend(turn: Turn, event: e.RetriedSame) -> None:
    """Send a command again to which the run has had its answer, and a restored ledger has not.

    What is sent is the command on record, and the answer is for the ledger alone.
    """
    effect = f"{event.branch}/{event.node}:{event.visit}"
    if not answered(turn.state, effect) or turn.state.effects[effect].act == event.act:
        return
    resend = (event.generation, turn.number(2))
    _note_effect(turn, effect, act=event.act, resend=resend)
    turn.commands.append(resent(turn.program, effect, *resend))


def _elapsed(turn: Turn, event: e.Elapsed) -> None:
    cursor = _standing_at(turn, event, Phase.WAITING)
    node = turn.program.definition.nodes[event.node]
    if cursor is None or not isinstance(node, n.WaitNode):
        return
    _written(turn, cursor.sequence)
    facts = turn.state.facts
    if cursor.until_ms is not None and cursor.until_ms >= facts.deadline_ms:
        _deadline_reached(turn)
        return
    instant = isinstance(node.wait, n.UntilInstant | n.ForDuration)
    outlet = "elapsed" if instant else "expired"
    if outlet in node.outlets:
        turn.note(event.branch, event.node, event.visit, "succeeded", outlet)
        leave(turn, event.branch, outlet)
        return
    turn.note(event.branch, event.node, event.visit, "failed", code="wait-timeout")
    turn.fail("wait-timeout", f"steps.{event.node}")


def _completed(turn: Turn, event: e.Completed) -> None:
    cursor = _standing_at(turn, event, Phase.WAITING)
    if cursor is None:
        return
    _written(turn, cursor.sequence)
    if event.gone:
        turn.note(event.branch, event.node, event.visit, "failed", code="completion-gone")
        turn.fail("completion-gone", f"steps.{event.node}")
        return
    turn.note(event.branch, event.node, event.visit, "succeeded", "completed")
    leave(turn, event.branch, "completed", event.value)


def _signalled(turn: Turn, event: e.Signalled) -> None:
    judged = judge(turn.program, turn.state, event.name, event.id, event.payload)
    if judged.repeated or judged.verdict not in _ADMITTED:
        return
    turn.remember(event.id)
    cursor = turn.branch(judged.branch).cursor if judged.branch else None
    if cursor is None:
        kept = KeptSignal(event.name, event.id, event.payload)
        turn.change(signals=(*turn.state.signals, kept))
        return
    _written(turn, cursor.sequence)
    at = (judged.branch, cursor.node, cursor.visit)
    turn.commands.append(StopWaiting(*at, "resumed"))
    # The projection names the signal: by it the ledger learns which one has completed the wait.
    turn.note(*at, "succeeded", "resumed", event.id)
    leave(turn, judged.branch, "resumed", event.payload)


def _decided(turn: Turn, event: e.Decided) -> None:
    cursor = _standing_at(turn, event, Phase.WAITING)
    node = turn.program.definition.nodes[event.node]
    if cursor is None or not isinstance(node, n.WaitNode) or not cursor.plan_digest:
        return
    if event.plan_digest != cursor.plan_digest:
        # Somebody decided about another plan than the one that is open.
        return
    outlet = "approved" if event.approved else "rejected"
    _written(turn, cursor.sequence)
    turn.commands.append(StopWaiting(event.branch, event.node, event.visit, outlet))
    if outlet not in node.outlets:
        turn.note(event.branch, event.node, event.visit, "failed", code=f"plan-{outlet}")
        turn.fail(f"plan-{outlet}", f"steps.{event.node}")
        return
    turn.note(event.branch, event.node, event.visit, "succeeded", outlet)
    leave(turn, event.branch, outlet, {"planDigest": event.plan_digest})


def _cancel_requested(turn: Turn, event: e.CancelRequested) -> None:
    if turn.state.cancel_requested:
        return
    turn.change(cancel_requested=True, ahead=event.ahead)
    busy = False
    for name, branch in turn.state.branches.items():
        cursor = branch.cursor
        if cursor is None or turn.state.closing is not None:
            continue
        if cursor.phase is not Phase.WAITING:
            # A call in flight, or one whose fate is unknown, is resolved first.
            busy = busy or not _may_stay_unknown(turn, cursor)
            continue
        ahead = turn.ahead(name, cursor.node, cursor.visit)
        resolution = CANCELLED if ahead is None else ahead.resolution
        turn.commands.append(StopWaiting(name, cursor.node, cursor.visit, resolution))
        if ahead is not None:
            _written(turn, cursor.sequence)
            busy = True
            turn.put(name, replace(turn.branch(name), cursor=None))
            enter(turn, name, leave_as_recorded(turn, name, cursor.node, cursor.visit, ahead))
        elif _follows_cancel(turn, name, cursor):
            _written(turn, cursor.sequence)
            busy = True
            enter(turn, name, take_cancel_route(turn, name, cursor.node, cursor.visit))
    if not busy:
        turn.close(Closing(RunState.CANCELLED, 0))


def _follows_cancel(turn: Turn, branch: str, cursor: Cursor) -> bool:
    outlets = turn.program.definition.nodes[cursor.node].outlets
    return CANCELLED in outlets and turn.follows_cancel(branch, cursor.node, cursor.visit)


def _deadline_reached(turn: Turn) -> None:
    turn.change(deadline_passed=True)
    cursors = [b.cursor for b in turn.state.branches.values() if b.cursor is not None]
    for name, branch in turn.state.branches.items():
        cursor = branch.cursor
        if cursor is not None and cursor.phase is Phase.WAITING:
            turn.commands.append(StopWaiting(name, cursor.node, cursor.visit, "expired"))
    if all(cursor.phase is Phase.WAITING for cursor in cursors):
        turn.close(Closing(RunState.EXPIRED, 0))


def _doubt_lifted(turn: Turn, event: e.DoubtLifted) -> None:
    if event.effect is not None:
        _note_effect(turn, "{}/{}:{}".format(*event.effect), resend=None)
    wanted = turn.state.wanted
    if wanted is not None:
        turn.change(wanted=None)
        turn.close(wanted)
