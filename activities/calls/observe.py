"""A poll: read a completion's source when it is due, and answer only when there is something."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities import ports
from activities.calls.attempt import Attempt
from activities.products import Products
from interpreter.contract import names
from interpreter.contract.calls import ObserveRequest, WaitEnd
from interpreter.contract.effects import ReplyKind
from interpreter.contract.operations import Condition
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

        ``at`` is when Temporal scheduled this attempt, so that a wait also ends where a test
        moves time ahead of the database's clock.
        """
        facts = await self.book.observation(attempt.visit.run_id, attempt.visit.node)
        interval = self.times.interval(facts.read.product, facts.completion.poll_seconds)
        due_at = datetime.fromtimestamp(request.until_ms / 1000, UTC)
        opened = ports.OpenedWait(
            attempt.visit,
            "completion",
            request.sequence,
            due_at,
            steps=request.steps,
            source=request.input,
        )
        due = await self.runs.observation_due(
            opened, interval, self.times.floor, request.hinted, at
        )
        if due.end is not None:
            return due.end
        if due.delay > 0:
            raise _not_yet(due.delay)
        value = await self._read(request, facts)
        await self.runs.observed(attempt.visit, at)
        end = _end(facts.completion.done, facts.completion.gone, facts.completion.value, value)
        if end is None:
            raise _not_yet(min(interval, due.remaining))
        return await self.runs.resolve_wait(attempt.visit, end)

    async def _read(self, request: ObserveRequest, facts: ports.ObservationFacts) -> JsonValue:
        command = ports.Command(facts.connection, facts.read.id, request.input)
        budget = time.monotonic() + facts.read.attempts.timeout_milliseconds / 1000
        sent = await self.products.send(command, facts.read, "", budget)
        return sent.reply.output if sent.reply.kind is ReplyKind.ACCEPTED else None


def _holds(condition: Condition | None, value: JsonValue) -> bool:
    if condition is None:
        return False
    try:
        return at_pointer(value, condition.path) in condition.values
    except LookupError:
        return False


def at_pointer(value: JsonValue, pointer: str) -> JsonValue:
    """The member at an RFC 6901 pointer of objects; LookupError if there is none."""
    for token in pointer.split("/")[1:]:
        if not isinstance(value, dict):
            raise LookupError(pointer)
        value = value[token.replace("~1", "/").replace("~0", "~")]
    return value


def _end(done: Condition, gone: Condition | None, pointer: str, value: JsonValue) -> WaitEnd | None:
    if _holds(done, value):
        return WaitEnd("completed", at_pointer(value, pointer))
    if _holds(gone, value):
        return WaitEnd("gone")
    return None


def _not_yet(delay: float) -> ApplicationError:
    return ApplicationError(
        "the awaited result is not there yet",
        type=names.NOT_YET,
        next_retry_delay=timedelta(seconds=max(delay, 0.05)),
        category=ApplicationErrorCategory.BENIGN,
    )
