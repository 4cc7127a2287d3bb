"""The effect protocol as one ledger: each method is one transaction under the run's lock."""

from __future__ import annotations

from dataclasses import dataclass

from activities.errors import ActivityError
from activities.ports import (
    Busy,
    Claim,
    ClaimAnswer,
    NotSent,
    ReadOutcome,
    Retry,
    Saved,
    Settled,
    Settlement,
)
from adapter.crypto import Keyed
from adapter.ledger.answers import ABSENT, Answers
from adapter.ledger.dispatches import Dispatches
from adapter.ledger.effect_rows import EffectRows
from adapter.ledger.entry import LedgerBehind
from adapter.ledger.holds import HoldCode, Holds
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from interpreter.contract.effects import Reply, ReplyKind, VisitRef
from interpreter.contract.operations import OperationContract

_SQL = queries("effects")
_HELD = Reply(ReplyKind.NOT_PERMITTED, code="hold")


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A stored command, its keys, and the token of its latest attempt."""

    sealed_command: bytes
    key_version: int
    wrapped_key: bytes | None
    token: str


class Effects:
    """``EffectLedger`` over PostgreSQL.

    Raises ActivityError ``run.unknown`` or ``effect.absent``, and LedgerUnavailable when the fate
    of a write is not known.
    """

    def __init__(
        self,
        pool: Pool,
        run_keys: RunKeys,
        keyed: Keyed,
        holds: Holds,
        *,
        recovery_only: bool = False,
    ) -> None:
        self._pool = pool
        self._holds = holds
        self._recovery_only = recovery_only
        self._rows = EffectRows(run_keys, keyed)
        self._dispatches = Dispatches(self._rows)
        self._answers = Answers(self._rows)

    async def saved(self, effect: VisitRef) -> Saved | None:
        """The command on record, or None before the first claim; a read without a lock."""
        keys = {"run": effect.run_id, "visit": effect.id}
        row = await self._pool.one(Question(_SQL["saved_command"], keys, SavedRow))
        if row is None:
            return None
        command = self._rows.open_command(effect, row.sealed_command, row.wrapped_key)
        return Saved(command, self._rows.product_key(effect, row.key_version), row.token)

    async def claim(self, claim: Claim) -> ClaimAnswer:
        """Store the command once, check permission, and dispatch (design section 5).

        A ledger that is older than what the workflow has seen is held (protocol rule 9).
        """
        if self._recovery_only:
            return Settled(_HELD)
        try:
            return await self._pool.run(
                lambda transaction: self._dispatches.claim(transaction, claim)
            )
        except LedgerBehind:
            await self._holds.place(HoldCode.LEDGER_BEHIND)
            return Settled(_HELD)

    async def withdraw(self, effect: VisitRef, token: str) -> None:
        """Undo a dispatch under which nothing was sent.

        It waits for the run's lock, which the dispatch holds until its commit is decided: an
        attempt that is absent then never will be there.
        """

        await self._pool.through_failover(
            lambda transaction: self._dispatches.withdraw(transaction, effect, token)
        )

    async def settle(self, settlement: Settlement) -> Reply | Retry:
        """Write the answer under the fencing rules; repeats itself through a fail-over."""
        try:
            return await self._pool.through_failover(
                lambda transaction: self._answers.settle(transaction, settlement)
            )
        except ActivityError as error:
            if error.code == ABSENT:
                # This process was given a dispatch that the ledger does not know any more.
                await self._holds.place(HoldCode.LEDGER_BEHIND)
            raise

    async def resolve(
        self, effect: VisitRef, contract: OperationContract
    ) -> Reply | Busy | NotSent | Retry:
        """What the ledger knows of an effect whose activity ended without a reply (rule 3).

        ``Retry`` without delay: a claim would send again. ``NotSent`` also when every attempt
        ended without effect.
        """
        return await self._pool.run(
            lambda transaction: self._dispatches.resolve(transaction, effect, contract)
        )

    async def read_outcome(self, outcome: ReadOutcome) -> Reply:
        """Check permission and write a read's reply; the hold is read without locking it.

        A read that meets a hold or a cancel in the same instant is harmless, so it needs no
        shared lock (protocol rule 6).
        """
        if self._recovery_only:
            return _HELD
        try:
            return await self._pool.run(
                lambda transaction: self._answers.read_outcome(transaction, outcome)
            )
        except LedgerBehind:
            await self._holds.place(HoldCode.LEDGER_BEHIND)
            return _HELD
