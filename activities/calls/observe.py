"""A poll: read a completion's source when it is due, and answer only when there is something."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities import ports
from activities.calls.attempt import Attempt
from activities.faults import at as fault
from activities.products import Products, Sent
from interpreter.contract import names
from interpreter.contract.calls import ObserveRequest, WaitEnd
from interpreter.contract.effects import ReplyKind
from interpreter.contract.operations import Completion, Condition
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class WaitTimes:
    """Live settings of polls; they act inside activities only (protocol rule 5).

    ``floor`` is the least number of seconds between two reads of one source; ``poll`` gives a
    product's interval where the deployment sets one.
    """

    floor: float = 30.0
    poll: dict[str, float] | None = None

    def interval(self, product: str, contracted: float) -> float:
        """Seconds between two reads of this product."""
        return max(self.floor, (self.poll or {}).get(product, contracted))


@dataclass(frozen=True, slots=True)
class Observer:
    """Reads completions' sources; every unsuccessful poll costs no history event."""

    runs: ports.RunLedger
    book: ports.CallBook
    products: Products
    times: WaitTimes

    async def observe(self, attempt: Attempt, request: ObserveRequest, at: datetime) -> WaitEnd:
        """How the wait ended; raises ``not-yet`` with the delay to the next look.

        ``at`` is when Temporal saw this attempt start. The ledger decides what came first: a wait
        that is out of time is resolved as ``expired`` there, and a completion that was on record
        before is read and delivered again. Where its source does not give it any more, the run's
        ``deadline`` ends the wait.
        """
        facts = await self.book.observation(attempt.visit.run_id, attempt.visit.node)
        interval = self.times.interval(facts.read.product, facts.completion.poll_seconds)
        due = await self.runs.observation_due(
            _opened(attempt, request), interval, self.times.floor, request.hinted, at
        )
        resolution = due.resolution
        if resolution is None and due.remaining <= 0:
            resolution = await self.runs.resolve_wait(attempt.visit, "expired")
        if resolution not in (None, "completed"):
            return WaitEnd(resolution)
        if resolution is None and due.delay > 0:
            raise _not_yet(min(due.delay, due.remaining))
        fault("before-observation")
        sent = await self._read(request, facts)
        fault("after-observation")
        hinted = await self.runs.observed(attempt.visit, at, due.hints)
        accepted = sent.reply.kind is ReplyKind.ACCEPTED
        found = _found(facts.completion, sent.reply.output) if accepted else None
        if found is None and resolution is not None:
            if due.over:
                return WaitEnd("deadline")
            raise _not_yet(max(self.times.floor, sent.retry_after or 0.0))
        if found is None:
            pause = max(self.times.floor if hinted else interval, sent.retry_after or 0.0)
            raise _not_yet(min(pause, due.remaining))
        on_record = await self.runs.resolve_wait(attempt.visit, found.resolution)
        fault("after-resolution")
        return found if on_record == found.resolution else WaitEnd(on_record)

    async def _read(self, request: ObserveRequest, facts: ports.ObservationFacts) -> Sent:
        """The source's answer; whatever else it is than accepted, the next poll asks again."""
        command = ports.Command(facts.connection, facts.read.id, request.input)
        budget = time.monotonic() + facts.read.attempts.timeout_milliseconds / 1000
        return await self.products.send(command, facts.read, None, budget)


def _opened(attempt: Attempt, request: ObserveRequest) -> ports.OpenedWait:
    return ports.OpenedWait(
        attempt.visit,
        "completion",
        request.sequence,
        datetime.fromtimestamp(request.until_ms / 1000, UTC),
        steps=request.steps,
        source=request.input,
    )


def _found(completion: Completion, value: JsonValue) -> WaitEnd | None:
    if _holds(completion.done, value):
        return WaitEnd("completed", _member(value, completion.value))
    if completion.gone is not None and _holds(completion.gone, value):
        return WaitEnd("gone")
    return None


def _holds(condition: Condition, value: JsonValue) -> bool:
    try:
        return _member(value, condition.path) in condition.values
    except LookupError:
        return False


def _member(value: JsonValue, pointer: str) -> JsonValue:
    """The member at an RFC 6901 pointer of objects; LookupError if there is none."""
    for token in pointer.split("/")[1:]:
        if not isinstance(value, dict):
            raise LookupError(pointer)
        value = value[token.replace("~1", "/").replace("~0", "~")]
    return value


def _not_yet(delay: float) -> ApplicationError:
    return ApplicationError(
        "the awaited result is not there yet",
        type=names.NOT_YET,
        next_retry_delay=timedelta(seconds=max(delay, 0.05)),
        category=ApplicationErrorCategory.BENIGN,
    )
