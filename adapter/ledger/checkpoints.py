"""The sealer of the journal: about once a second it signs a checkpoint over the heads that grew."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from adapter.audit.checkpoint import Checkpoint, Head, stated
from adapter.crypto import SigningKeys
from adapter.ledger.checkpoint_rows import CheckpointRow
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries

_SQL = queries("audit")
_LOCK: Final = 0x6175646974
"""Any constant that nothing else in the database takes as an advisory lock."""

LARGEST: Final = 5_000
"""Heads under one checkpoint; what is left comes under the next."""

_LEAST_AGE: Final = timedelta(seconds=0.9)
_REST: Final = 5
"""After a look at the chains the sealer rests so many times as long."""

_IDLE_SECONDS: Final = 1.5
"""After a look in vain it rests so long at least: of many processes one keeps to each second."""


@dataclass(frozen=True, slots=True)
class _Turn:
    mine: bool
    now: datetime
    xmin: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _LastRow(CheckpointRow):
    """The last checkpoint, and from which transaction of which place to look on."""

    place: str
    horizon: str
    begun: bool

    def horizon_at(self, place: str) -> str | None:
        """None where transaction numbers of the last look mean nothing any more.

        The ledger was restored into another database then.
        """
        return self.horizon if self.begun and self.place == place else None


@dataclass(frozen=True, slots=True)
class _Grown:
    chain: str
    sequence: int
    head: bytes
    sealed_before: int


class Checkpoints:
    """Seals the journal of one deployment; any number of processes may, one does at a time.

    It takes no lock of a run and nothing waits for it. A record is under the first checkpoint after
    its commit: each look begins at the oldest transaction that was open at the look before, so a
    record that was committed late is found by the next one.
    """

    def __init__(self, pool: Pool, deployment: str, keys: SigningKeys) -> None:
        self._pool = pool
        self._deployment = deployment
        self._keys = keys
        self._rest_until = 0.0

    async def seal_due(self) -> None:
        """Seal what has grown, unless this process looked a moment ago."""
        begun = time.monotonic()
        if begun < self._rest_until:
            return
        made = await self.seal()
        ended = time.monotonic()
        rest = _REST * (ended - begun)
        self._rest_until = ended + (max(rest, _IDLE_SECONDS) if made is None else rest)

    async def seal(self) -> Checkpoint | None:
        """Sign a checkpoint over the heads that grew; None when none did or another one does.

        At most one a second, whoever makes it. LedgerUnavailable when the ledger does not answer.
        """
        return await self._pool.run(self._seal)

    async def _seal(self, transaction: Transaction) -> Checkpoint | None:
        turn, last = await transaction.both(
            Question(_SQL["take_sealing"], {"lock": _LOCK}, _Turn),
            Question(_SQL["last_checkpoint"], {}, _LastRow),
        )
        assert turn is not None
        before = None if last is None else last.checkpoint(self._deployment)
        if not turn.mine or (before is not None and turn.now - before.signed_at < _LEAST_AGE):
            return None
        looked = None if last is None else last.horizon_at(turn.place)
        grown = await transaction.ask(_grown_since(looked))
        if not grown:
            return None
        heads = [Head(one.chain, one.sequence, one.head) for one in grown]
        plain = stated(self._deployment, before, heads, turn.now, self._keys.active)
        signed = replace(plain, signature=self._keys.sign(plain.statement))
        # What did not fit is found again from where this look began.
        horizon = turn.xmin if len(grown) < LARGEST else looked or "0"
        await transaction.commit(_written(signed, grown, horizon, turn.place))
        return signed


def _grown_since(horizon: str | None) -> Question[_Grown]:
    if horizon in (None, "0"):
        return Question(_SQL["unsealed_heads"], {"limit": LARGEST}, _Grown)
    return Question(_SQL["changed_heads"], {"horizon": horizon, "limit": LARGEST}, _Grown)


def _written(signed: Checkpoint, grown: Sequence[_Grown], horizon: str, place: str) -> Write:
    leaves = [
        {
            "leaf": leaf,
            "chain": one.chain,
            "sequence": one.sequence,
            "head": one.head.hex(),
            "before": one.sealed_before,
        }
        for leaf, one in enumerate(grown)
    ]
    parameters = {
        "number": signed.number,
        "previous": signed.previous,
        "heads": signed.heads,
        "root": signed.root,
        "signed_at": signed.signed_at,
        "key_version": signed.key,
        "signature": signed.signature,
        "hash": signed.hash,
        "leaves": json.dumps(leaves),
        "horizon": horizon,
        "place": place,
    }
    return Write(_SQL["write_checkpoint"], parameters)
