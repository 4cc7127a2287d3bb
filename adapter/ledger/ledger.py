"""The ledger as one thing: its pool, and each of its parts by name."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from adapter.crypto import Keyed, KeyRing, Sealer, SigningKeys
from adapter.ledger.acts import Acts
from adapter.ledger.admissions import Admissions
from adapter.ledger.audit import Audit, Reasons
from adapter.ledger.belonging import require_ours
from adapter.ledger.book import Book
from adapter.ledger.census import Census
from adapter.ledger.checkpoints import Checkpoints
from adapter.ledger.definitions import Definitions
from adapter.ledger.effects import Effects
from adapter.ledger.foreign import ForeignPayloads
from adapter.ledger.hints import Hints
from adapter.ledger.holds import Holds
from adapter.ledger.journal_reading import Journal
from adapter.ledger.packages import Packages
from adapter.ledger.payloads import Payloads
from adapter.ledger.pool import Pool, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.reads import Reads
from adapter.ledger.repeats import Repeats
from adapter.ledger.retention import Retention
from adapter.ledger.reviews import Reviews
from adapter.ledger.revisions import Revisions
from adapter.ledger.roles import require_least
from adapter.ledger.run_keys import RunKeys
from adapter.ledger.runs import Runs
from adapter.ledger.signals import Signals
from adapter.ledger.unfinished import UnfinishedRuns
from adapter.ledger.watermark import Watermark

_RECOVERY = queries("recovery")


class Ledger:
    """PostgreSQL as the deployment's memory of what was admitted, sent and answered.

    ``effects`` is the ``EffectLedger``, ``runs`` the ``RunLedger``, ``acts`` the ``ActLedger`` and
    ``book`` the ``CallBook`` of ``activities.ports``; ``admissions``, ``packages``, ``definitions``
    and ``reads`` serve the service and its commands; ``signals`` and ``hints`` are what comes from
    outside while runs wait; ``run_keys`` seals what belongs to a run, ``payloads`` keeps what is
    too large for Temporal and ``foreign`` notes what was not sealed for its run; ``holds``,
    ``reviews``, ``watermark``, ``unfinished``, ``repeats``, ``census`` and ``retention`` look after
    what is there; ``keyed`` makes references and identities, ``audit`` adds records to the journal,
    ``journal`` reads it, ``reasons`` has the texts behind it, ``sealer`` has the deployment's own
    key. With ``recovery_only`` nothing is admitted or dispatched through it.
    """

    def __init__(
        self, pool: Pool, sealer: Sealer, keys: KeyRing, *, recovery_only: bool = False
    ) -> None:
        self._pool = pool
        self.sealer = sealer
        self.recovery_only = recovery_only
        self.keyed = Keyed(keys, sealer.deployment)
        self.audit = Audit(pool, self.keyed)
        revisions = Revisions(pool)
        self.run_keys = RunKeys(pool, keys, sealer.deployment, revisions)
        self.payloads = Payloads(pool)
        self.foreign = ForeignPayloads(pool, self.keyed)
        self.journal = Journal(pool, sealer.deployment)
        self.reasons = Reasons(pool, sealer)
        self.holds = Holds(pool, self.keyed, self.reasons)
        self.effects = Effects(
            pool, self.run_keys, self.keyed, self.holds, recovery_only=recovery_only
        )
        self.definitions = Definitions(pool, sealer)
        self.packages = Packages(pool, sealer)
        self.book = Book(revisions, self.definitions)
        self.signals = Signals(pool, self.run_keys, self.keyed, self.book)
        self.hints = Hints(pool, self.keyed)
        self.runs = Runs(pool, self.run_keys, self.keyed, self.holds, self.signals)
        self.admissions = Admissions(
            pool, self.run_keys, self.keyed, self.definitions, recovery_only=recovery_only
        )
        self.reviews = Reviews(pool, self.run_keys, self.holds)
        self.watermark = Watermark(pool)
        self.unfinished = UnfinishedRuns(pool)
        self.repeats = Repeats(pool)
        self.census = Census(pool)
        self.retention = Retention(pool, self.definitions, self.holds, self.run_keys)
        self.reads = Reads(pool, self.run_keys)
        self.acts = Acts(pool, self.run_keys, self.keyed, self.book)

    @staticmethod
    async def open(
        url: str,
        sealer: Sealer,
        keys: KeyRing,
        *,
        pool_size: int = 10,
        recovery_only: bool = False,
    ) -> Ledger:
        """Connect, and make sure that database, deployment and keys belong together.

        The role of ``url`` may do what the service needs and no more (docs/database-roles.md).
        Raises LedgerUnavailable, and Refused ``ledger.not-migrated``, ``ledger.role-too-strong``,
        ``ledger.role-too-weak``, ``ledger.other-deployment``, ``ledger.other-keys`` or
        ``seal.key-missing``.
        """
        pool = Pool(url, pool_size)
        ledger = Ledger(pool, sealer, keys, recovery_only=recovery_only)
        try:
            await pool.open()
            await require_least(pool)
            await require_ours(pool, ledger.keyed, sealer)
            await pool.run(_adopt_place)
            await ledger.holds.note_moved()
        except BaseException:
            await pool.close()
            raise
        return ledger

    def checkpoints(self, keys: SigningKeys) -> Checkpoints:
        """What signs the journal, with these keys."""
        return Checkpoints(self._pool, self.sealer.deployment, keys)

    async def close(self) -> None:
        """End every connection; harmless when repeated."""
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def _adopt_place(transaction: Transaction) -> None:
    """Note where this database is, once; a copy of it is then told from it (see the pool)."""
    await transaction.commit(Write(_RECOVERY["adopt_place"], {"always": False}))
