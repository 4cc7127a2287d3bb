"""The ledger as one thing: its pool, and each of its parts by name."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from psycopg.errors import InvalidSchemaName, UndefinedTable

from adapter.crypto import Keyed, KeyRing, Sealer
from adapter.errors import Refused
from adapter.ledger.acts import Acts
from adapter.ledger.admissions import Admissions
from adapter.ledger.book import Book
from adapter.ledger.definitions import Definitions
from adapter.ledger.effects import Effects
from adapter.ledger.packages import Packages
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from adapter.ledger.reads import Reads
from adapter.ledger.runs import Runs

_SQL = queries("control")


@dataclass(frozen=True, slots=True)
class Deployment:
    """Which deployment a database belongs to, and the mark of its admission key."""

    deployment: str | None
    custody: str | None


class Ledger:
    """PostgreSQL as the deployment's memory of what was admitted, sent and answered.

    ``effects`` is the ``EffectLedger``, ``runs`` the ``RunLedger``, ``acts`` the ``ActLedger`` and
    ``book`` the ``CallBook`` of ``activities.ports``; ``admissions``, ``packages``, ``definitions``
    and ``reads`` serve the service and its commands; ``keyed`` makes references and identities.
    """

    def __init__(self, pool: Pool, sealer: Sealer, keys: KeyRing) -> None:
        self._pool = pool
        self.keyed = Keyed(keys, sealer.deployment)
        self.effects = Effects(pool, sealer, self.keyed)
        self.runs = Runs(pool, sealer, self.keyed)
        self.definitions = Definitions(pool, sealer)
        self.packages = Packages(pool, sealer)
        self.book = Book(pool, self.definitions)
        self.admissions = Admissions(pool, sealer, self.keyed, self.definitions)
        self.reads = Reads(pool, sealer)
        self.acts = Acts(pool, sealer, self.keyed, self.book)

    @staticmethod
    async def open(url: str, sealer: Sealer, keys: KeyRing, *, pool_size: int = 10) -> Ledger:
        """Connect, and make sure that database, deployment and admission key belong together.

        Raises LedgerUnavailable, and Refused ``ledger.not-migrated``, ``ledger.other-deployment``
        or ``ledger.other-keys``.
        """
        pool = Pool(url, pool_size)
        ledger = Ledger(pool, sealer, keys)
        try:
            await pool.open()
            await ledger._require_ours(sealer.deployment)
        except BaseException:
            await pool.close()
            raise
        return ledger

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

    async def _require_ours(self, deployment: str) -> None:
        custody = self.keyed.custody()
        ours = {"deployment": deployment, "custody": custody}
        try:
            await self._pool.ask(Question(_SQL["bind_deployment"], ours, Deployment))
        except (InvalidSchemaName, UndefinedTable) as error:
            raise Refused(
                "ledger.not-migrated",
                "the database has no ledger",
                place="ledger",
                remedy="apply the migrations to it first",
            ) from error
        bound = await self._pool.one(Question(_SQL["deployment"], {}, Deployment))
        if bound is None or bound.deployment != deployment:
            raise Refused(
                "ledger.other-deployment",
                "the database belongs to another deployment",
                place="ledger",
                remedy="check the database address and the deployment's name",
            )
        if bound.custody != custody:
            raise Refused(
                "ledger.other-keys",
                "the database was written with another admission key",
                place="ledger",
                remedy="start with the key set that this database was written with",
            )
