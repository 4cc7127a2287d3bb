"""The service's `Oversight` over ledger and Temporal: the doctor, the holds and retention."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from activities.errors import LedgerUnavailable
from adapter import api
from adapter.access import Trouble
from adapter.errors import Unavailable
from adapter.ledger import Ledger
from adapter.ledger.holds import Attested, HoldFacts
from adapter.reconcile.diagnosis import Finding, Norms, diagnose
from adapter.reconcile.marks import Marks
from adapter.reconcile.starts import Temporal
from adapter.temporal.namespace import NamespaceFacts, facts_of


@dataclass(frozen=True, slots=True)
class DeploymentOversight:
    """What operators may do about the whole deployment."""

    marks: Marks
    temporal: Temporal
    norms: Norms
    task_queue: str
    troubles: Callable[[], list[Trouble]] = list
    """What is wrong about callers, as this process sees it."""

    @property
    def _ledger(self) -> Ledger:
        return self.marks.ledger

    async def diagnose(self) -> api.Diagnosis:
        """What needs a person, and the numbers behind it."""
        counted = await self._ledger.census.count()
        seen = await self._seen()
        found = diagnose(counted, seen, self.norms)
        findings: list[Finding | Trouble] = [*found, *self.troubles()]
        return api.Diagnosis(
            findings=[api.Finding(f.code, f.count, f.since, f.remedy) for f in findings],
            deployment=counted.deployment or "",
            epoch=counted.epoch,
            counter=counted.counter,
            hold=api.HoldView(
                counted.restore_hold,
                counted.admissions_hold,
                counted.hold_code,
                counted.held_at,
                counted.review_begun_at,
                counted.reviews,
            ),
            states=counted.states,
            unknown_effects=counted.uncertain,
            failed_starts=counted.failed_starts,
            pending_starts=counted.pending_starts,
            oldest_pending_start_at=counted.oldest_pending_start,
            open_acts=counted.open_acts,
            oldest_act_at=counted.oldest_act,
            open_signals=counted.open_signals,
            oldest_signal_at=counted.oldest_signal,
            open_hints=counted.open_hints,
            oldest_hint_at=counted.oldest_hint,
            oldest_due_at=counted.oldest_due,
            unerased_runs=counted.unerased,
            oldest_unerased_at=counted.oldest_unerased,
            last_pass_at=counted.passed_at,
            last_pass_age=_age(counted.now, counted.passed_at),
            namespace_retention=None if seen is None else int(seen.retention.total_seconds()),
            failing_executions=None if seen is None else seen.failing,
        )

    async def restore_hold(self, actor: str, reason: str) -> api.HoldView:
        """Place the restore hold, or take over one; every unfinished run is under review then."""
        await self._ledger.holds.begin_review(self._actor(actor), reason)
        # Temporal's copy follows; the next pass of the reconciler sees to it if this can not.
        with suppress(Unavailable, LedgerUnavailable):
            await self.marks.ensure(await self.temporal.client())
        return await self._hold(await self._ledger.holds.standing())

    async def complete_recovery(self, actor: str, attested: api.Attestation) -> api.ReviewView:
        """Go through the runs under review, with the operator's statements."""
        done = await self._ledger.reviews.complete(self._actor(actor), _attested(attested))
        await self._erase_again(actor)
        return api.ReviewView(done.cleared, done.ended, done.remaining)

    async def release_restore_hold(
        self, actor: str, reason: str, leave_unknown: bool
    ) -> api.HoldView:
        """Let dispatches go on."""
        released = await self._ledger.holds.release_restore(
            self._actor(actor), reason, leave_unknown=leave_unknown
        )
        await self._erase_again(actor)
        return await self._hold(released)

    async def release_admission_hold(self, actor: str, attested: api.Attestation) -> api.HoldView:
        """Let new runs in."""
        holds = self._ledger.holds
        return await self._hold(
            await holds.release_admission(self._actor(actor), _attested(attested))
        )

    async def retain(self, actor: str, before: datetime, limit: int) -> int:
        """Erase the payloads of runs that are over; gives how many."""
        return await self._ledger.retention.retain(self._actor(actor), before, limit)

    async def _erase_again(self, actor: str) -> None:
        """Erase what a restore has brought back, up to what Temporal remembers if it answers."""
        with suppress(Unavailable, LedgerUnavailable):
            await self.marks.remember_erased(await self.temporal.client())
        await self._ledger.retention.erase_again(self._actor(actor))

    async def _hold(self, facts: HoldFacts) -> api.HoldView:
        counted = await self._ledger.census.count()
        return api.HoldView(
            facts.restore_hold,
            facts.admissions_hold,
            facts.hold_code,
            facts.held_at,
            facts.review_begun_at,
            counted.reviews,
        )

    async def _seen(self) -> NamespaceFacts | None:
        try:
            return await facts_of(await self.temporal.client(), self.task_queue)
        except Unavailable:
            return None

    def _actor(self, actor: str) -> str:
        return self._ledger.keyed.reference("actor", actor)


def _age(now: datetime, then: datetime | None) -> int | None:
    return None if then is None else max(0, int((now - then).total_seconds()))


def _attested(attested: api.Attestation) -> Attested:
    return Attested(attested.reference, attested.history_complete, attested.prior_fenced)
