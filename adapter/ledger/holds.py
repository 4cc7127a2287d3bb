"""The two holds of a deployment: who places them, and under which conditions they are released."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from adapter.crypto import Keyed
from adapter.errors import Refused
from adapter.ledger.audit import Reasons, append, lock_deployment_chain, recorded
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from interpreter.contract.records import RunState
from interpreter.contract.values import JsonValue

_SQL = queries("recovery")
_Answer = TypeVar("_Answer")
FINAL_STATES = [state.value for state in RunState if state.final]


class HoldCode(StrEnum):
    """Why a restore hold stands."""

    OPERATOR = "operator"
    LEDGER_BEHIND = "ledger-behind"
    LEDGER_MOVED = "ledger-moved"
    TEMPORAL_BEHIND = "temporal-behind"


@dataclass(frozen=True, slots=True)
class HoldFacts:
    """How the holds stand at an instant; ``review_begun_at`` is when an operator took one over."""

    now: datetime
    restore_hold: bool
    admissions_hold: bool
    hold_code: str
    held_at: datetime | None
    review_begun_at: datetime | None
    recovery_completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Attested:
    """What an operator vouches for: keyed ``reference`` to the evidence, and the two statements.

    ``history_complete``: the history concerned was looked through to its end; ``prior_fenced``:
    nothing of the deployment as it was before can send any more.
    """

    reference: str
    history_complete: bool
    prior_fenced: bool


@dataclass(frozen=True, slots=True)
class Unresolved:
    """What is in the way of a release, in counts.

    ``doubtful_reviews`` are those of ``reviews`` whose run has an unknown effect; ``unsettled``
    counts sends without an answer.
    """

    reviews: int
    doubtful_reviews: int
    uncertain: int
    unsettled: int


@dataclass(frozen=True, slots=True)
class _Marked:
    run_id: str


@dataclass(frozen=True, slots=True)
class _Unnoted:
    hold_code: str


class Holds:
    """Places, reviews and releases the holds; each act is journalled before and after.

    ``actor`` is a keyed reference of who asks. The journal has keyed references of reasons and of
    references to evidence; their texts are sealed, for operators to read later.
    """

    def __init__(self, pool: Pool, keyed: Keyed, reasons: Reasons) -> None:
        self._pool = pool
        self._keyed = keyed
        self._reasons = reasons

    async def standing(self) -> HoldFacts:
        """How the holds stand, without waiting for anybody."""
        facts = await self._pool.one(Question(_SQL["standing_holds"], {}, HoldFacts))
        return _required(facts)

    async def place(self, code: HoldCode, epoch: str | None = None) -> bool:
        """Stop dispatch and admission because of what was found; gives whether that was news.

        ``epoch`` is one that was found in Temporal, to be known from now on. A hold that stands is
        left as it is, with its reviews.
        """

        async def work(transaction: Transaction) -> bool:
            facts = await _locked(transaction)
            writes = [] if epoch is None else [Write(_SQL["note_epoch"], {"epoch": epoch})]
            if facts.restore_hold and facts.admissions_hold:
                await transaction.commit(*writes)
                return False
            placed = Write(_SQL["place_hold"], {"code": code.value, "now": facts.now})
            record = await _record(transaction, "restore-hold.placed", {}, {"code": code.value})
            await transaction.commit(*writes, placed, record)
            return True

        return await self._pool.run(work)

    async def note_moved(self) -> None:
        """Write down that a connection has placed the hold, unless that was done already.

        A connection finds a database that was moved before anything else can be done with it.
        """

        async def work(transaction: Transaction) -> None:
            head = await lock_deployment_chain(transaction)
            unnoted = await transaction.ask(Question(_SQL["unnoted_hold"], {}, _Unnoted))
            if unnoted:
                detail: dict[str, JsonValue] = {"code": unnoted[0].hold_code}
                await transaction.commit(recorded(head, "restore-hold.placed", {}, detail))

        standing = await self.standing()
        if standing.restore_hold and standing.hold_code == HoldCode.LEDGER_MOVED:
            await self._pool.run(work)

    async def begin_review(self, actor: str, reason: str) -> int:
        """Place the hold as an operator, or take over one; gives how many runs are under review.

        A new epoch begins: an effect whose call is older than it may have been sent even where the
        ledger knows nothing of it. The database is the ledger's own from now on.
        """
        refs = self._refs(actor, reason=reason)

        async def work(transaction: Transaction) -> int:
            facts = await _locked(transaction)
            marked = await transaction.ask(
                Question(_SQL["mark_reviews"], {"now": facts.now, "final": FINAL_STATES}, _Marked)
            )
            begun = Write(_SQL["begin_review"], {"now": facts.now, "epoch": str(uuid.uuid4())})
            adopted = Write(_SQL["adopt_place"], {"always": True})
            record = await _record(transaction, "restore-hold.done", refs, {"runs": len(marked)})
            await transaction.commit(begun, adopted, record)
            return len(marked)

        return await self._audited("restore-hold", refs, work, reason)

    async def release_restore(
        self, actor: str, reason: str, *, leave_unknown: bool = False
    ) -> HoldFacts:
        """Let dispatches go on; admissions stay closed.

        Refused ``recovery.hold-required`` without a hold, ``recovery.review-required`` for one that
        no operator has taken over, ``recovery.unresolved`` while a run is under review, a send has
        no answer, or an effect is unknown. ``leave_unknown`` leaves unknown effects to people: they
        stay in attention, where nothing is ever repeated by itself.
        """
        refs = self._refs(actor, reason=reason)

        async def work(transaction: Transaction) -> HoldFacts:
            facts = await _locked(transaction)
            _require_review(facts)
            left = await transaction.one(Question(_SQL["unresolved"], {}, Unresolved))
            assert left is not None
            _require_resolved(left, leave_unknown)
            detail: dict[str, JsonValue] = {"unknown": left.uncertain}
            record = await _record(transaction, "release-restore-hold.done", refs, detail)
            released = Write(_SQL["release_restore_hold"], {"now": facts.now})
            await transaction.commit(released, record)
            return facts

        await self._audited("release-restore-hold", refs, work, reason)
        return await self.standing()

    async def release_admission(self, actor: str, attested: Attested) -> HoldFacts:
        """Let new runs in.

        Refused ``recovery.not-attested`` without both statements, ``recovery.hold-active`` while
        the restore hold stands.
        """
        refs = self._refs(actor, reference=attested.reference)

        async def work(transaction: Transaction) -> HoldFacts:
            facts = await _locked(transaction)
            require_attested(attested)
            if facts.restore_hold:
                raise Refused(
                    "recovery.hold-active",
                    "the restore hold stands, so no run may come in",
                    place="deployment",
                    remedy="release the restore hold first",
                )
            record = await _record(transaction, "release-admission-hold.done", refs, {})
            await transaction.commit(Write(_SQL["release_admission_hold"], {}), record)
            return facts

        await self._audited("release-admission-hold", refs, work, attested.reference)
        return await self.standing()

    async def completed(self, actor: str, attested: Attested, counts: dict[str, JsonValue]) -> None:
        """Write that the review of executions is complete, with what became of the runs."""
        refs = self._refs(actor, reference=attested.reference)

        async def work(transaction: Transaction) -> None:
            facts = await _locked(transaction)
            record = await _record(transaction, "complete-execution-recovery.done", refs, counts)
            await transaction.commit(Write(_SQL["complete_review"], {"now": facts.now}), record)

        await self._pool.run(work)

    async def begin_completing(self, actor: str, attested: Attested) -> None:
        """Judge whether the review of executions may be completed, and journal that it begins.

        Refused ``recovery.not-attested``, ``recovery.hold-required``, ``recovery.review-required``.
        """
        refs = self._refs(actor, reference=attested.reference)

        async def work(transaction: Transaction) -> None:
            facts = await _locked(transaction)
            require_attested(attested)
            _require_review(facts)

        await self._audited("complete-execution-recovery", refs, work, attested.reference)

    async def note(self, kind: str, actor: str, detail: dict[str, JsonValue]) -> None:
        """Add a record about the deployment to its chain."""
        await self._journal(kind, self._refs(actor), detail)

    async def _audited(
        self,
        kind: str,
        refs: dict[str, str],
        work: Callable[[Transaction], Awaitable[_Answer]],
        text: str,
    ) -> _Answer:
        """Carry out an act with its records; ``text`` is what its one reference stands for."""
        [reference] = [refs[name] for name in refs if name != "actor"]
        kept = self._reasons.kept(reference, text)
        await self._pool.run(
            lambda transaction: append(transaction, f"{kind}.asked", refs, {}, kept)
        )
        try:
            return await self._pool.run(work)
        except Refused as error:
            await self._journal(f"{kind}.refused", refs, {"code": error.code})
            raise

    async def _journal(self, kind: str, refs: dict[str, str], detail: dict[str, JsonValue]) -> None:
        await self._pool.run(lambda transaction: append(transaction, kind, refs, detail))

    def _refs(self, actor: str, **texts: str) -> dict[str, str]:
        hashed = {name: self._keyed.reference(name, text) for name, text in texts.items()}
        return {"actor": actor, **hashed}


def require_attested(attested: Attested) -> None:
    """Refused ``recovery.not-attested`` unless both statements are made."""
    if not (attested.history_complete and attested.prior_fenced):
        raise Refused(
            "recovery.not-attested",
            "both statements about history and prior deployment have to be made",
            place="attestations",
            remedy="look through the history, fence the prior deployment, then say so",
        )


def _require_review(facts: HoldFacts) -> None:
    if not facts.restore_hold:
        raise Refused(
            "recovery.hold-required",
            "no restore hold stands",
            place="deployment",
            remedy="place it first: it marks the runs that have to be reviewed",
        )
    if facts.review_begun_at is None:
        raise Refused(
            "recovery.review-required",
            f"the hold was placed by what was found ({facts.hold_code}); nobody reviews it yet",
            place="deployment",
            remedy="take it over with restore-hold",
        )


def _require_resolved(left: Unresolved, leave_unknown: bool) -> None:
    reviews = left.reviews - left.doubtful_reviews if leave_unknown else left.reviews
    uncertain = 0 if leave_unknown else left.uncertain
    if reviews or uncertain or left.unsettled:
        raise Refused(
            "recovery.unresolved",
            f"{left.reviews} runs are under review, {left.uncertain} effects are unknown and"
            f" {left.unsettled} sends have no answer",
            place="deployment",
            remedy="complete the execution recovery and reconcile what can be; what stays unknown"
            " may be left to people in so many words",
        )


async def _locked(transaction: Transaction) -> HoldFacts:
    return _required(await transaction.one(Question(_SQL["hold_facts"], {}, HoldFacts)))


def _required(facts: HoldFacts | None) -> HoldFacts:
    assert facts is not None, "the migration writes the control row"
    return facts


async def _record(
    transaction: Transaction, kind: str, refs: dict[str, str], detail: dict[str, JsonValue]
) -> Write:
    return recorded(await lock_deployment_chain(transaction), kind, refs, detail)
