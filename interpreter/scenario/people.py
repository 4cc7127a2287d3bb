"""What a case lets happen besides replies: completions, signals, decisions, acts and a cancel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from interpreter.contract.effects import ROOT_BRANCH
from interpreter.contract.values import digest
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition
from interpreter.machine import MachineState
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.state import Cursor, Phase
from interpreter.scenario.answers import Answers, Feed
from interpreter.scenario.cases import Act, Case, Completion, Decision, Moment, Signal
from interpreter.scenario.checks import Checks
from interpreter.scenario.clock import SCRIPTED, Clock, Due
from interpreter.scenario.faults import CaseFault


@dataclass(slots=True)
class _Scripted:
    """Things of one kind that belong to a step, in order, with their pointers."""

    things: list[tuple[str, Completion | Decision | Act]] = field(default_factory=list)
    anchor_ms: int = 0


class People:
    """Schedules what the script lets happen, when what it belongs to comes up."""

    def __init__(
        self,
        case: Case,
        definition: Definition,
        clock: Clock,
        checks: Checks,
        calls: Answers,
        feed: Feed,
        state: Callable[[], MachineState],
    ) -> None:
        self._case = case
        self._definition = definition
        self._clock = clock
        self._checks = checks
        self._calls = calls
        self._feed = feed
        self._state = state
        self._arrivals: defaultdict[str, _Scripted] = defaultdict(_Scripted)
        self._acts: defaultdict[str, _Scripted] = defaultdict(_Scripted)
        self._due: dict[str, list[Due]] = {}
        self._open: set[str] = set()
        self._waiting: dict[str, list[tuple[str, Callable[[], None], Moment]]] = {}
        self._check_steps()
        self._enlist()

    def _check_steps(self) -> None:
        waits = {"completions": n.ForCompletion, "decisions": n.ForApproval}
        for kind, source in waits.items():
            for index, one in enumerate(getattr(self._case, kind)):
                node = self._definition.nodes.get(one.step)
                if not isinstance(node, n.WaitNode) or not isinstance(node.wait, source):
                    raise _wrong_step(f"/{kind}/{index}/step", one.step, f"has no {kind}")
        for index, act in enumerate(self._case.acts):
            if not isinstance(self._definition.nodes.get(act.step), n.CallNode):
                raise _wrong_step(f"/acts/{index}/step", act.step, "is no call")

    def _enlist(self) -> None:
        for index, completion in enumerate(self._case.completions):
            self._add(self._arrivals, completion.step, f"/completions/{index}", completion)
        for index, decision in enumerate(self._case.decisions):
            self._add(self._arrivals, decision.step, f"/decisions/{index}", decision)
        for index, act in enumerate(self._case.acts):
            self._add(self._acts, act.step, f"/acts/{index}", act)
        for index, signal in enumerate(self._case.signals):
            pointer = f"/signals/{index}"
            self._anchor(signal.step, pointer, signal.moment, partial(self._signal, index, signal))
        if self._case.cancel is not None:
            cancel = self._case.cancel
            self._anchor(cancel.step, "/cancel", cancel.moment, self._cancel)

    def _add(
        self,
        among: defaultdict[str, _Scripted],
        step: str,
        pointer: str,
        thing: Completion | Decision | Act,
    ) -> None:
        among[step].things.append((pointer, thing))
        self._open.add(pointer)

    def _anchor(self, step: str, pointer: str, moment: Moment, happen: Callable[[], None]) -> None:
        """Schedule a thing from admission, or keep it until the run comes to ``step``."""
        self._open.add(pointer)
        if step:
            self._waiting.setdefault(step, []).append((pointer, happen, moment))
        else:
            due = moment.due(self._case.admitted_ms)
            self._clock.at(due, SCRIPTED, partial(self._once, pointer, happen))

    def _once(self, pointer: str, happen: Callable[[], None]) -> None:
        self._open.discard(pointer)
        happen()

    def unused(self) -> list[str]:
        """The pointers of what never happened."""
        return sorted(self._open)

    def came_to(self, step: str) -> None:
        """The run came to a step: what is counted from there is due now or later."""
        for pointer, happen, moment in self._waiting.pop(step, ()):
            due = moment.due(self._clock.now_ms)
            self._clock.at(due, SCRIPTED, partial(self._once, pointer, happen))

    def left(self, step: str) -> None:
        """The run left a step: what was to arrive there comes too late."""
        for due in self._due.pop(step, ()):
            due.off = True

    def opened(self, command: c.StartTimer | c.Observe) -> None:
        """A wait opened: its next completion or decision is on its way."""
        scripted = self._arrivals.get(command.node)
        if scripted is None or not scripted.things:
            return
        pointer, thing = scripted.things.pop(0)
        now = self._clock.now_ms
        due = thing.moment.due(now)
        if isinstance(thing, Completion):
            happen: Callable[[], None] = partial(self._complete, command, pointer, thing)
        elif isinstance(thing, Decision) and isinstance(command, c.StartTimer):
            _check_not_before(due, now, pointer, "the approval was not open yet")
            happen = partial(self._decide, command, pointer, thing)
        else:
            return
        self._schedule(command.node, due, partial(self._once, pointer, happen))

    def attended(self, step: str) -> None:
        """An effect is unknown: its next act, if any, is due."""
        self._acts[step].anchor_ms = self._clock.now_ms
        self._next_act(step)

    def _next_act(self, step: str) -> None:
        scripted = self._acts[step]
        if not scripted.things:
            return
        pointer, act = scripted.things.pop(0)
        due = act.moment.due(scripted.anchor_ms)
        _check_not_before(due, scripted.anchor_ms, pointer, "the effect was not unknown yet")
        if isinstance(act, Act):
            self._schedule(
                step, due, partial(self._once, pointer, partial(self._act, pointer, act))
            )

    def _schedule(self, step: str, due_ms: int, happen: Callable[[], None]) -> None:
        self._due.setdefault(step, []).append(self._clock.at(due_ms, SCRIPTED, happen))

    def _complete(
        self, command: c.StartTimer | c.Observe, pointer: str, completion: Completion
    ) -> None:
        if not completion.gone:
            self._check_completion(command.node, pointer, completion)
        now = self._clock.now_ms
        at = (command.branch, command.node, command.visit)
        self._feed(e.Completed(*at, completion.value, now, completion.gone))

    def _check_completion(self, step: str, pointer: str, completion: Completion) -> None:
        node = self._definition.nodes[step]
        assert isinstance(node, n.WaitNode)
        assert isinstance(node.wait, n.ForCompletion)
        call = self._definition.nodes[node.wait.call]
        assert isinstance(call, n.CallNode)
        contract = self._definition.operations[call.operation].contract
        schema = contract.completions[node.wait.completion].value_schema
        misfit = self._checks.misfit(schema, completion.value)
        if misfit is not None:
            raise CaseFault(
                "coordinator.scenario.response",
                f"the value does not fit completion `{node.wait.completion}` of {contract.id} "
                f"at `{misfit or '/'}`",
                place=f"{pointer}/value{misfit}",
                remedy="write a value that the product can give",
            )

    def _decide(self, command: c.StartTimer, pointer: str, decision: Decision) -> None:
        if decision.plan_given and digest(decision.plan) != command.plan_digest:
            raise CaseFault(
                "coordinator.scenario.plan",
                f"the plan of step `{command.node}` is another one than the decision was about",
                place=f"{pointer}/plan",
                remedy="correct the plan's mapping, or what the person is said to have seen",
                actual=command.plan,
            )
        at = (command.branch, command.node, command.visit)
        self._feed(e.Decided(*at, decision.approved, command.plan_digest, self._clock.now_ms))

    def _signal(self, index: int, signal: Signal) -> None:
        self._check_signal(index, signal)
        identity = signal.id or f"signal-{index}"
        self._feed(e.Signalled(signal.name, identity, signal.payload, self._clock.now_ms))

    def _check_signal(self, index: int, signal: Signal) -> None:
        misfits = [
            self._checks.misfit(node.wait.signal_schema, signal.payload)
            for node in self._definition.nodes.values()
            if isinstance(node, n.WaitNode)
            and isinstance(node.wait, n.ForSignal)
            and node.wait.signal == signal.name
        ]
        if None in misfits:
            return
        known = bool(misfits)
        raise CaseFault(
            "coordinator.scenario.signal",
            f"the payload does not fit signal `{signal.name}` at `{misfits[0] or '/'}`"
            if known
            else f"no wait of the workflow takes signal `{signal.name}`",
            place=f"/signals/{index}/payload{misfits[0]}" if known else f"/signals/{index}/name",
            remedy="send what a `wait-for` step declares under `signal`",
        )

    def _cancel(self) -> None:
        self._feed(e.CancelRequested(self._clock.now_ms))
        self._calls.cancel()

    def _act(self, pointer: str, act: Act) -> None:
        cursor = self._state().branches[ROOT_BRANCH].cursor
        if not _unknown_at(cursor, act.step):
            return
        assert cursor is not None
        self._calls.act(act, pointer, self._state(), cursor)
        if _unknown_at(self._state().branches[ROOT_BRANCH].cursor, act.step):
            self._next_act(act.step)


def _unknown_at(cursor: Cursor | None, step: str) -> bool:
    return cursor is not None and cursor.node == step and cursor.phase is Phase.ATTENTION


def _check_not_before(due_ms: int, anchor_ms: int, pointer: str, message: str) -> None:
    if due_ms < anchor_ms:
        raise CaseFault(
            "coordinator.scenario.act",
            message,
            place=f"{pointer}/at",
            remedy="use a later instant, or `after`",
        )


def _wrong_step(pointer: str, step: str, what: str) -> CaseFault:
    return CaseFault(
        "coordinator.scenario.step",
        f"step `{step}` {what}",
        place=pointer,
        remedy="name a step of the right type",
    )
