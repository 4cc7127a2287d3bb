"""Plays one case: the machine, a virtual clock and a scripted world."""

from __future__ import annotations

from functools import partial

from interpreter.contract.operations import EffectClass
from interpreter.contract.records import Closed
from interpreter.contract.runs import StartRun
from interpreter.definition.document import Definition
from interpreter.language import ValueLimit, check_bounds
from interpreter.machine import Program, advance_traced, begin, prepare
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.pointers import instant
from interpreter.scenario.answers import Answers
from interpreter.scenario.calls import Calls
from interpreter.scenario.cases import Case, Dialect
from interpreter.scenario.checks import Checks
from interpreter.scenario.clock import BORN_INSIDE, SCRIPTED, Clock, Due
from interpreter.scenario.endings import closed_state, public_state, standing_of
from interpreter.scenario.faults import CaseFault
from interpreter.scenario.people import People
from interpreter.scenario.public import PublicCalls
from interpreter.scenario.trace import Happening, Note, Trace

MOST_EVENTS = 10_000
"""Turns of one case; more mean that it would never end."""


class Stage:
    """A definition made ready, on which any number of cases can be played."""

    def __init__(self, definition: Definition, version: str = "") -> None:
        """Raises DefinitionError for a definition that the machine can not run."""
        self.definition = definition
        self.version = version
        self.program: Program = prepare(definition)
        self.checks = Checks(self.program.schemas)

    def play(self, case: Case) -> Trace:
        """The end of a case; CaseFault when the case contradicts the workflow."""
        self._check_input(case)
        played = _Play(self, case)
        try:
            return played.to_end()
        except CaseFault as fault:
            fault.trace = played.trace()
            raise

    def _check_input(self, case: Case) -> None:
        try:
            check_bounds(case.input)
        except ValueLimit as error:
            raise CaseFault(
                "coordinator.function.value-limit",
                "the input is larger than a run takes",
                place="/input",
                remedy="shorten the input",
            ) from error
        misfit = self.checks.misfit(self.definition.input_schema, case.input)
        if misfit is not None:
            raise CaseFault(
                "coordinator.definition.input",
                f"the input does not fit the workflow's input schema at `{misfit or '/'}`",
                place=f"/input{misfit}",
                remedy="give the workflow an input that it admits",
            )


class _Play:
    """One case while it is played."""

    def __init__(self, stage: Stage, case: Case) -> None:
        self._stage = stage
        self._case = case
        self._clock = Clock(case.admitted_ms)
        self._state = begin(_start(stage, case))
        self._path: list[str] = []
        self._outlets: set[tuple[str, str]] = set()
        self._timers: dict[str, Due] = {}
        self._timeline: list[Happening] = []
        self._frozen = 0
        self._stopped: str | None = None
        self._calls = self._answers()
        self._people = People(
            case,
            stage.definition,
            self._clock,
            stage.checks,
            self._calls,
            self._feed,
            lambda: self._state,
        )

    def _answers(self) -> Answers:
        stage, case, clock = self._stage, self._case, self._clock
        if case.dialect is Dialect.PUBLIC:
            return PublicCalls(stage.definition, case, clock, stage.checks, self._feed, self._stop)
        return Calls(stage.program, case, clock, stage.checks, self._feed, self._tell)

    def to_end(self) -> Trace:
        """Let everything happen until the run ends or nothing is left to happen."""
        if self._case.stop is not None:
            due = self._case.stop.due(self._case.admitted_ms)
            self._clock.at(due, SCRIPTED, partial(self._stop, ""))
        self._feed(e.Started(self._clock.now_ms))
        turns = 0
        while self._state.closed is None and self._stopped is None and self._clock.turn():
            turns += 1
            if turns > MOST_EVENTS:
                raise CaseFault(
                    "coordinator.scenario.bound",
                    f"the case does not end within {MOST_EVENTS} events",
                    remedy="let its replies lead to a finish",
                )
        return self.trace()

    def _stop(self, state: str) -> None:
        self._stopped = state

    def _tell(self, step: str, what: str) -> None:
        after = self._clock.now_ms - self._case.admitted_ms
        self._timeline.append(Happening(after, step, what))

    def _feed(self, event: e.Event) -> None:
        told = _told(event)
        if told is not None:
            self._tell(getattr(event, "node", ""), told)
        self._state, commands, trail = advance_traced(self._stage.program, self._state, event)
        for passage in trail:
            if passage.outlet:
                self._left(passage.node, passage.outlet)
            else:
                self._path.append(passage.node)
                self._people.came_to(passage.node)
        for command in commands:
            self._carry_out(command)

    def _left(self, node: str, outlet: str) -> None:
        self._outlets.add((node, outlet))
        self._tell(node, f"leaves through `{outlet}`")
        self._people.left(node)
        timer = self._timers.pop(node, None)
        if timer is not None:
            timer.off = True

    def _carry_out(self, command: c.Command) -> None:
        match command:
            case c.PerformCall():
                self._perform(command)
            case c.StartTimer() | c.Observe():
                self._wait(command)
            case c.Attend():
                self._tell(command.node, f"needs attention ({command.code})")
                self._people.attended(command.node)
            case c.Close():
                self._close(command)
            case c.StopWaiting():
                pass

    def _perform(self, command: c.PerformCall) -> None:
        self._tell(command.node, f"calls {command.operation}")
        if command.effect is not EffectClass.READ and command.generation == 1:
            self._frozen += 1
        self._calls.perform(command)

    def _wait(self, command: c.StartTimer | c.Observe) -> None:
        if command.until_ms is not None:
            self._tell(command.node, f"waits until {instant(command.until_ms)}")
            happen = partial(self._elapsed, command)
            self._timers[command.node] = self._clock.at(command.until_ms, BORN_INSIDE, happen)
        self._people.opened(command)

    def _elapsed(self, command: c.StartTimer | c.Observe) -> None:
        at = (command.branch, command.node, command.visit)
        self._feed(e.Elapsed(*at, self._clock.now_ms))

    def _close(self, command: c.Close) -> None:
        closing = command.closing
        if self._case.dialect is Dialect.PUBLIC:
            self._stop(public_state(closing))
        state = closed_state(closing, self._calls.standings().values())
        closed = Closed(state, closing.outcome, closing.output, closing.failure_code)
        self._feed(e.ClosedAs(closed))
        self._tell("", f"ends as {state.value}")

    def trace(self) -> Trace:
        """How far the run has come."""
        closed = self._state.closed
        state = self._stopped
        if not state:
            known = closed.state if closed else standing_of(self._stage.definition, self._state)
            state = known.value
        closing = self._state.closing
        return Trace(
            path=tuple(self._path),
            outlets=frozenset(self._outlets),
            state=state,
            outcome=(closed.outcome or None) if closed else None,
            output=closed.output if closed else None,
            failure_code=closed.failure_code if closed else "",
            failure_place=closing.failure_place if closing else "",
            elapsed_ms=self._clock.now_ms - self._case.admitted_ms,
            effects={
                identity: standing
                for identity, (kind, standing) in self._calls.standings().items()
                if kind is not EffectClass.READ
            },
            attempts=dict(self._calls.script.taken),
            frozen_commands=self._frozen,
            timeline=tuple(self._timeline),
            notes=(*self._calls.notes, *self._unused()),
        )

    def _unused(self) -> list[Note]:
        """What the case scripts and the run never asked for; the public format allows it."""
        if self._case.dialect is Dialect.PUBLIC:
            return []
        pointers = self._calls.script.unused() + self._people.unused()
        message = "the run ended without this"
        remedy = "remove it, or correct the case"
        return [Note("coordinator.scenario.unused", one, message, remedy) for one in pointers]


def _start(stage: Stage, case: Case) -> StartRun:
    deadline = case.admitted_ms + stage.definition.deadline_seconds * 1000
    return StartRun(
        run_id=case.run_id,
        workflow=stage.definition.id,
        version=stage.version,
        revision="",
        input=case.input,
        admitted_at=instant(case.admitted_ms),
        deadline_at=instant(deadline),
    )


def _told(event: e.Event) -> str | None:
    """What a timeline says of an event; None where the machine's own answer says enough."""
    match event:
        case e.Answered():
            code = f" `{event.reply.code}`" if event.reply.code else ""
            return f"is answered: {event.reply.kind.value}{code}"
        case e.RetriedSame():
            return "is sent again by an operator"
        case e.Elapsed():
            return "has waited long enough"
        case e.Completed():
            return "can never be completed" if event.gone else "is completed"
        case e.Signalled():
            return f"signal `{event.name}` arrives"
        case e.Decided():
            return "is approved" if event.approved else "is rejected"
        case e.CancelRequested():
            return "the run is cancelled"
        case _:
            return None
