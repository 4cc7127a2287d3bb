"""An effect's rows: how its payloads, keys, projections and notes are written and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from activities.ports import Command
from adapter.crypto import Keyed, RunSealer
from adapter.ledger.closings import closed_answer
from adapter.ledger.entry import Entry, RunRow, lock_with, sequences_of
from adapter.ledger.pool import Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from adapter.ledger.verdicts import Declare, EffectFacts
from interpreter.contract.effects import Reply, ReplyKind, VisitRef
from interpreter.contract.records import RunState, StepRecord
from interpreter.contract.values import JsonValue

_SQL = queries("effects")

NO_TOKEN = ""
"""Stands for whoever looks at an effect without being one of its attempts."""


class EffectRows:
    """Seals, opens and notes what belongs to effects."""

    def __init__(self, run_keys: RunKeys, keyed: Keyed) -> None:
        self._run_keys = run_keys
        self._keyed = keyed

    def product_key(self, effect: VisitRef, version: int) -> str:
        """The idempotency key of an effect, under the version that its run froze."""
        return self._keyed.product_key(effect, version)

    def seal_receipt(self, run: RunRow, effect: VisitRef, token: str, receipt: JsonValue) -> bytes:
        """A receipt as it is stored, bound to the attempt that brought it."""
        return self._sealer(run).seal(receipt, "receipt", f"{effect.id}:{token}")

    async def declare(
        self,
        transaction: Transaction,
        run: RunRow,
        effect: VisitRef,
        facts: EffectFacts,
        verdict: Declare,
        steps: Sequence[StepRecord] = (),
    ) -> None:
        """Settle an effect without an answer; the run needs a person where that is uncertain."""
        entry = Entry(run, facts.now, uncertain=verdict.uncertain or facts.uncertain_elsewhere)
        if verdict.uncertain:
            entry.stand(RunState.ATTENTION)
        entry.steps(steps, facts.known)
        reply = verdict.reply
        self.note(entry, effect, f"effect.{reply.kind.value}", code=reply.code)
        settled = self.settled(run, effect, facts, reply, uncertain=verdict.uncertain)
        await transaction.commit(settled, *entry.writes())

    def note(self, entry: Entry, effect: VisitRef, kind: str, **facts: JsonValue) -> None:
        """Tell an effect's change to the outbox and the journal."""
        place: dict[str, JsonValue] = {
            "branch": effect.branch,
            "node": effect.node,
            "visit": effect.visit,
        }
        entry.event(kind, **place, **facts)
        entry.journal(kind, {"step": self._keyed.reference("step", effect.id)}, **facts)

    async def not_permitted(self, transaction: Transaction, run: RunRow, code: str) -> Reply:
        """The reply that sends nothing; of a closed run it carries the end on record."""
        output = None
        if code == "run-closed":
            output = await closed_answer(transaction, run, self._run_keys)
        return Reply(ReplyKind.NOT_PERMITTED, output, code)

    def stored(self, run: RunRow, effect: VisitRef, facts: EffectFacts) -> Reply:
        """The final reply on record."""
        if facts.sealed_reply is None:
            return Reply(ReplyKind(facts.outcome or ""), code=facts.code)
        opened = self._sealer(run).open(facts.sealed_reply, "reply", effect.id)
        return Reply.from_json(opened)

    def attempt_settled(
        self,
        effect: VisitRef,
        token: str,
        settled_as: str,
        code: str,
        facts: EffectFacts,
        pause: timedelta | None = None,
    ) -> Write:
        """Write how one attempt ended, and how long nobody is to make the next one."""
        answer = {"token": token, "settled_as": settled_as, "code": code, "now": facts.now}
        answer["pause"] = pause
        keys = {"run": effect.run_id, "visit": effect.id}
        return Write(_SQL["settle_attempt"], {**keys, **answer})

    def settled(
        self,
        run: RunRow,
        effect: VisitRef,
        facts: EffectFacts,
        reply: Reply,
        *,
        uncertain: bool,
    ) -> Write:
        """Write an effect's final reply."""
        parameters = {
            "run": effect.run_id,
            "visit": effect.id,
            "now": facts.now,
            "outcome": reply.kind.value,
            "code": reply.code,
            "sealed_reply": self.seal_reply(run, effect, reply),
            "uncertain": uncertain,
        }
        return Write(_SQL["settle_effect"], parameters)

    def seal_command(self, run: RunRow, effect: VisitRef, command: Command) -> bytes:
        """A command as it is stored."""
        parts = [command.connection, command.operation, command.input, command.preparation]
        return self._sealer(run).seal(parts, "command", effect.id)

    def prepared(self, run: RunRow, effect: VisitRef, command: Command) -> Write:
        """Write a command on record with the preparation that it had lost."""
        sealed = self.seal_command(run, effect, command)
        keys = {"run": effect.run_id, "visit": effect.id}
        return Write(_SQL["prepare_command"], {**keys, "sealed_command": sealed})

    def open_command(self, effect: VisitRef, sealed: bytes, wrapped_key: bytes | None) -> Command:
        """The command that was stored."""
        sealer = self._run_keys.sealer(effect.run_id, wrapped_key)
        return Command(*sealer.open(sealed, "command", effect.id))

    def seal_reply(self, run: RunRow, effect: VisitRef, reply: Reply) -> bytes:
        """A reply as it is stored."""
        return self._sealer(run).seal(reply.to_json(), "reply", effect.id)

    def _sealer(self, run: RunRow) -> RunSealer:
        return self._run_keys.sealer(run.id, run.wrapped_key)


async def locked(
    transaction: Transaction,
    effect: VisitRef,
    token: str,
    steps: Sequence[StepRecord],
    *,
    share_hold: bool = False,
) -> tuple[RunRow, EffectFacts]:
    """Lock a run and read one effect as the attempt with ``token`` sees it."""
    parameters = {
        "run": effect.run_id,
        "visit": effect.id,
        "token": token,
        "sequences": sequences_of(steps),
    }
    facts = Question(_SQL["effect_facts"], parameters, EffectFacts)
    return await lock_with(transaction, effect.run_id, facts, share_hold=share_hold)


def row_keys(run: RunRow, effect: VisitRef, facts: EffectFacts) -> dict[str, JsonValue]:
    """What every row of an effect carries."""
    return {
        "run": run.id,
        "visit": effect.id,
        "owner": run.owner,
        "scope": run.scope,
        "now": facts.now,
    }


def call_step(effect: VisitRef, sequence: int) -> StepRecord:
    """The projection of a call that is on its way."""
    return StepRecord(sequence, effect.branch, effect.node, effect.visit, "call", "running")


def answered_step(step: StepRecord, reply: Reply) -> StepRecord:
    """The projection of a call that has its answer."""
    if reply.kind is ReplyKind.ACCEPTED:
        return replace(step, state="succeeded", outlet="next")
    return replace(step, state="failed", code=reply.code)
