"""An effect from command to reply: claim, send, settle, and nothing returned before settle."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities import ports
from activities.calls.attempt import Attempt, Progress
from activities.errors import LedgerUnavailable
from activities.faults import at
from activities.products import NotPrepared, Products, Sent
from interpreter.contract import names
from interpreter.contract.calls import CallRequest
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import EffectClass, Recovery

_LOCAL_BUDGET = 0.8
"""Seconds a local attempt may spend sending: a local activity ends after one second."""

MOST_LOCAL: Final = 50
"""Local attempts at once on one connection, half of a worker's: a slow product leaves room."""

NOT_ON_RECORD: Final = "not-on-record"
"""The code for a command that is to be sent again, and that the ledger does not hold."""

_HELD_DELAY = 30.0
_LONGEST_PAUSE = 60.0
"""After so many seconds of a longer pause the ledger is asked whether the run still goes on."""


@dataclass(frozen=True, slots=True)
class Performer:
    """Performs calls against products, with the ledger's permission and memory.

    ``local`` counts the local attempts that are under way on each connection.
    """

    effects: ports.EffectLedger
    book: ports.CallBook
    products: Products
    local: Counter[str] = field(default_factory=Counter)

    async def perform(self, attempt: Attempt, request: CallRequest) -> Reply:
        """The reply on record after this attempt; raises ApplicationError to be tried again."""
        facts = await self.book.call(attempt.visit.run_id, attempt.visit.node)
        if not attempt.is_local:
            refusal = await self._paused(attempt, request, facts)
            return refusal or await self._effect(attempt, request, facts)
        with self._local_slot(facts):
            if facts.contract.effect is EffectClass.READ:
                return await self._read_locally(attempt, request, facts)
            return await self._effect(attempt, request, facts)

    @contextmanager
    def _local_slot(self, facts: ports.CallFacts) -> Iterator[None]:
        """One of the connection's places for local attempts; raises go-remote (rule 6)."""
        contract, connection = facts.contract, facts.connection
        is_read = contract.effect is EffectClass.READ
        if not is_read and contract.recovery is Recovery.HOLD_AFTER_DISPATCH:
            raise go_remote("nothing could repeat what a local attempt leaves behind")
        if not self.products.allows_local(connection):
            raise go_remote("the connection has been slow or down")
        if self.local[connection] >= MOST_LOCAL:
            raise go_remote("the connection has as many local attempts as it may")
        self.local[connection] += 1
        try:
            yield
        finally:
            self.local[connection] -= 1

    async def _read_locally(
        self, attempt: Attempt, request: CallRequest, facts: ports.CallFacts
    ) -> Reply:
        """A read in one transaction: answered first, then permitted and written (rule 6)."""
        command = ports.Command(facts.connection, facts.contract.id, request.input)
        end = time.monotonic() + min(_LOCAL_BUDGET, facts.limits.send_budget)
        at("before-send")
        sent = await self.products.send(command, facts.contract, None, end)
        if sent.reply.kind in (ReplyKind.RETRYABLE, ReplyKind.UNKNOWN):
            raise go_remote(sent.reply.code, sent.retry_after)
        at("after-answer")
        outcome = ports.ReadOutcome(
            attempt.visit,
            command,
            sent.reply,
            request.sequence,
            request.steps,
            request.after_cancel,
            request.seen,
        )
        reply = await self.effects.read_outcome(outcome)
        at("after-settle")
        if _held(reply):
            raise go_remote("a hold keeps this run from going on")
        return reply

    async def _paused(
        self, attempt: Attempt, request: CallRequest, facts: ports.CallFacts
    ) -> Reply | None:
        """Keep the pause that a product has asked a local attempt for, while the run may go on."""
        left = request.not_before_ms / 1000 - time.time()
        if left <= 0:
            return None
        command = ports.Command(facts.connection, facts.contract.id, request.input)
        known = await self._foreseen(attempt, request, facts, command)
        if known is not None:
            return known
        raise _again(
            names.RETRYABLE, "the product asks to be left alone", min(left, _LONGEST_PAUSE)
        )

    async def _effect(
        self, attempt: Attempt, request: CallRequest, facts: ports.CallFacts
    ) -> Reply:
        if request.input is None and await self.effects.saved(attempt.visit) is None:
            # Only what is on record was to be sent, and a restore has taken that away.
            return Reply(ReplyKind.NOT_PERMITTED, code=NOT_ON_RECORD)
        made = await self._command(attempt, request, facts)
        if isinstance(made, Reply):
            return made
        command, failure = made
        budget = facts.limits.send_budget
        # The budget starts before the dispatch transaction: a slow commit never lengthens it.
        end = time.monotonic() + budget
        token = uuid.uuid4().hex
        at("before-claim")
        answer = await self._claim(attempt, request, facts, command, token)
        match answer:
            case ports.Settled() | ports.Busy():
                return _without_sending(answer)
            case ports.Dispatched():
                attempt.progress.seen = answer.position
                at("before-send")
                sent = failure or await self.products.send(
                    answer.command, facts.contract, answer.idempotency_key, end
                )
        at("after-answer")
        settlement = ports.Settlement(
            attempt.visit,
            attempt.generation,
            token,
            facts.contract,
            facts.limits,
            sent.reply,
            request.sequence + 1,
            sent.receipt,
            sent.retry_after,
        )
        settled = await self.effects.settle(settlement)
        at("after-settle")
        if isinstance(settled, ports.Retry):
            raise _again(names.RETRYABLE, settled.code, settled.delay)
        return settled

    async def _command(
        self, attempt: Attempt, request: CallRequest, facts: ports.CallFacts
    ) -> tuple[ports.Command, Sent | None] | Reply:
        """What is asked for, or the reply; what needs a preparation is prepared once, for good.

        A preparation on record is never made again: what the product would say now is no answer
        to what may have been sent before. Nor is one made for what will not be sent. One that
        fails is an attempt that has its answer before it is sent: the ledger counts it, and knows
        whether an earlier one is in doubt.
        """
        command = ports.Command(facts.connection, facts.contract.id, request.input)
        if not facts.contract.preparation:
            return command, None
        saved = await self.effects.saved(attempt.visit)
        if saved is not None:
            command = saved.command
        if command.preparation is not None:
            return command, None
        known = await self._foreseen(attempt, request, facts, command)
        if known is not None:
            return known
        try:
            prepared = await self.products.prepare(facts.contract, facts.connection, command.input)
        except NotPrepared as failure:
            return command, failure.sent
        return replace(command, preparation=prepared), None

    async def _foreseen(
        self,
        attempt: Attempt,
        request: CallRequest,
        facts: ports.CallFacts,
        command: ports.Command,
    ) -> Reply | None:
        """The reply that keeps this attempt from sending; None where it would be permitted."""
        asks = replace(_claim_of(attempt, request, facts, command, ""), only_asks=True)
        answer = await self.effects.claim(asks)
        if isinstance(answer, ports.Dispatched):
            raise AssertionError("a claim that only asks is never permitted")
        reply = _without_sending(answer)
        permitted = reply.code == ports.ONLY_ASKED and not request.only_asks
        return None if permitted else reply

    async def _claim(
        self,
        attempt: Attempt,
        request: CallRequest,
        facts: ports.CallFacts,
        command: ports.Command,
        token: str,
    ) -> ports.ClaimAnswer:
        try:
            return await self.effects.claim(_claim_of(attempt, request, facts, command, token))
        except LedgerUnavailable:
            # The commit's fate is unknown, but nothing was sent: take the dispatch back by its
            # token, so that it does not count as one that may have been (protocol rule 2).
            await self.effects.withdraw(attempt.visit, token)
            raise

    async def resolve(self, visit_attempt: Attempt) -> Reply | int:
        """What the ledger says of an effect without a reply.

        Its position where the call is to be made again: what was permitted before is within it.
        """
        facts = await self.book.call(visit_attempt.visit.run_id, visit_attempt.visit.node)
        answer = await self.effects.resolve(visit_attempt.visit, facts.contract)
        match answer:
            case Reply():
                return answer
            case ports.Busy(retry_after):
                raise _again(names.BUSY, "an attempt may still be sending", retry_after)
            case ports.NotSent() | ports.Retry():
                return answer.position


def _held(reply: Reply) -> bool:
    return reply.kind is ReplyKind.NOT_PERMITTED and reply.code == "hold"


def _without_sending(answer: ports.Settled | ports.Busy) -> Reply:
    """The reply that a claim is answered with; raises ApplicationError to be tried again."""
    if isinstance(answer, ports.Busy):
        raise _again(names.BUSY, "another attempt holds the lease", answer.retry_after)
    if _held(answer.reply):
        raise _again(names.HELD, "a hold keeps this effect from being sent", _HELD_DELAY)
    return answer.reply


def _claim_of(
    attempt: Attempt,
    request: CallRequest,
    facts: ports.CallFacts,
    command: ports.Command,
    token: str,
) -> ports.Claim:
    return ports.Claim(
        attempt.visit,
        attempt.generation,
        token,
        command,
        facts.contract,
        facts.limits,
        request.sequence,
        request.steps,
        request.after_cancel,
        max(request.seen, attempt.progress.seen),
        _first_asked(attempt, request),
        bool(request.since_ms),
        request.only_asks,
    )


def _first_asked(attempt: Attempt, request: CallRequest) -> datetime | None:
    """When the workflow first asked for this call, in whichever activity."""
    if request.since_ms:
        return datetime.fromtimestamp(request.since_ms / 1000, UTC)
    return attempt.scheduled_at


def go_remote(reason: str, pause: float | None = None) -> ApplicationError:
    """The error by which a local attempt leaves the call to a remote activity.

    ``pause`` is for how many seconds the product has asked to be left alone.
    """
    return ApplicationError(
        reason,
        type=names.GO_REMOTE,
        next_retry_delay=None if pause is None else timedelta(seconds=pause),
        category=ApplicationErrorCategory.BENIGN,
    )


def _again(kind: str, reason: str, delay: float) -> ApplicationError:
    return ApplicationError(
        reason,
        type=kind,
        next_retry_delay=timedelta(seconds=max(delay, 0.05)),
        category=ApplicationErrorCategory.BENIGN,
    )


async def heartbeat_while(work: asyncio.Task[Reply], every: float, progress: Progress) -> Reply:
    """Await ``work`` to its end, telling Temporal now and then that this worker lives.

    Each heartbeat carries how far the ledger was, for the attempt that may come after this one.

    A cancel does not interrupt it: what was dispatched must be settled (protocol rule 3).
    """
    while True:
        try:
            done, _ = await asyncio.wait({work}, timeout=every)
        except asyncio.CancelledError:
            continue
        if done:
            return work.result()
        activity.heartbeat(progress.seen)
