"""The effect protocol's writes: claim, dispatch, settle, resolve, and a read in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from activities.errors import ActivityError
from activities.ports import (
    Busy,
    Claim,
    ClaimAnswer,
    Command,
    Dispatched,
    NotSent,
    ReadOutcome,
    Retry,
    Saved,
    Settled,
    Settlement,
)
from adapter.crypto import Keyed, Sealer
from adapter.ledger.closings import closed_answer, conclude_wanted
from adapter.ledger.entry import Entry, RunRow, lock_with, sequences_of
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.verdicts import (
    LAPSED,
    Conclude,
    Declare,
    Dispatch,
    EffectFacts,
    Forbid,
    Pass,
    Stored,
    claim_verdict,
    forbidden,
    settle_verdict,
)
from interpreter.contract.effects import Reply, ReplyKind, VisitRef
from interpreter.contract.operations import OperationContract
from interpreter.contract.records import RunState, StepRecord
from interpreter.contract.values import JsonValue

_SQL = queries("effects")

LEASE_MARGIN_SECONDS: Final = 5.0
"""A lease outlasts its send budget by this, so that an answer in time is settled under it."""

_NO_TOKEN: Final = ""


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A stored command, its key's version, and the token of its latest attempt."""

    sealed_command: bytes
    key_version: int
    token: str


class Effects:
    """``EffectLedger`` over PostgreSQL; every method is one transaction under the run's lock.

    Raises ActivityError ``run.unknown``, and LedgerUnavailable when the fate of a write is not
    known.
    """

    def __init__(self, pool: Pool, sealer: Sealer, keyed: Keyed) -> None:
        self._pool = pool
        self._sealer = sealer
        self._keyed = keyed

    async def saved(self, effect: VisitRef) -> Saved | None:
        """The command on record, or None before the first claim."""
        keys = {"run": effect.run_id, "visit": effect.id}
        row = await self._pool.one(Question(_SQL["saved_command"], keys, SavedRow))
        if row is None:
            return None
        stored = self._sealer.open(row.sealed_command, effect.run_id, "command", effect.id)
        key = self._keyed.product_key(effect, row.key_version)
        return Saved(Command(*stored), key, row.token)

    async def claim(self, claim: Claim) -> ClaimAnswer:
        """Store the command once, check permission, and dispatch (design section 5)."""
        return await self._pool.run(lambda transaction: self._claim(transaction, claim))

    async def withdraw(self, effect: VisitRef, token: str) -> None:
        """Undo a dispatch under which nothing was sent.

        It waits for the run's lock, which the dispatch holds until its commit is decided: an
        attempt that is absent then never will be there.
        """

        async def work(transaction: Transaction) -> None:
            run, facts = await _locked(transaction, effect, token, ())
            if facts.own_attempt is None or facts.own_settled_as is not None:
                return
            entry = Entry(run, facts.now, uncertain=facts.uncertain_elsewhere)
            self._note(entry, effect, "effect.withdrawn", attempt=facts.own_attempt)
            settled = self._attempt(effect, token, "withdrawn", "", facts)
            await transaction.commit(settled, *entry.writes())

        await self._pool.through_failover(work)

    async def settle(self, settlement: Settlement) -> Reply | Retry:
        """Write the answer under the fencing rules; repeats itself through a fail-over."""
        return await self._pool.through_failover(
            lambda transaction: self._settle(transaction, settlement)
        )

    async def resolve(
        self, effect: VisitRef, contract: OperationContract
    ) -> Reply | Busy | NotSent | Retry:
        """What the ledger knows of an effect whose activity ended without a reply (rule 3).

        ``Retry`` without delay: a claim would send again. ``NotSent`` also when every attempt
        ended without effect.
        """
        return await self._pool.run(
            lambda transaction: self._resolve(transaction, effect, contract)
        )

    async def read_outcome(self, outcome: ReadOutcome) -> Reply:
        """Check permission and write a read's reply; the hold is read without locking it.

        A read that meets a hold or a cancel in the same instant is harmless, so it needs no
        shared lock (protocol rule 6).
        """
        return await self._pool.run(lambda transaction: self._read_outcome(transaction, outcome))

    async def _claim(self, transaction: Transaction, claim: Claim) -> ClaimAnswer:
        own = _step(claim.effect, claim.sequence, "running")
        steps = (*claim.steps, own)
        run, facts = await _locked(transaction, claim.effect, claim.token, steps, share_hold=True)
        verdict = claim_verdict(
            run,
            facts,
            claim.contract,
            claim.limits.send_budget,
            after_cancel=claim.after_cancel,
        )
        match verdict:
            case Stored():
                return Settled(self._stored(claim.effect, facts))
            case Busy():
                return verdict
            case Forbid(code):
                return Settled(await self._not_permitted(transaction, run, code))
            case Declare():
                await self._declare(transaction, run, claim.effect, facts, verdict)
                return Settled(verdict.reply)
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
        own = _step(claim.effect, claim.sequence, "running")
        entry.steps((*claim.steps, own), facts.known)
        operation = claim.command.operation
        self._note(entry, claim.effect, "effect.dispatched", operation=operation, attempt=attempt)
        writes = [] if facts.stored else [self._opened(run, claim, facts)]
        dispatch = {
            **_keys(run, claim.effect, facts),
            "attempt": attempt,
            "generation": claim.generation,
            "token": claim.token,
            "lease": timedelta(seconds=claim.limits.send_budget + LEASE_MARGIN_SECONDS),
        }
        writes.append(Write(_SQL["dispatch"], dispatch))
        await transaction.commit(*writes, *entry.writes())
        key = self._keyed.product_key(claim.effect, run.key_version)
        return Dispatched(key, self._command(claim, facts), attempt, verdict.unresolved)

    def _opened(self, run: RunRow, claim: Claim, facts: EffectFacts) -> Write:
        opened = {
            **_keys(run, claim.effect, facts),
            "operation": claim.command.operation,
            "effect": claim.contract.effect.value,
            "connection": claim.command.connection,
            "generation": claim.generation,
            "after_cancel": claim.after_cancel,
            "sealed_command": self._seal_command(claim.effect, claim.command),
        }
        return Write(_SQL["store_command"], opened)

    def _command(self, claim: Claim, facts: EffectFacts) -> Command:
        if facts.sealed_command is None:
            return claim.command
        effect = claim.effect
        stored = self._sealer.open(facts.sealed_command, effect.run_id, "command", effect.id)
        return Command(*stored)

    async def _declare(
        self,
        transaction: Transaction,
        run: RunRow,
        effect: VisitRef,
        facts: EffectFacts,
        verdict: Declare,
    ) -> None:
        entry = Entry(run, facts.now, uncertain=True)
        entry.stand(RunState.ATTENTION)
        reply = verdict.reply
        self._note(entry, effect, f"effect.{reply.kind.value}", code=reply.code)
        settled = self._settled(effect, facts, reply, uncertain=verdict.uncertain)
        await transaction.commit(settled, *entry.writes())

    async def _settle(self, transaction: Transaction, settlement: Settlement) -> Reply | Retry:
        effect, reply = settlement.effect, settlement.reply
        own = _step(effect, settlement.sequence, "running")
        run, facts = await _locked(transaction, effect, settlement.token, (own,))
        if not facts.stored or (facts.own_attempt is None and reply.kind != ReplyKind.ACCEPTED):
            raise _absent(effect)
        verdict = settle_verdict(
            run, facts, settlement.contract, settlement.limits, reply, settlement.retry_after
        )
        if facts.own_settled_as is not None and not isinstance(verdict, Conclude):
            return verdict if isinstance(verdict, Retry) else self._answer(effect, facts, verdict)
        entry = Entry(run, facts.now, uncertain=facts.uncertain_elsewhere)
        writes = self._answer_writes(run, settlement, facts)
        if isinstance(verdict, Conclude):
            writes.append(self._settled(effect, facts, verdict.reply, uncertain=verdict.uncertain))
            self._enter_conclusion(entry, settlement, facts, verdict)
        else:
            name = f"attempt.{reply.kind.value}"
            self._note(entry, effect, name, code=reply.code, attempt=facts.own_attempt)
        if facts.uncertain and isinstance(verdict, Conclude) and not verdict.uncertain:
            await transaction.write(*writes, *entry.writes())
            await transaction.commit(*await conclude_wanted(transaction, entry))
        else:
            await transaction.commit(*writes, *entry.writes())
        return verdict if isinstance(verdict, Retry) else self._answer(effect, facts, verdict)

    def _answer(
        self, effect: VisitRef, facts: EffectFacts, verdict: Stored | Conclude | Pass
    ) -> Reply:
        return self._stored(effect, facts) if isinstance(verdict, Stored) else verdict.reply

    def _enter_conclusion(
        self, entry: Entry, settlement: Settlement, facts: EffectFacts, verdict: Conclude
    ) -> None:
        reply = verdict.reply
        entry.uncertain = entry.uncertain or verdict.uncertain
        if verdict.uncertain:
            entry.stand(RunState.ATTENTION)
        elif not entry.run.closed:
            done = _answered(_step(settlement.effect, settlement.sequence, "running"), reply)
            entry.steps((done,), facts.known)
        self._note(entry, settlement.effect, f"effect.{reply.kind.value}", code=reply.code)

    def _answer_writes(
        self, run: RunRow, settlement: Settlement, facts: EffectFacts
    ) -> list[Write]:
        effect, reply = settlement.effect, settlement.reply
        writes = [self._attempt(effect, settlement.token, reply.kind.value, reply.code, facts)]
        if settlement.receipt is not None:
            place = f"{effect.id}:{settlement.token}"
            sealed = self._sealer.seal(settlement.receipt, effect.run_id, "receipt", place)
            receipt = {
                **_keys(run, effect, facts),
                "token": settlement.token,
                "receipt_id": _receipt_id(settlement.receipt),
                "sealed_receipt": sealed,
            }
            writes.append(Write(_SQL["store_receipt"], receipt))
        return writes

    async def _resolve(
        self, transaction: Transaction, effect: VisitRef, contract: OperationContract
    ) -> Reply | Busy | NotSent | Retry:
        run, facts = await _locked(transaction, effect, _NO_TOKEN, (), share_hold=True)
        if facts.outcome is not None:
            return self._stored(effect, facts)
        if not facts.unresolved:
            return NotSent()
        send_budget = contract.attempts.timeout_milliseconds / 1_000
        verdict = claim_verdict(run, facts, contract, send_budget, after_cancel=facts.after_cancel)
        match verdict:
            case Busy():
                return verdict
            case Declare(reply):
                await self._declare(transaction, run, effect, facts, verdict)
                return reply
            case Forbid(code) if code == "run-closed":
                return await self._not_permitted(transaction, run, code)
            case _:
                return Retry(0.0, LAPSED)

    async def _read_outcome(self, transaction: Transaction, outcome: ReadOutcome) -> Reply:
        effect, reply = outcome.effect, outcome.reply
        own = _answered(_step(effect, outcome.sequence + 1, "running"), reply)
        steps = (*outcome.steps, own)
        run, facts = await _locked(transaction, effect, _NO_TOKEN, steps)
        if facts.outcome is not None:
            return self._stored(effect, facts)
        reason = forbidden(run, facts.now, withdrawn=facts.withdrawn, after_cancel=False)
        if reason:
            return await self._not_permitted(transaction, run, reason)
        entry = Entry(run, facts.now, uncertain=facts.uncertain_elsewhere)
        entry.stand(RunState.RUNNING)
        entry.steps((*outcome.steps, own), facts.known)
        operation = outcome.command.operation
        self._note(entry, effect, f"effect.{reply.kind.value}", operation=operation)
        read = {
            **_keys(run, effect, facts),
            "operation": operation,
            "connection": outcome.command.connection,
            "sealed_command": self._seal_command(effect, outcome.command),
            "outcome": reply.kind.value,
            "code": reply.code,
            "sealed_reply": self._seal_reply(effect, reply),
        }
        await transaction.commit(Write(_SQL["settle_read"], read), *entry.writes())
        return reply

    def _note(self, entry: Entry, effect: VisitRef, kind: str, **facts: JsonValue) -> None:
        """Tell an effect's change to the outbox and the journal."""
        place: dict[str, JsonValue] = {
            "branch": effect.branch,
            "node": effect.node,
            "visit": effect.visit,
        }
        entry.event(kind, **place, **facts)
        entry.journal(kind, {"step": self._keyed.reference("step", effect.id)}, **facts)

    async def _not_permitted(self, transaction: Transaction, run: RunRow, code: str) -> Reply:
        output = None
        if code == "run-closed":
            output = await closed_answer(transaction, run, self._sealer)
        return Reply(ReplyKind.NOT_PERMITTED, output, code)

    def _stored(self, effect: VisitRef, facts: EffectFacts) -> Reply:
        if facts.sealed_reply is None:
            return Reply(ReplyKind(facts.outcome or ""), code=facts.code)
        opened = self._sealer.open(facts.sealed_reply, effect.run_id, "reply", effect.id)
        return Reply.from_json(opened)

    def _attempt(
        self, effect: VisitRef, token: str, settled_as: str, code: str, facts: EffectFacts
    ) -> Write:
        answer = {"token": token, "settled_as": settled_as, "code": code, "now": facts.now}
        keys = {"run": effect.run_id, "visit": effect.id}
        return Write(_SQL["settle_attempt"], {**keys, **answer})

    def _settled(
        self, effect: VisitRef, facts: EffectFacts, reply: Reply, *, uncertain: bool
    ) -> Write:
        parameters = {
            "run": effect.run_id,
            "visit": effect.id,
            "now": facts.now,
            "outcome": reply.kind.value,
            "code": reply.code,
            "sealed_reply": self._seal_reply(effect, reply),
            "uncertain": uncertain,
        }
        return Write(_SQL["settle_effect"], parameters)

    def _seal_command(self, effect: VisitRef, command: Command) -> bytes:
        parts = [command.connection, command.operation, command.input, command.preparation]
        return self._sealer.seal(parts, effect.run_id, "command", effect.id)

    def _seal_reply(self, effect: VisitRef, reply: Reply) -> bytes:
        return self._sealer.seal(reply.to_json(), effect.run_id, "reply", effect.id)


async def _locked(
    transaction: Transaction,
    effect: VisitRef,
    token: str,
    steps: Sequence[StepRecord],
    *,
    share_hold: bool = False,
) -> tuple[RunRow, EffectFacts]:
    parameters = {
        "run": effect.run_id,
        "visit": effect.id,
        "token": token,
        "sequences": sequences_of(steps),
    }
    facts = Question(_SQL["effect_facts"], parameters, EffectFacts)
    return await lock_with(transaction, effect.run_id, facts, share_hold=share_hold)


def _keys(run: RunRow, effect: VisitRef, facts: EffectFacts) -> dict[str, JsonValue]:
    return {
        "run": run.id,
        "visit": effect.id,
        "owner": run.owner,
        "scope": run.scope,
        "now": facts.now,
    }


def _step(effect: VisitRef, sequence: int, state: str) -> StepRecord:
    return StepRecord(sequence, effect.branch, effect.node, effect.visit, "call", state)


def _answered(step: StepRecord, reply: Reply) -> StepRecord:
    if reply.kind is ReplyKind.ACCEPTED:
        return replace(step, state="succeeded", outlet="next")
    return replace(step, state="failed", code=reply.code)


def _receipt_id(receipt: JsonValue) -> str:
    """The receipt's own id, which is plain as every id is; empty when it has none."""
    found = receipt.get("id") if isinstance(receipt, dict) else None
    return found[:256] if isinstance(found, str) else ""


def _absent(effect: VisitRef) -> ActivityError:
    return ActivityError(
        "effect.absent",
        "the ledger has no record of this attempt",
        place=effect.id,
        remedy="put the deployment under a restore hold: its ledger is older than this attempt",
    )
