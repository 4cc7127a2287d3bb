"""Commands to Temporal: a call or a poll becomes activities, a wait becomes a timer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.workflow import ActivityCancellationType, ActivityHandle

from interpreter.contract import names
from interpreter.contract.calls import (
    CallRequest,
    EndedWait,
    ObserveRequest,
    OnRecord,
    OpenWaitRequest,
    WaitEnd,
    again_position,
    call_reply,
    cancel_ahead,
    closed_from_json,
    closing_to_json,
    end_wait_request,
    ended_wait,
    wait_end,
)
from interpreter.contract.effects import Reply, ReplyKind, VisitRef
from interpreter.contract.operations import EffectClass
from interpreter.contract.records import Closed, Closing
from interpreter.contract.runs import Binding
from interpreter.contract.values import JsonValue
from interpreter.machine.commands import Observe, PerformCall, StartTimer
from interpreter.machine.pointers import epoch_milliseconds

_LOCAL_LIMIT = timedelta(seconds=1)
_LEDGER_LIMIT = timedelta(seconds=30)
_RECEIPT_LIMIT = timedelta(seconds=90)
"""Ten seconds to read a receipt, sixty to settle through a fail-over, and a margin."""

_HEARTBEAT_LIMIT = timedelta(seconds=10)
_BEYOND_SENDING = timedelta(seconds=75)
"""Sixty seconds to settle through a fail-over, and a margin (protocol rule 3)."""

_PAUSE = timedelta(seconds=1)
"""Between an activity that ended without a word of ours and the next one."""

# A gate of what executions of before go on without (its name stands in histories).
_CANCELS_INSIST = "cancels-insist"

_PAUSING = frozenset({names.GO_REMOTE, names.RETRYABLE})
"""Failures of a local attempt after which the remote one keeps the pause that they ask for."""

_ONCE = RetryPolicy(maximum_attempts=1)
_UNTIL_DONE = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=30),
)


@dataclass(frozen=True, slots=True)
class _Remote:
    """One remote activity to be scheduled."""

    name: str
    request: JsonValue
    identity: str
    limit: timedelta
    summary: str | None
    task_queue: str | None = None
    heartbeat: timedelta | None = None


class Performer:
    """Carries commands out for one run, and can stop what is in flight."""

    def __init__(
        self, run_id: str, binding: Binding, seen: int = 0, asked: dict[str, int] | None = None
    ) -> None:
        self._run_id = run_id
        self._binding = binding
        self._calls: dict[str, ActivityHandle[Any]] = {}
        self._polls: dict[str, ActivityHandle[Any]] = {}
        self._confirms: dict[str, ActivityHandle[Any]] = {}
        self._hinted: set[str] = set()
        self._stopped: set[str] = set()
        self._postponing = False
        self.asked = dict(asked or {})
        """When calls were asked for first that an earlier execution has handed on."""
        self.seen = seen
        """The furthest position of the ledger that this workflow knows of (protocol rule 9)."""

    async def call(self, command: PerformCall, send_seconds: float) -> Reply | None:
        """Perform one effect and give its reply; any other end is resolved from the ledger.

        None where it is left to the next execution.
        """
        reply = await self._reply(command, send_seconds)
        if reply is not None:
            self.seen = max(self.seen, reply.position)
        return reply

    async def _reply(self, command: PerformCall, send_seconds: float) -> Reply | None:
        visit = VisitRef(self._run_id, command.branch, command.node, command.visit)
        identity = visit.activity_id(command.generation)
        before = self.asked.pop(identity, 0)
        asked = CallRequest(
            command.input, command.sequence, command.steps, command.after_cancel, self.seen, before
        )
        since_ms = before or int(workflow.time() * 1000)
        if self._local_first(command) and not (before or self._postpones()):
            reply, asked = await _first_locally(command, identity, asked)
            if reply is not None:
                return reply
        remote = self._remote(command, asked, identity, send_seconds)
        while not self._postpones():
            reply = call_reply(identity, await self._run(remote, self._calls))
            if reply is None:
                reply = await self._resolve(identity, command.node)
            if reply is not None:
                return reply
            if self._postpones():
                break
            await workflow.sleep(_PAUSE, summary=f"{command.node}: again")
            again = replace(asked, seen=self.seen, since_ms=since_ms).to_json()
            remote = replace(remote, request=again)
        self.asked[identity] = since_ms
        return None

    def _remote(
        self, command: PerformCall, asked: CallRequest, identity: str, send_seconds: float
    ) -> _Remote:
        return _Remote(
            command.operation,
            asked.to_json(),
            identity,
            timedelta(seconds=send_seconds) + _BEYOND_SENDING,
            command.node,
            self._binding.task_queues.get(command.connection),
            _HEARTBEAT_LIMIT,
        )

    async def confirm(
        self, command: PerformCall, send_seconds: float, admitted_at: str
    ) -> Reply | None:
        """What the ledger says of an unknown effect, which it may have lost; nothing is sent.

        None where the ledger says nothing of it, or is being asked already.
        """
        visit = VisitRef(self._run_id, command.branch, command.node, command.visit)
        identity, since_ms = visit.activity_id(command.generation), epoch_milliseconds(admitted_at)
        about = (command.input, command.sequence, (), command.after_cancel, self.seen, since_ms)
        asked = CallRequest(*about, only_asks=True)
        if self.confirms(identity):
            return None
        remote = self._remote(command, asked, identity, send_seconds)
        reply = call_reply(identity, await self._run(remote, self._confirms))
        return None if reply is None or reply.kind is ReplyKind.NOT_PERMITTED else reply

    def confirms(self, identity: str) -> bool:
        """True while the ledger is asked; an activity of the same id would fail every task."""
        return identity in self._confirms

    def _local_first(self, command: PerformCall) -> bool:
        if command.connection in self._binding.task_queues:
            return False
        chosen = self._binding.dispatch.get(command.connection)
        if chosen is not None:
            return chosen == "local"
        return command.effect is EffectClass.READ

    async def _resolve(self, identity: str, node: str) -> Reply | None:
        """What the ledger says of an effect whose activity gave no reply; None: send it again.

        How far the ledger was is remembered, since the heartbeats of an attempt that was permitted
        end with its activity (protocol rule 9).
        """
        name = names.RESOLVE_EFFECT
        remote = _Remote(name, identity, f"{identity}/resolve", _LEDGER_LIMIT, node)
        result = await self._run(remote, self._calls)
        self.seen = max(self.seen, again_position(identity, result))
        return call_reply(identity, result)

    async def reconcile(self, identity: str, act: str) -> Reply | None:
        """The reply on record after the product's receipt was read; None when nothing changed."""
        name, node = names.RECONCILE_EFFECT, identity.partition("/")[2].partition(":")[0]
        remote = _Remote(name, {"act": act}, f"{identity}/{act}", _RECEIPT_LIMIT, node)
        return call_reply(identity, await self._run(remote, {}))

    async def _run(self, remote: _Remote, among: dict[str, ActivityHandle[Any]]) -> JsonValue:
        """A remote activity's result as JSON, or None when it ended in any other way."""
        handle = workflow.start_activity(
            remote.name,
            remote.request,
            task_queue=remote.task_queue,
            result_type=RawValue,
            start_to_close_timeout=remote.limit,
            heartbeat_timeout=remote.heartbeat,
            retry_policy=_UNTIL_DONE,
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            activity_id=remote.identity,
            summary=remote.summary,
        )
        among[remote.identity] = handle
        try:
            return _json(await handle)
        except FailureError:
            return None
        finally:
            among.pop(remote.identity, None)

    async def observe(self, command: Observe) -> WaitEnd | None:
        """Poll a completion's source until it is there; None when the waiting was stopped.

        A hint ends the back-off and starts the poll anew; the activity itself keeps the floor.
        """
        visit = VisitRef(self._run_id, command.branch, command.node, command.visit)
        identity = visit.activity_id(1)
        while identity not in self._stopped:
            hinted = identity in self._hinted
            self._hinted.discard(identity)
            request = ObserveRequest(
                command.input, command.sequence, command.until_ms, command.steps, hinted
            )
            remote = _Remote(
                command.operation,
                request.to_json(),
                identity,
                _LEDGER_LIMIT,
                command.node,
                self._binding.task_queues.get(command.connection),
            )
            end = wait_end(identity, await self._run(remote, self._polls))
            if end is not None:
                return end
            if identity not in self._hinted and identity not in self._stopped:
                await workflow.sleep(_PAUSE, summary=f"{command.node}: again")
        self._stopped.discard(identity)
        return None

    @property
    def hinted(self) -> bool:
        """True while a hint has not reached a poll yet."""
        return bool(self._hinted)

    def expect_hint(self, command: Observe) -> None:
        """Have a poll that is about to open begin as one that was hinted."""
        visit = VisitRef(self._run_id, command.branch, command.node, command.visit)
        self._hinted.add(visit.activity_id(1))

    def hint(self) -> None:
        """Bring the next read of every open poll forward."""
        for identity, handle in list(self._polls.items()):
            if identity not in self._hinted:
                self._hinted.add(identity)
                handle.cancel()

    def stop_poll(self, visit_id: str) -> None:
        """End a poll, also one that has not begun; an attempt that is running keeps its result."""
        identity = f"{visit_id}:1"
        self._stopped.add(identity)
        if identity in self._polls:
            self._polls[identity].cancel()

    def postpone(self) -> None:
        """Leave every call that has no attempt out to the next execution, until ``go_on``."""
        self._postponing = True
        self.stop_calls()

    def go_on(self) -> None:
        """Make calls here after all."""
        self._postponing = False

    def _postpones(self) -> bool:
        return self._postponing

    def stop_calls(self) -> None:
        """End the back-off of every call; an attempt that is running keeps its result."""
        for handle in list(self._calls.values()):
            handle.cancel()

    async def open_wait(self, command: StartTimer) -> None:
        """Write that a wait opened, before the run goes idle."""
        visit = VisitRef(self._run_id, command.branch, command.node, command.visit)
        request = OpenWaitRequest(
            command.kind, command.sequence, command.until_ms, command.steps
        ).to_json()
        identity = f"{visit.activity_id(1)}/open"
        await self._ledger_write(names.OPEN_WAIT, request, identity, command.node)

    async def end_wait(self, command: StartTimer, *, after_cancel: bool) -> EndedWait:
        """End a signal wait whose time is over in the ledger; says how it ended there."""
        visit = VisitRef(self._run_id, command.branch, command.node, command.visit)
        identity = f"{visit.activity_id(1)}/end"
        request = end_wait_request(after_cancel=after_cancel)
        while True:
            result = await self._ledger_write(names.END_WAIT, request, identity, command.node)
            ended = ended_wait(identity, result)
            if ended is not None:
                return ended
            await workflow.sleep(_PAUSE, summary=f"{command.node}: again")

    async def note_signal(self, name: str, verdict: str, ordinal: int) -> None:
        """Write down, once and without insisting, that a signal was of no use."""
        request: JsonValue = {"name": name[:64], "verdict": verdict}
        await _local(names.NOTE_SIGNAL, request, f"signal:{ordinal}", None)

    async def request_cancel(self, after: int) -> dict[str, OnRecord]:
        """Write down a cancel that Temporal delivered; gives what is on record ahead, by visit.

        ``after`` is the sequence number that the machine has come to.
        """
        identity = "request-cancel"
        request: JsonValue = {"after": after}
        while True:
            result = await self._ledger_write(names.REQUEST_CANCEL, request, identity, "cancel")
            ahead = cancel_ahead(identity, result)
            if ahead is not None:
                return ahead
            if not workflow.patched(_CANCELS_INSIST):
                return {}
            await workflow.sleep(_PAUSE, summary="cancel: again")

    async def close(self, closing: Closing, ordinal: int) -> Closed:
        """The closing write: a local activity, remote when that fails; never given up."""
        request = closing_to_json(replace(closing, seen=self.seen))
        while True:
            # No summary: the run's own end, the next event, says the same.
            result = await self._ledger_write(names.CLOSE_RUN, request, f"close:{ordinal}", None)
            closed = closed_from_json(result, closing)
            if closed is not None:
                return closed

    async def _ledger_write(
        self, name: str, request: JsonValue, identity: str, summary: str | None
    ) -> JsonValue:
        result = await _local(name, request, identity, summary)
        if result is not None:
            return result
        return await self._run(_Remote(name, request, identity, _LEDGER_LIMIT, summary), {})


async def _first_locally(
    command: PerformCall, identity: str, asked: CallRequest
) -> tuple[Reply | None, CallRequest]:
    """The reply of a local attempt if it gave one, and what a remote one is to be asked for."""
    try:
        request = asked.to_json()
        result = await _tried_locally(command.operation, request, identity, command.node)
    except FailureError as error:
        return None, replace(asked, not_before_ms=_left_alone_until(error))
    return call_reply(identity, result), asked


def _left_alone_until(error: FailureError) -> int:
    """Until when a local attempt says that its product is to be left alone, or 0."""
    if not isinstance(error, ApplicationError) or error.type not in _PAUSING:
        return 0
    pause = error.next_retry_delay
    return 0 if pause is None else int((workflow.time() + pause.total_seconds()) * 1000)


async def _local(name: str, request: JsonValue, identity: str, summary: str | None) -> JsonValue:
    """A local activity's result as JSON, or None when it did not give one."""
    try:
        return await _tried_locally(name, request, identity, summary)
    except FailureError:
        return None


async def _tried_locally(
    name: str, request: JsonValue, identity: str, summary: str | None
) -> JsonValue:
    """A local activity's result as JSON; FailureError when it failed."""
    result = await workflow.execute_local_activity(
        name,
        request,
        result_type=RawValue,
        start_to_close_timeout=_LOCAL_LIMIT,
        retry_policy=_ONCE,
        activity_id=identity,
        summary=summary,
    )
    return _json(result)


def _json(result: RawValue) -> JsonValue:
    """A result's JSON, or None for bytes that are not ours (protocol rule 3)."""
    try:
        return workflow.payload_converter().from_payload(result.payload)
    except Exception:  # whatever a stranger put there, it is no reply
        return None
