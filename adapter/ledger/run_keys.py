"""The data keys of runs: made at admission, wrapped in the ledger, and cached in each process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from adapter.crypto import KeyRing, RunKeyWrapping, RunSealer, new_data_key
from adapter.ledger.entry import require_run_id, unknown_run
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from adapter.ledger.revisions import Revisions

_SQL = queries("run_keys")
_MOST_CACHED: Final = 1_024

FORGET_SECONDS: Final = 300.0
"""A process uses a data key for so long without looking at its row, which an erasure clears."""


@dataclass(frozen=True, slots=True)
class _RunRow:
    wrapped_key: bytes | None
    revision: str


@dataclass(frozen=True, slots=True)
class NewRunKey:
    """A fresh data key: what seals under it, and its wrapped form for the ledger."""

    sealer: RunSealer
    wrapped: bytes


@dataclass(frozen=True, slots=True)
class _Cached:
    wrapped: bytes
    sealer: RunSealer
    until: float


class RunKeys:
    """Sealers of runs. Whoever has read a run's row passes its wrapped key; others ask ``of``.

    A key that the ring can not unwrap raises SealError ``seal.key-missing`` or
    ``seal.not-authentic``.
    """

    def __init__(
        self,
        pool: Pool,
        keys: KeyRing,
        deployment: str,
        revisions: Revisions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool = pool
        self._revisions = revisions
        self._clock = clock
        self._wrapping = RunKeyWrapping(keys, deployment)
        self._cache: OrderedDict[str, _Cached] = OrderedDict()

    def new(self, run_id: str) -> NewRunKey:
        """A data key for a run that is being admitted; it counts once its admission is written."""
        data_key = new_data_key()
        wrapped = self._wrapping.wrap(data_key, run_id)
        return NewRunKey(RunSealer(data_key, self._wrapping.deployment, run_id), wrapped)

    def keep(self, run_id: str, new: NewRunKey) -> None:
        """Have a new key at hand now that its admission is written."""
        self._keep(run_id, new.wrapped, new.sealer)

    def sealer(self, run_id: str, wrapped: bytes | None) -> RunSealer:
        """The sealer of a run whose wrapped key was just read; None where it was erased."""
        if wrapped is None:
            self.forget(run_id)
            return self._wrapping.sealer(None, run_id)
        known = self._cache.get(run_id)
        same = known is not None and known.wrapped == wrapped
        sealer = known.sealer if known and same else self._wrapping.sealer(wrapped, run_id)
        self._keep(run_id, wrapped, sealer)
        return sealer

    def forget(self, run_id: str) -> None:
        """Let go of a key that was destroyed."""
        self._cache.pop(run_id, None)

    async def of(self, run_id: str) -> RunSealer:
        """The sealer of a run, from the cache or by one question.

        ActivityError ``run.unknown``, SealError ``seal.erased``, LedgerAway.
        """
        known = self._cache.get(run_id)
        if known is not None and known.until > self._clock():
            self._cache.move_to_end(run_id)
            return known.sealer
        require_run_id(run_id)
        row = await self._pool.one(Question(_SQL["run_key"], {"run": run_id}, _RunRow))
        if row is None:
            raise unknown_run(run_id)
        # A worker that meets a run asks for its definition next.
        self._revisions.note(run_id, row.revision)
        sealer = self.sealer(run_id, row.wrapped_key)
        sealer.require_key()
        return sealer

    def _keep(self, run_id: str, wrapped: bytes, sealer: RunSealer) -> None:
        self._cache[run_id] = _Cached(wrapped, sealer, self._clock() + FORGET_SECONDS)
        self._cache.move_to_end(run_id)
        if len(self._cache) > _MOST_CACHED:
            self._cache.popitem(last=False)
