"""Rotation of the sealing key: what is under which version, and how it comes under another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from psycopg.errors import InvalidSchemaName, UndefinedTable

from adapter.crypto import Keyed, KeyRing, RunKeyWrapping, Sealer, SealError
from adapter.errors import Refused
from adapter.ledger.audit import REASON, Audit
from adapter.ledger.belonging import require_ours
from adapter.ledger.definitions import PURPOSE
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from interpreter.contract.values import JsonValue

_SQL = queries("run_keys")
_BATCH: Final = 500
# A definition may have some hundred kilobytes, and a batch stands in memory whole.
_DEFINITIONS: Final = 20
_FIRST_RUN: Final = "00000000-0000-0000-0000-000000000000"
_MOST_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class KeyUse:
    """How much is under one version of the sealing key; ``noted_at`` is when it was first used."""

    version: int
    run_keys: int
    definitions: int
    reasons: int
    noted_at: datetime | None

    @property
    def used(self) -> bool:
        """True while the version can not be taken out of the key set."""
        return self.run_keys + self.definitions + self.reasons > 0


@dataclass(frozen=True, slots=True)
class Resealed:
    """What a rotation came to; ``unreadable`` counts rows that no key of the ring opens.

    ``named`` has up to ten of those, as ``definition REVISION``, ``reason REFERENCE`` or ``run-key
    RUN``.
    """

    run_keys: int
    definitions: int
    reasons: int
    unreadable: int
    named: tuple[str, ...]

    def counts(self) -> dict[str, JsonValue]:
        """``{runKeys, definitions, reasons, unreadable}``."""
        return {
            "runKeys": self.run_keys,
            "definitions": self.definitions,
            "reasons": self.reasons,
            "unreadable": self.unreadable,
        }


@dataclass(frozen=True, slots=True)
class _Row:
    id: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class _Kind:
    """One table that is sealed under the deployment's key."""

    name: str
    first: str
    asked: bytes
    written: bytes
    renew: Callable[[_Row], bytes]


@dataclass(frozen=True, slots=True)
class _Done:
    renewed: int
    unreadable: tuple[str, ...]


class Rotation:
    """Counts and renews what is under the deployment's key: definitions, reasons and data keys.

    What belongs to a run is under its data key, and stays as it is: a rotation rewrites a few bytes
    for each run. Definitions may be rewritten by the role that owns the schema alone.
    """

    def __init__(self, pool: Pool, keys: KeyRing, sealer: Sealer, audit: Audit) -> None:
        self._pool = pool
        self._sealer = sealer
        self._wrapping = RunKeyWrapping(keys, sealer.deployment)
        self._audit = audit

    @staticmethod
    @asynccontextmanager
    async def open(url: str, keys: KeyRing, deployment: str) -> AsyncIterator[Rotation]:
        """Connect as the role that owns the schema.

        Raises LedgerAway, Refused ``ledger.not-migrated`` and what ``require_ours`` does.
        """
        sealer, keyed = Sealer(keys, deployment), Keyed(keys, deployment)
        pool = Pool(url, 2)
        try:
            await pool.open()
            try:
                await require_ours(pool, keyed, sealer)
            except (InvalidSchemaName, UndefinedTable) as error:
                raise Refused(
                    "ledger.not-migrated",
                    "the database has no ledger, or an older one",
                    place="ledger",
                    remedy="run `coordinatorctl apply`, which brings it up to date",
                ) from error
            yield Rotation(pool, keys, sealer, Audit(pool, keyed))
        finally:
            await pool.close()

    async def uses(self) -> list[KeyUse]:
        """Every version that was ever used, lowest first, with how much is under it."""
        return await self._pool.ask(Question(_SQL["key_uses"], {}, KeyUse))

    async def reseal(self, actor: str, batch: int = _BATCH) -> Resealed:
        """Bring everything under the active version, in batches that commit one by one.

        It may be interrupted and repeated at any time: what is under the active version already is
        left alone. Rows that can not be opened are left as they are, and counted. The journal says
        before and after what was done; ``actor`` is a clear name.
        """
        refs, version = {"actor": actor}, self._sealer.active
        await self._audit.note("keys-reseal.asked", refs, version=version)
        definitions = await self._renew(self._definitions(), min(batch, _DEFINITIONS))
        run_keys = await self._renew(self._run_keys(), batch)
        reasons = await self._renew(self._reasons(), batch)
        unreadable = (*definitions.unreadable, *reasons.unreadable, *run_keys.unreadable)
        done = Resealed(
            run_keys.renewed,
            definitions.renewed,
            reasons.renewed,
            len(unreadable),
            unreadable[:_MOST_NAMED],
        )
        await self._audit.note("keys-reseal.done", refs, version=version, **done.counts())
        return done

    def _definitions(self) -> _Kind:
        def renew(row: _Row) -> bytes:
            plain = self._sealer.open_bytes(row.sealed, PURPOSE, row.id)
            return self._sealer.seal_bytes(plain, PURPOSE, row.id)

        asked, written = _SQL["definitions_to_reseal"], _SQL["reseal_definitions"]
        return _Kind("definition", "", asked, written, renew)

    def _reasons(self) -> _Kind:
        def renew(row: _Row) -> bytes:
            plain = self._sealer.open_bytes(row.sealed, REASON, row.id)
            return self._sealer.seal_bytes(plain, REASON, row.id)

        return _Kind("reason", "", _SQL["reasons_to_reseal"], _SQL["reseal_reasons"], renew)

    def _run_keys(self) -> _Kind:
        def renew(row: _Row) -> bytes:
            return self._wrapping.wrap(self._wrapping.unwrap(row.sealed, row.id), row.id)

        asked, written = _SQL["run_keys_to_rewrap"], _SQL["rewrap_run_keys"]
        return _Kind("run-key", _FIRST_RUN, asked, written, renew)

    async def _renew(self, kind: _Kind, batch: int) -> _Done:
        renewed, unreadable, after = 0, list[str](), kind.first
        while True:
            rows, lost = await self._renew_batch(kind, after, batch)
            renewed += len(rows) - len(lost)
            unreadable += lost
            if len(rows) < batch:
                return _Done(renewed, tuple(unreadable))
            after = rows[-1].id

    async def _renew_batch(
        self, kind: _Kind, after: str, batch: int
    ) -> tuple[list[_Row], list[str]]:
        keys = {"active": self._sealer.active, "after": after, "limit": batch}

        async def work(transaction: Transaction) -> tuple[list[_Row], list[str]]:
            rows = await transaction.ask(Question(kind.asked, keys, _Row))
            made, lost = _renewed(kind, rows)
            written = {"ids": list(made), "sealed": list(made.values())}
            await transaction.commit(Write(kind.written, written))
            return rows, lost

        return await self._pool.run(work)


def _renewed(kind: _Kind, rows: list[_Row]) -> tuple[dict[str, bytes], list[str]]:
    made: dict[str, bytes] = {}
    lost: list[str] = []
    for row in rows:
        try:
            made[row.id] = kind.renew(row)
        except SealError:
            lost.append(f"{kind.name} {row.id}")
    return made, lost
