"""Operators' acts: judged and written down before anything happens, then followed to an end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from activities.ports import ActUnderWay, CallBook, CallFacts
from adapter.crypto import Keyed
from adapter.errors import Refused
from adapter.ledger.act_rows import Act, LateAnswer, Wish, act_key, reused, snapshot, unknown_act
from adapter.ledger.act_rules import (
    ActKind,
    ActState,
    Candidate,
    Progress,
    Subject,
    cancel_refusal,
    chosen,
    conclusion,
    reconcile_refusal,
    refusal,
    retry_refusal,
)
from adapter.ledger.effect_rows import NO_TOKEN, EffectRows
from adapter.ledger.entry import Entry, RunRow, lock_question, lock_run, unknown_run
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from adapter.ledger.verdicts import EffectFacts
from interpreter.contract.effects import Reply, ReplyKind, visit_ref
from interpreter.contract.records import RunState
from interpreter.contract.values import JsonValue, canonical_bytes

_SQL = queries("acts")
_EFFECTS = queries("effects")
_ROUNDS: Final = 3
_FIRST_PATIENCE = timedelta(seconds=12)
"""Whoever recorded an act delivers it at once; others leave it alone for so long."""


@dataclass(frozen=True, slots=True)
class _Instant:
    now: datetime


@dataclass(frozen=True, slots=True)
class _Id:
    id: str


@dataclass(frozen=True, slots=True)
class _Judged:
    """A run under its lock, the effect that a wish is about, and the verdict ('' to go on)."""

    run: RunRow
    now: datetime
    candidates: Sequence[Candidate]
    subject: Subject | None
    code: str


class Acts:
    """Acts over PostgreSQL; also the ``ActLedger`` of ``activities.ports``.

    Raises ActivityError ``run.unknown`` or ``act.unknown``, Refused with a code of
    ``act_rules``, and LedgerUnavailable when the fate of a write is not known.
    """

    def __init__(self, pool: Pool, run_keys: RunKeys, keyed: Keyed, book: CallBook) -> None:
        self._pool = pool
        self._run_keys = run_keys
        self._keyed = keyed
        self._book = book
        self._rows = EffectRows(run_keys, keyed)

    async def begin(self, run_id: str, wish: Wish) -> Act:
        """Judge a wish and write it down with its first effects, in one transaction.

        A repeated request id gives the act that it began. Refused ``idempotency.key-reused`` when
        it was about something else; a refused wish leaves an audit record and nothing else.
        """
        act_id = self._keyed.act_id(run_id, wish.kind, wish.request_id)
        for _ in range(_ROUNDS):
            pinned = await self._pinned(run_id, wish.effect)
            code = await self._pool.run(
                lambda transaction, pinned=pinned: self._begin(  # type: ignore[misc]
                    transaction, run_id, act_id, wish, pinned
                )
            )
            if code is None:
                return await self.act(act_id)
            if code:
                raise refusal(code)
        raise refusal("act.busy")

    async def allowed(self, run_id: str) -> list[ActKind]:
        """Which acts would be granted now, without a name for an effect."""
        run = await self._standing(run_id)
        found = []
        for kind in ActKind:
            try:
                pinned = await self._pinned(run_id, "")
                judged = await self._judge(None, run, kind, "", pinned)
            except Refused as refused:
                # Of several unknown effects one must be named; then it may well be granted.
                if refused.code == "act.effect-ambiguous":
                    found.append(kind)
                continue
            if judged is not None and not judged.code:
                found.append(kind)
        return found

    async def act(self, act_id: str) -> Act:
        """An act by its id."""
        found = await self._pool.one(Question(_SQL["act"], {"act": act_key(act_id)}, Act))
        if found is None:
            raise unknown_act()
        return found

    async def of_run(self, run_id: str) -> list[Act]:
        """A run's acts, oldest first."""
        return await self._pool.ask(Question(_SQL["run_acts"], {"run": run_id}, Act))

    def reason(self, act: Act) -> str:
        """Why an act was asked for, in its actor's words."""
        sealer = self._run_keys.sealer(act.run_id, act.wrapped_key)
        opened: str = sealer.open(act.sealed_reason, "act-reason", act.id)
        return opened

    async def pending(self, limit: int = 20) -> list[Act]:
        """Acts that are due for a delivery or a look; they are kept from others for a while."""
        return await self._pool.ask(Question(_SQL["take_pending"], {"limit": limit}, Act))

    async def delivered(self, act_id: str) -> None:
        """Write that the execution has taken an act."""
        await self._pool.ask(Question(_SQL["act_delivered"], {"act": act_id}, _Id))

    async def progress(self, act_id: str) -> Act:
        """The act, concluded if what it is about shows its outcome."""
        facts = await self._pool.one(Question(_SQL["act_progress"], {"act": act_id}, Progress))
        if facts is None:
            raise unknown_act()
        found = None if facts.concluded else conclusion(facts)
        if found is not None:
            await self.conclude(act_id, *found)
        return await self.act(act_id)

    async def under_way(self, act_id: str) -> ActUnderWay:
        """A reconcile act as the activity that carries it out needs it."""
        act = await self.act(act_id)
        return ActUnderWay(act.effect, act.generation, act.sequence, act.concluded_at is not None)

    async def conclude(self, act_id: str, outcome: str, code: str) -> None:
        """Write an act's outcome, insert-once, with its second audit record."""
        await self._conclude(await self.act(act_id), ActState.DONE, outcome, code)

    async def take_back(self, act_id: str) -> None:
        """End a retry-same that no execution is there to carry out.

        The effect is unknown again as before, unless an attempt has begun meanwhile.
        """
        act = await self.act(act_id)

        async def work(transaction: Transaction) -> bool:
            run, facts = await self._facts(transaction, act.run_id, act.visit)
            sending = facts.lease_until is not None and facts.lease_until > facts.now
            if facts.outcome is not None or sending:
                return False
            code = str(act.preconditions.get("code", ""))
            entry = Entry(run, facts.now, uncertain=True)
            entry.stand(RunState.ATTENTION)
            unknown = Reply(ReplyKind.UNKNOWN, code=code)
            self._rows.note(entry, act.effect, "effect.unknown", code=code)
            settled = self._rows.settled(run, act.effect, facts, unknown, uncertain=True)
            await transaction.commit(settled, *entry.writes())
            return True

        if await self._pool.run(work):
            await self._conclude(act, ActState.REFUSED, "refused", "execution-closed")

    async def late_answers(self, older_than: float, limit: int = 20) -> list[LateAnswer]:
        """Late answers that no execution has learned for some seconds."""
        parameters = {"older_than": timedelta(seconds=older_than), "limit": limit}
        return await self._pool.ask(Question(_SQL["late_answers"], parameters, LateAnswer))

    async def _conclude(self, act: Act, state: ActState, outcome: str, code: str) -> None:
        async def work(transaction: Transaction) -> None:
            run, facts = await lock_run(transaction, act.run_id)
            standing = await transaction.one(Question(_SQL["act"], {"act": act.id}, Act))
            if standing is None or standing.concluded_at is not None:
                return
            entry = Entry(run, facts.now, uncertain=facts.uncertain)
            told: dict[str, JsonValue] = {"act": act.id, "asked": act.kind}
            told |= {"outcome": outcome, "code": code}
            entry.event("act.concluded", **told)
            entry.journal("act.concluded", self._refs(act.actor, act.visit), **told)
            end = {"act": act.id, "state": state.value, "outcome": outcome, "code": code}
            concluded = Write(_SQL["conclude_act"], {**end, "now": facts.now})
            await transaction.commit(concluded, *entry.writes())

        await self._pool.through_failover(work)

    async def _begin(
        self,
        transaction: Transaction,
        run_id: str,
        act_id: str,
        wish: Wish,
        pinned: dict[str, CallFacts],
    ) -> str | None:
        """None when the act is on record, a refusal's code, or '' to judge once more."""
        run = await transaction.one(lock_question(run_id, share_hold=True))
        if run is None:
            raise unknown_run(run_id)
        standing = await transaction.one(Question(_SQL["act"], {"act": act_id}, Act))
        if standing is not None:
            if standing.request_digest != self._digest(wish):
                raise reused()
            return None
        judged = await self._judge(transaction, run, wish.kind, wish.effect, pinned)
        if judged is None:
            return ""
        visit = "" if judged.subject is None else judged.subject.candidate.visit
        refs = {
            **self._refs(wish.actor, visit),
            "reason": self._keyed.reference("reason", wish.reason),
        }
        in_doubt = any(candidate.uncertain for candidate in judged.candidates)
        entry = Entry(run, judged.now, uncertain=in_doubt)
        if judged.code:
            entry.journal("act.refused", refs, asked=wish.kind.value, code=judged.code)
            await transaction.commit(*entry.writes())
            return judged.code
        told: dict[str, JsonValue] = {"act": act_id, "asked": wish.kind.value}
        entry.event("act.recorded", **told, effect=visit)
        entry.journal("act.recorded", refs, **told)
        writes = [
            Write(_SQL["record_act"], self._record(run, act_id, wish, judged)),
            *self._first_effects(entry, wish.kind, judged),
        ]
        await transaction.commit(*writes, *entry.writes())
        return None

    def _first_effects(self, entry: Entry, kind: ActKind, judged: _Judged) -> list[Write]:
        if kind is ActKind.CANCEL and judged.run.cancel_requested_at is None:
            entry.request_cancel()
            entry.event("run.cancel-requested")
        if kind is not ActKind.RETRY_SAME or judged.subject is None:
            return []
        subject = judged.subject
        entry.uncertain = subject.facts.uncertain_elsewhere
        entry.stand(RunState.RUNNING)
        opened = {
            "run": judged.run.id,
            "visit": subject.candidate.visit,
            "generation": subject.candidate.generation + 1,
        }
        return [Write(_SQL["reopen_effect"], opened)]

    def _record(self, run: RunRow, act_id: str, wish: Wish, judged: _Judged) -> dict[str, object]:
        subject = judged.subject
        about = {"visit": "", "generation": 0, "sequence": 0}
        if subject is not None and wish.kind is not ActKind.CANCEL:
            more = 1 if wish.kind is ActKind.RETRY_SAME else 0
            about = {
                "visit": subject.candidate.visit,
                "generation": subject.candidate.generation + more,
                "sequence": subject.candidate.sequence,
            }
        return {
            **about,
            "act": act_id,
            "run": run.id,
            "execution": run.execution,
            "owner": run.owner,
            "scope": run.scope,
            "kind": wish.kind.value,
            "actor": wish.actor,
            "request_digest": self._digest(wish),
            "reason_reference": self._keyed.reference("reason", wish.reason),
            "sealed_reason": self._run_keys.sealer(run.id, run.wrapped_key).seal(
                wish.reason, "act-reason", act_id
            ),
            "preconditions": snapshot(run, subject),
            "now": judged.now,
            "patience": _FIRST_PATIENCE,
        }

    async def _pinned(self, run_id: str, named: str) -> dict[str, CallFacts]:
        """What the definition pins about every effect that an act of this run may be about."""
        facts: dict[str, CallFacts] = {}
        for candidate in await self._pool.ask(_candidates(run_id, named)):
            node = visit_ref(run_id, f"{candidate.visit}:1")[0].node
            facts[candidate.visit] = await self._book.call(run_id, node)
        return facts

    async def _judge(
        self,
        transaction: Transaction | None,
        run: RunRow,
        kind: ActKind,
        named: str,
        pinned: dict[str, CallFacts],
    ) -> _Judged | None:
        """The verdict on a wish; None when it is about an effect whose facts were not read yet."""
        asked = self._pool if transaction is None else transaction
        candidates = await asked.ask(_candidates(run.id, named))
        instant = await asked.one(Question(_SQL["instant"], {}, _Instant))
        now = candidates[0].now if instant is None else instant.now
        if kind is ActKind.CANCEL:
            return _Judged(run, now, candidates, None, cancel_refusal(run))
        candidate = None if run.closed else chosen(kind, run, candidates, named)
        subject = None
        if candidate is not None:
            if candidate.visit not in pinned:
                return None
            facts = await asked.one(_effect_facts(run.id, candidate.visit))
            if facts is None:
                raise unknown_run(run.id)
            subject = Subject(candidate, facts, pinned[candidate.visit])
        if kind is ActKind.RETRY_SAME:
            return _Judged(run, now, candidates, subject, retry_refusal(run, now, subject))
        return _Judged(run, now, candidates, subject, reconcile_refusal(run, subject))

    async def _standing(self, run_id: str) -> RunRow:
        run = await self._pool.one(Question(_SQL["standing_run"], {"run": run_id}, RunRow))
        if run is None:
            raise unknown_run(run_id)
        return run

    async def _facts(
        self, transaction: Transaction, run_id: str, visit: str
    ) -> tuple[RunRow, EffectFacts]:
        run, facts = await transaction.both(lock_question(run_id), _effect_facts(run_id, visit))
        if run is None or facts is None:
            raise unknown_run(run_id)
        return run, facts

    def _refs(self, actor: str, visit: str) -> dict[str, str]:
        refs = {"actor": self._keyed.reference("actor", actor)}
        return {**refs, "step": self._keyed.reference("step", visit)} if visit else refs

    def _digest(self, wish: Wish) -> str:
        """What tells two wishes of one request id apart."""
        parts = canonical_bytes([wish.actor, wish.reason, wish.effect]).decode()
        return self._keyed.reference("act-request", parts)


def _candidates(run_id: str, named: str) -> Question[Candidate]:
    return Question(_SQL["act_candidates"], {"run": run_id, "visit": named}, Candidate)


def _effect_facts(run_id: str, visit: str) -> Question[EffectFacts]:
    keys = {"run": run_id, "visit": visit, "token": NO_TOKEN, "sequences": "{}"}
    return Question(_EFFECTS["effect_facts"], keys, EffectFacts)
