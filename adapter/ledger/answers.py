"""What answers make of effects: settlements under the fencing rules, and reads in one write."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from activities.errors import ActivityError
from activities.ports import ReadOutcome, Retry, Settlement
from adapter.ledger.closings import conclude_wanted
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
    Conclude,
    EffectFacts,
    SettleVerdict,
    Stored,
    forbidden,
    settle_verdict,
)
from interpreter.contract.effects import Reply, ReplyKind, VisitRef
from interpreter.contract.records import RunState

_SQL = queries("effects")
ABSENT = "effect.absent"


class Answers:
    """The transactions that write answers."""

    def __init__(self, rows: EffectRows) -> None:
        self._rows = rows

    async def settle(self, transaction: Transaction, settlement: Settlement) -> Reply | Retry:
        """Write the answer of one attempt under the fencing rules."""
        effect, reply = settlement.effect, settlement.reply
        own = call_step(effect, settlement.sequence)
        run, facts = await locked(transaction, effect, settlement.token, (own,))
        if not facts.stored or (facts.own_attempt is None and reply.kind != ReplyKind.ACCEPTED):
            raise _absent(effect)
        verdict = settle_verdict(
            run, facts, settlement.contract, settlement.limits, reply, settlement.retry_after
        )
        if facts.own_settled_as is not None and not isinstance(verdict, Conclude):
            return self._answer(run, effect, facts, verdict)
        entry = Entry(run, facts.now, uncertain=facts.uncertain_elsewhere)
        pause = timedelta(seconds=verdict.delay) if isinstance(verdict, Retry) else None
        writes = self._answer_writes(run, settlement, facts, pause)
        if isinstance(verdict, Conclude):
            writes.append(
                self._rows.settled(run, effect, facts, verdict.reply, uncertain=verdict.uncertain)
            )
            self._enter_conclusion(entry, settlement, facts, verdict)
        else:
            name = f"attempt.{reply.kind.value}"
            self._rows.note(entry, effect, name, code=reply.code, attempt=facts.own_attempt)
        if facts.uncertain and isinstance(verdict, Conclude) and not verdict.uncertain:
            await transaction.write(*writes, *entry.writes())
            await transaction.commit(*await conclude_wanted(transaction, entry))
        else:
            await transaction.commit(*writes, *entry.writes())
        return self._answer(entry.run, effect, facts, verdict)

    def _answer(
        self, run: RunRow, effect: VisitRef, facts: EffectFacts, verdict: SettleVerdict
    ) -> Reply | Retry:
        if isinstance(verdict, Retry):
            return verdict
        if isinstance(verdict, Stored):
            reply = self._rows.stored(run, effect, facts)
        else:
            reply = verdict.reply
        return replace(reply, position=run.position)

    def _enter_conclusion(
        self, entry: Entry, settlement: Settlement, facts: EffectFacts, verdict: Conclude
    ) -> None:
        reply = verdict.reply
        entry.uncertain = entry.uncertain or verdict.uncertain
        if verdict.uncertain:
            entry.stand(RunState.ATTENTION)
        elif not entry.run.closed:
            done = answered_step(call_step(settlement.effect, settlement.sequence), reply)
            entry.steps((done,), facts.known)
        self._rows.note(entry, settlement.effect, f"effect.{reply.kind.value}", code=reply.code)

    def _answer_writes(
        self, run: RunRow, settlement: Settlement, facts: EffectFacts, pause: timedelta | None
    ) -> list[Write]:
        effect, reply = settlement.effect, settlement.reply
        writes = [
            self._rows.attempt_settled(
                effect, settlement.token, reply.kind.value, reply.code, facts, pause
            )
        ]
        if settlement.receipt is not None:
            sealed = self._rows.seal_receipt(run, effect, settlement.token, settlement.receipt)
            receipt = {
                **row_keys(run, effect, facts),
                "token": settlement.token,
                "sealed_receipt": sealed,
            }
            writes.append(Write(_SQL["store_receipt"], receipt))
        return writes

    async def read_outcome(self, transaction: Transaction, outcome: ReadOutcome) -> Reply:
        """Check permission and write a read with its reply."""
        effect, reply = outcome.effect, outcome.reply
        own = answered_step(call_step(effect, outcome.sequence + 1), reply)
        steps = (*outcome.steps, own)
        run, facts = await locked(transaction, effect, NO_TOKEN, steps)
        if outcome.seen > run.position:
            raise LedgerBehind(run.id)
        if facts.outcome is not None:
            return replace(self._rows.stored(run, effect, facts), position=run.position)
        reason = forbidden(
            run, facts.now, withdrawn=facts.withdrawn, after_cancel=outcome.after_cancel
        )
        if reason:
            return await self._rows.not_permitted(transaction, run, reason)
        entry = Entry(run, facts.now, uncertain=facts.uncertain_elsewhere)
        entry.stand(RunState.RUNNING)
        entry.steps(steps, facts.known)
        operation = outcome.command.operation
        self._rows.note(entry, effect, f"effect.{reply.kind.value}", operation=operation)
        read = {
            **row_keys(run, effect, facts),
            "operation": operation,
            "connection": outcome.command.connection,
            "sealed_command": self._rows.seal_command(run, effect, outcome.command),
            "outcome": reply.kind.value,
            "code": reply.code,
            "sealed_reply": self._rows.seal_reply(run, effect, reply),
        }
        await transaction.commit(Write(_SQL["settle_read"], read), *entry.writes())
        return replace(reply, position=entry.run.position)


def _absent(effect: VisitRef) -> ActivityError:
    return ActivityError(
        ABSENT,
        "the ledger has no record of this attempt",
        place=effect.id,
        remedy="put the deployment under a restore hold: its ledger is older than this attempt",
    )
