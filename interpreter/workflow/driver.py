"""The loop between the machine and Temporal: events in, commands out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial

from temporalio import workflow
from temporalio.workflow import ContinueAsNewVersioningBehavior

from interpreter.contract.effects import Reply
from interpreter.contract.records import Closed, Closing
from interpreter.contract.runs import StartRun
from interpreter.contract.values import JsonValue
from interpreter.definition import nodes as n
from interpreter.machine import SignalVerdict, advance, begin, has_passed, judge
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.program import Program
from interpreter.machine.standing import answered, attended, doubted, reopened, visit_of
from interpreter.machine.state import reached, state_from_json, state_to_json
from interpreter.machine.view import details
from interpreter.workflow.perform import Performer

PLAIN_SIGNAL = "temporal:"
"""How the ids of signals from Temporal's own tools begin; those of the ledger are UUIDs."""

# Gates of what executions of before go on without (their names stand in histories).
_POSTPONES = "back-offs-move"
_limited = partial(workflow.patched, "values-limited")
_gives_up = partial(workflow.patched, "routes-give-up")
_CANCELS_ONCE = "cancels-once"
_AWAITS = "awaits-cancel"
_LATE = "late-waits-expire"
_CONFIRMS = "doubts-confirmed"
_RECEDES = "ledgers-recede"  # One that was restored has lost generations, and ends of waits.
_MOST_NOTED = 20
_TAKEN = frozenset({SignalVerdict.COMPLETED, SignalVerdict.KEPT})


class Driver:
    """Drives one execution; ``inbox`` is where handlers leave their events."""

    def __init__(self, start: StartRun, program: Program, inbox: list[e.Event]) -> None:
        self._start = start
        self._program = program
        self._inbox = inbox
        self._waits: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending: set[str] = set()
        self._held_back: list[e.Event] = []
        self._handing_over = False
        self._wished = False
        self._asked_to_postpone = False
        self._noted = 0
        self._writes: set[asyncio.Task[None]] = set()
        self._closings = 0
        self._in_flight = 0
        self._calling: set[tuple[str, str, int]] = set()
        carried = start.state or {}
        seen, asked = carried.get("seen", 0), carried.get("asked")
        self._performer = Performer(start.run_id, start.binding, seen, asked)
        self._state = state_from_json(carried["machine"]) if carried else begin(start)

    def hint(self) -> None:
        """Bring the next read of every open poll forward."""
        self._performer.hint()

    def wish_hand_over(self) -> None:
        """Continue as new once nothing is in flight; the next execution knows nothing of it."""
        self._wished = True

    @property
    def takes_signals(self) -> bool:
        """False while a wait is being ended, or all of them are closed for the next execution."""
        return not self._ending and not self._handing_over

    def signal(self, name: str, id: str, payload: JsonValue, visit: str = "") -> SignalVerdict:
        """Have the machine take a signal at once, after what came before it.

        ``visit`` is the wait that this signal has ended as the ledger says, "" where it says
        nothing: once that is passed nothing is taken, however many ids the machine has forgotten.
        """
        while self._inbox:
            self._take(self._inbox.pop(0))
        if has_passed(self._state, visit):
            return SignalVerdict.COMPLETED
        verdict = judge(self._program, self._state, name, id, payload).verdict
        self._take(e.Signalled(name, id, payload, _now_ms()))
        workflow.set_current_details(details(self._state))
        return verdict

    def note_dropped(self, name: str, verdict: str) -> None:
        """Have it written down, as far as possible, that a signal was of no use."""
        if self._noted < _MOST_NOTED and self._state.closed is None:
            self._noted += 1
            self._write(self._performer.note_signal(name, verdict, self._noted))

    def may_retry(self, visit_id: str, generation: int, act: str) -> bool:
        """True for an effect whose fate is unknown here, or to a ledger that lost its answer."""
        if answered(self._state, visit_id):
            told = self._state.effects[visit_id].act == act
            return not told and visit_of(visit_id) not in self._calling
        asking = self._performer.confirms(f"{visit_id}:{generation}")
        return attended(self._state, visit_id) is not None and not asking

    def may_reconcile(self, visit_id: str) -> bool:
        """True when a receipt of this visit could help: it is unknown, or keeps the end waiting."""
        known = attended(self._state, visit_id) or answered(self._state, visit_id)
        return bool(known) or self._state.wanted is not None

    def retry_same(self, visit_id: str, generation: int, act: str) -> None:
        """Have the machine send the saved command again, unless it has done so before."""
        at = attended(self._state, visit_id)
        if at and generation <= at[-1] and not workflow.patched(_RECEDES):
            act = ""
        self._inbox.append(e.RetriedSame(*visit_of(visit_id), generation, _now_ms(), act))

    def reconcile(self, visit_id: str, generation: int, act: str) -> None:
        """Have the product's receipt read; what it proves comes back as an event."""
        self._in_flight += 1
        self._spawn(self._reconcile(visit_id, generation, act))

    async def _reconcile(self, visit_id: str, generation: int, act: str) -> None:
        reply = await self._performer.reconcile(f"{visit_id}:{generation}", act)
        self._in_flight -= 1
        at = attended(self._state, visit_id)
        if at is None:
            self._inbox.append(e.DoubtLifted(_now_ms()))
        elif reply is not None and (generation >= at[-1] or workflow.patched(_RECEDES)):
            self._inbox.append(e.Answered(*at, reply, _now_ms()))

    async def drive(self) -> Closed:
        """Run to the recorded end of this execution, or continue as new."""
        if self._start.state is None:
            self._inbox.append(e.Started(_now_ms()))
        else:
            self._reopen(hinted=self._start.state["hinted"])
        while self._state.closed is None:
            if not self._inbox:
                workflow.set_current_details(details(self._state))
                await self._idle()
            while self._inbox:
                self._take(self._inbox.pop(0))
        workflow.set_current_details(details(self._state))
        while self._writes:
            # The end is on record: a cancel comes too late to change it.
            with suppress(asyncio.CancelledError):
                await self._written_all()
        return self._state.closed

    async def _idle(self) -> None:
        """Wait for the next event, or for the moment to continue as new; a cancel becomes one."""
        try:
            await workflow.wait_condition(
                lambda: bool(self._inbox) or self._may_hand_over() or self._may_postpone()
            )
            if not self._inbox and self._in_flight:
                self._postpone()
            elif not self._inbox:
                await self._hand_over()
        except asyncio.CancelledError:
            await self._cancel()

    def _may_hand_over(self) -> bool:
        wished = self._wished or workflow.info().is_continue_as_new_suggested()
        return wished and not self._in_flight

    def _may_postpone(self) -> bool:
        """True once after a wish, while calls keep the run here."""
        return self._wished and not self._asked_to_postpone

    def _postpone(self) -> None:
        """End every back-off, for the next execution to go on with; what is out keeps its result.

        Executions of before this was so go on as they began.
        """
        self._asked_to_postpone = True
        if workflow.patched(_POSTPONES):
            self._performer.postpone()

    async def _cancel(self) -> None:
        """Record the cancel first, then end every back-off and learn how each poll ended.

        One that is told again, as after continue-as-new, must not end the waits of its own route.
        What the ledger holds beyond where this execution is, gone back to earlier, comes before it.
        """
        if self._state.cancel_requested and workflow.patched(_CANCELS_ONCE):
            return
        ahead = await self._performer.request_cancel(reached(self._state))
        self._performer.stop_calls()
        await self._stop_waits()
        self._inbox.append(e.CancelRequested(_now_ms(), ahead))

    def _confirm_doubts(self) -> None:
        """Have the ledger hear of every unknown effect: one that was restored may have lost it."""
        doubts = doubted(self._program, self._state)
        for doubt in doubts if doubts and workflow.patched(_CONFIRMS) else ():
            self._in_flight += 1
            seconds = self._program.attempt_seconds(doubt.node)
            asked = self._performer.confirm(doubt, seconds, self._start.admitted_at)
            self._spawn(self._call(doubt, asked))

    async def _stop_waits(self) -> None:
        """End polls and timers; a poll that found its completion has left it in the inbox."""
        for identity, task in list(self._waits.items()):
            if isinstance(self._source(identity), n.ForCompletion):
                self._performer.stop_poll(identity)
                await workflow.wait([task])
            elif identity in self._ending:
                # The ledger is deciding how this wait ended: its word is heard first.
                await workflow.wait([task])
            else:
                task.cancel()

    def _source(self, place: str) -> n.WaitSource | None:
        node = self._program.definition.nodes[place.rpartition("/")[2].partition(":")[0]]
        return node.wait if isinstance(node, n.WaitNode) else None

    async def _hand_over(self) -> None:
        """Continue as new with nothing in flight: waits are closed here and reopened there."""
        self._handing_over = True
        try:
            await self._stop_waits()
            await workflow.wait_condition(workflow.all_handlers_finished)
            await self._written_all()
        finally:
            self._handing_over = False
        if self._inbox or self._in_flight:
            self._reopen(hinted=self._performer.hinted)
            return
        machine, performer = state_to_json(self._state), self._performer
        carried = {"machine": machine, "hinted": performer.hinted, "seen": performer.seen}
        if performer.asked:
            carried["asked"] = performer.asked
        workflow.continue_as_new(
            args=[replace(self._start, state=carried)],
            initial_versioning_behavior=ContinueAsNewVersioningBehavior.AUTO_UPGRADE,
        )

    def _reopen(self, *, hinted: bool = False) -> None:
        """Open again every wait and every call that the machine still stands at."""
        self._performer.go_on()
        self._asked_to_postpone = False
        for command in reopened(self._program, self._state):
            if hinted and isinstance(command, c.Observe):
                self._performer.expect_hint(command)
            if not isinstance(command, c.PerformCall) or _visit(command) not in self._calling:
                self._carry_out(command)
        self._confirm_doubts()

    def _take(self, event: e.Event) -> None:
        if isinstance(event, e.Signalled):
            if self._ending:
                self._held_back.append(event)
                return
            self._note_unless_taken(event)
        self._state, commands = advance(self._program, self._state, event, _limited, _gives_up)
        for command in commands:
            self._carry_out(command)
        if isinstance(event, e.CancelRequested):
            self._confirm_doubts()

    def _write(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Begin a ledger write that nothing calls back, whatever becomes of what it is about."""
        task = self._spawn(work)
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        return task

    async def _written_all(self) -> None:
        """Wait for the writes: a local activity that outlives its execution fails its last task."""
        while self._writes:
            await workflow.wait(list(self._writes))

    def _note_unless_taken(self, event: e.Signalled) -> None:
        if event.id.startswith(PLAIN_SIGNAL):
            verdict = judge(self._program, self._state, event.name, event.id, event.payload).verdict
            if verdict not in _TAKEN:
                self.note_dropped(event.name, verdict.value)

    def _carry_out(self, command: c.Command) -> None:
        match command:
            case c.PerformCall():
                self._in_flight += 1
                self._calling.add(_visit(command))
                seconds = self._program.attempt_seconds(command.node)
                self._spawn(self._call(command, self._performer.call(command, seconds)))
            case c.StartTimer():
                self._spawn_wait(command, self._timer(command))
            case c.Observe():
                self._spawn_wait(command, self._observe(command))
            case c.StopWaiting():
                self._stop_waiting(command)
            case c.Close():
                self._closings += 1
                self._in_flight += 1
                self._spawn(self._close(command.closing, self._closings))

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _spawn_wait(
        self, command: c.StartTimer | c.Observe, work: Coroutine[None, None, None]
    ) -> None:
        identity = f"{command.branch}/{command.node}:{command.visit}"
        task = self._spawn(work)
        self._waits[identity] = task
        task.add_done_callback(lambda _: self._waits.pop(identity, None))

    def _stop_waiting(self, command: c.StopWaiting) -> None:
        task = self._waits.get(f"{command.branch}/{command.node}:{command.visit}")
        if task is not None:
            task.cancel()

    async def _call(self, command: c.PerformCall, asked: Awaitable[Reply | None]) -> None:
        reply = await asked
        self._in_flight -= 1
        self._calling.discard(_visit(command))
        if reply is not None and command.passed:
            self._inbox.append(e.DoubtLifted(_now_ms(), _visit(command)))
        elif reply is not None:
            self._inbox.append(e.Answered(*_visit(command), command.generation, reply, _now_ms()))

    async def _timer(self, command: c.StartTimer) -> None:
        # A wait that is over before its opening was written cancels this, and must not cancel that:
        # a local activity that is cancelled would be made up for by a remote one.
        await asyncio.shield(self._write(self._performer.open_wait(command)))
        if command.until_ms is None:
            return
        seconds = (command.until_ms - _now_ms()) / 1000
        if seconds > 0:
            await workflow.sleep(seconds, summary=command.node)
        source, stopped = self._source(command.node), ""
        if isinstance(source, n.ForSignal):
            stopped = await self._end_signal_wait(command, source.signal)
        if stopped != "cancel" or self._state.cancel_requested:
            self._inbox.append(self._over(command, expired=stopped == "deadline"))
        # Else Temporal is about to deliver the cancel, which ends this wait.
        self._inbox.extend(self._held_back)
        self._held_back.clear()

    async def _end_signal_wait(self, command: c.StartTimer, name: str) -> str:
        """Have the ledger end a wait whose time is over; a signal on record there came first.

        Gives what has stopped the run where it is not for the wait's time to say what comes next.
        """
        identity = f"{command.branch}/{command.node}:{command.visit}"
        self._ending.add(identity)
        after_cancel = self._state.branches[command.branch].after_cancel
        try:
            ended = await self._performer.end_wait(command, after_cancel=after_cancel)
        finally:
            self._ending.discard(identity)
        given = ended.signal
        if given is not None:
            self._inbox.append(e.Signalled(name, given.id, given.payload, _now_ms()))
        return ended.stopped

    async def _observe(self, command: c.Observe) -> None:
        end = await self._performer.observe(command)
        if end is None:
            return
        if end.resolution in ("completed", "gone"):
            at = _visit(command)
            self._inbox.append(e.Completed(*at, end.value, _now_ms(), end.resolution == "gone"))
        elif (
            end.resolution != "cancelled"
            or (self._state.cancel_requested and workflow.patched(_RECEDES))
            or not workflow.patched(_AWAITS)
        ):
            self._inbox.append(self._over(command, expired=end.resolution == "deadline"))
        # Else this execution went back to before a cancel, which is told again.

    def _over(self, command: c.StartTimer | c.Observe, *, expired: bool) -> e.Event:
        """What comes of a wait whose time is over, however late a worker is there to look."""
        now, deadline = _now_ms(), self._state.facts.deadline_ms
        late = (command.until_ms or deadline) < deadline <= now
        if expired or (late and workflow.patched(_LATE)):
            return e.DeadlineReached(now)
        return e.Elapsed(command.branch, command.node, command.visit, now)

    async def _close(self, closing: Closing, ordinal: int) -> None:
        closed = await self._performer.close(closing, ordinal)
        self._in_flight -= 1
        self._inbox.append(e.ClosedAs(closed))


def _visit(command: c.PerformCall | c.Observe) -> tuple[str, str, int]:
    return command.branch, command.node, command.visit


def _now_ms() -> int:
    return int(workflow.time() * 1000)
