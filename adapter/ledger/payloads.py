"""Payloads that are too large for Temporal: kept sealed in the ledger until a run is erased."""

from __future__ import annotations

from dataclasses import dataclass

from activities.errors import ActivityError
from adapter.ledger.entry import unknown_run
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries

_SQL = queries("run_keys")


@dataclass(frozen=True, slots=True)
class _Run:
    erased: bool


@dataclass(frozen=True, slots=True)
class _Sealed:
    sealed_payload: bytes


class Payloads:
    """Sealed payloads by run and keyed digest; what a digest names never changes.

    Raises LedgerAway. The bytes are sealed and opened by whoever asks, under the run's data key.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def put(self, run_id: str, digest: str, sealed: bytes) -> None:
        """Keep a payload; one with this digest stays as it is. Of an erased run nothing is kept.

        ActivityError ``run.unknown``.
        """
        kept = {"run": run_id, "digest": digest, "sealed_payload": sealed}
        if await self._pool.one(Question(_SQL["store_payload"], kept, _Run)) is None:
            raise unknown_run(run_id)

    async def get(self, run_id: str, digest: str) -> bytes:
        """A payload as it was put; ActivityError ``payload.absent``."""
        keys = {"run": run_id, "digest": digest}
        row = await self._pool.one(Question(_SQL["payload"], keys, _Sealed))
        if row is None:
            raise ActivityError(
                "payload.absent",
                "the ledger holds no payload with this digest for the run",
                place=f"{run_id} {digest[:16]}",
                remedy="check whether the run was erased or the ledger is an older copy",
            )
        return row.sealed_payload
