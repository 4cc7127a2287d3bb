"""Permission to send: claims, their withdrawal, and what is left when no answer came."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from activities.ports import (
    ONLY_ASKED,
    Busy,
    Claim,
    ClaimAnswer,
    Command,
    Dispatched,
    NotSent,
    Retry,
    Settled,
)
from adapter.ledger.effect_rows import (
    NO_TOKEN,
    EffectRows,
    answered_step,
    call_step,
    locked,
    row_keys,
)
from adapter.ledger.entry import Entry, LedgerBehind, RunRow
from adapter.ledger.pool import Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.verdicts import (
    LAPSED,
    ClaimVerdict,
    Declare,
    Dispatch,
    EffectFacts,
    Forbid,
    Stored,
    claim_verdict,
)
from interpreter.contract.effects import Reply, VisitRef
from interpreter.contract.operations import OperationContract
from interpreter.contract.records import RunState

_SQL = queries("effects")

LEASE_MARGIN_SECONDS: Final = 5.0
"""A lease outlasts its send budget by this, so that an answer in time is settled under it."""

PRESUMED: Final = "presumed"
"""The token of an attempt that a restore may have taken away: nobody can withdraw it."""


class Dispatches:
    """The transactions that come before an answer."""

    def __init__(self, rows: EffectRows) -> None:
        self._rows = rows

    async def claim(self, transaction: Transaction, claim: Claim) -> ClaimAnswer:
        """Store the command once, check permission, and dispatch."""
        own = call_step(claim.effect, claim.sequence)
        answered = call_step(claim.effect, claim.sequence + 1)
        steps = (*claim.steps, own, answered)
        run, facts = await locked(transaction, claim.effect, claim.token, steps, share_hold=True)
        verdict = _verdict(run, facts, claim)
        if claim.seen > run.position:
            raise LedgerBehind(run.id)
        match verdict:
            case Stored():
                stored = self._rows.stored(run, claim.effect, facts)
                return Settled(replace(stored, position=run.position))
            case Busy():
                return verdict
            case Forbid(code):
                return Settled(await self._rows.not_permitted(transaction, run, code))
            case Declare(reply, uncertain):
                if uncertain and not facts.unresolved:
                    run = await self._presume_sent(transaction, run, claim, facts)
                told = () if uncertain else (answered_step(answered, reply),)
                await self._rows.declare(transaction, run, claim.effect, facts, verdict, told)
                return Settled(reply)
            case Dispatch() if claim.only_asks:
                return Settled(await self._rows.not_permitted(transaction, run, ONLY_ASKED))
            case Dispatch():
                return await self._dispatch(transaction, run, claim, facts, verdict)

    async def _dispatch(
        self,
        transaction: Transaction,
        run: RunRow,
        claim: Claim,
        facts: EffectFacts,
        verdict: Dispatch,
    ) -> Dispatched:
        attempt = facts.attempts + 1
        entry = Entry(run, facts.now, uncertain=facts.uncertain_elsewhere)
        entry.stand(RunState.RUNNING)
        own = call_step(claim.effect, claim.sequence)
        entry.steps((*claim.steps, own), facts.known)
        operation = claim.command.operation
        self._rows.note(
            entry, claim.effect, "effect.dispatched", operation=operation, attempt=attempt
        )
        writes, command = self._frozen(run, claim, facts)
        dispatch = {
            **row_keys(run, claim.effect, facts),
            "attempt": attempt,
            "generation": claim.generation,
            "token": claim.token,
            "lease": timedelta(seconds=claim.limits.send_budget + LEASE_MARGIN_SECONDS),
        }
        writes.append(Write(_SQL["dispatch"], dispatch))
        await transaction.commit(*writes, *entry.writes())
        key = self._rows.product_key(claim.effect, run.key_version)
        return Dispatched(key, command, attempt, verdict.unresolved, entry.run.position)

    async def _presume_sent(
        self, transaction: Transaction, run: RunRow, claim: Claim, facts: EffectFacts
    ) -> RunRow:
        """Write the attempt that a restore may have taken away, and the effect where it has.

        Nobody can answer for it, so no later answer to another attempt ends the doubt. Its instant
        is when the call was asked for: no send can have been earlier, so a receipt window is never
        taken for longer than it is.
        """
        entry = Entry(run, facts.now, uncertain=True)
        entry.steps((*claim.steps, call_step(claim.effect, claim.sequence)), facts.known)
        presumed = {
            **row_keys(run, claim.effect, facts),
            "now": claim.asked_at,
            "attempt": facts.attempts + 1,
            "generation": claim.generation,
            "token": PRESUMED,
            "lease": timedelta(0),
        }
        opened, sent = self._opened(run, claim, facts), Write(_SQL["dispatch"], presumed)
        await transaction.write(opened, sent, *entry.writes())
        return entry.run

    def _opened(self, run: RunRow, claim: Claim, facts: EffectFacts) -> Write:
        opened = {
            **row_keys(run, claim.effect, facts),
            "operation": claim.command.operation,
            "effect": claim.contract.effect.value,
            "connection": claim.command.connection,
            "generation": claim.generation,
            "after_cancel": claim.after_cancel,
            "sealed_command": self._rows.seal_command(run, claim.effect, claim.command),
        }
        return Write(_SQL["store_command"], opened)

    def _frozen(self, run: RunRow, claim: Claim, facts: EffectFacts) -> tuple[list[Write], Command]:
        """The command that is sent, and what is to be written of it.

        One on record stands. Where it was presumed, its preparation is lost and made once more.
        """
        if facts.sealed_command is None:
            return [self._opened(run, claim, facts)], claim.command
        saved = self._rows.open_command(claim.effect, facts.sealed_command, run.wrapped_key)
        same = saved == replace(claim.command, preparation=None)
        if not same or claim.command.preparation is None:
            return [], saved
        return [self._rows.prepared(run, claim.effect, claim.command)], claim.command

    async def withdraw(self, transaction: Transaction, effect: VisitRef, token: str) -> None:
        """Mark a dispatch as never sent, unless it has an answer."""
        run, facts = await locked(transaction, effect, token, ())
        if facts.own_attempt is None or facts.own_settled_as is not None:
            return
        entry = Entry(run, facts.now, uncertain=facts.uncertain_elsewhere)
        self._rows.note(entry, effect, "effect.withdrawn", attempt=facts.own_attempt)
        settled = self._rows.attempt_settled(effect, token, "withdrawn", "", facts)
        await transaction.commit(settled, *entry.writes())

    async def resolve(
        self, transaction: Transaction, effect: VisitRef, contract: OperationContract
    ) -> Reply | Busy | NotSent | Retry:
        """Classify an effect whose activity gave no reply."""
        run, facts = await locked(transaction, effect, NO_TOKEN, (), share_hold=True)
        if facts.outcome is not None:
            return replace(self._rows.stored(run, effect, facts), position=run.position)
        if not facts.unresolved:
            return NotSent(run.position)
        send_budget = contract.attempts.timeout_milliseconds / 1_000
        verdict = claim_verdict(run, facts, contract, send_budget, after_cancel=facts.after_cancel)
        match verdict:
            case Busy():
                return verdict
            case Declare(reply):
                await self._rows.declare(transaction, run, effect, facts, verdict)
                return reply
            case Forbid(code) if code == "run-closed":
                return await self._rows.not_permitted(transaction, run, code)
            case _:
                return Retry(0.0, LAPSED, run.position)


def _verdict(run: RunRow, facts: EffectFacts, claim: Claim) -> ClaimVerdict:
    return claim_verdict(
        run,
        facts,
        claim.contract,
        claim.limits.send_budget,
        after_cancel=claim.after_cancel,
        asked_at=claim.asked_at,
        keeps_pause=claim.keeps_pause,
    )
