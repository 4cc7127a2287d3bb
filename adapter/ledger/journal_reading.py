"""The journal as it is read: in the order of a proof, one chain, and what the runs say of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from adapter.audit.checkpoint import Checkpoint, Head
from adapter.audit.export import Gap, Included, Item, Sealed, feed
from adapter.audit.merkle import path
from adapter.audit.proof import Proof, Proved
from adapter.audit.records import Record
from adapter.ledger.checkpoint_rows import CheckpointRow
from adapter.ledger.pool import Pool, Question, Snapshot
from adapter.ledger.queries import queries
from interpreter.contract.values import JsonValue

_SQL = queries("audit")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SealedRow(CheckpointRow):
    """One record under its leaf; a leaf without records and a checkpoint without leaves too."""

    leaf: int | None
    head_chain: str
    head_sequence: int
    head: bytes
    chain: str | None
    sequence: int
    previous: bytes
    hash: bytes
    kind: str
    recorded_at: datetime
    refs: JsonValue
    detail: JsonValue

    def record(self) -> Record | None:
        if self.chain is None:
            return None
        return Record(
            self.chain,
            self.sequence,
            self.previous,
            self.hash,
            self.kind,
            self.recorded_at,
            self.refs,
            self.detail,
        )


@dataclass(frozen=True, slots=True)
class _Count:
    records: int


class Reading:
    """The journal at one instant."""

    def __init__(self, snapshot: Snapshot, deployment: str) -> None:
        self._snapshot = snapshot
        self._deployment = deployment

    async def base(self, since: datetime) -> Checkpoint | None:
        """The last checkpoint before an instant, or None when there is none."""
        asked = Question(_SQL["checkpoint_before"], {"instant": since}, CheckpointRow)
        rows = await self._snapshot.ask(asked)
        return rows[0].checkpoint(self._deployment) if rows else None

    async def items(self, after: int = 0) -> AsyncIterator[Item]:
        """Records and checkpoints after a checkpoint's number, each record before its checkpoint.

        What no checkpoint has sealed yet comes last.
        """
        last: _SealedRow | None = None
        heads: list[Head] = []
        number = after
        asked = Question(_SQL["sealed_journal"], {"after": after}, _SealedRow)
        leaf: int | None = None
        async for row in self._snapshot.stream(asked):
            if last is not None and last.number != row.number:
                yield Sealed(last.checkpoint(self._deployment), heads)
                heads, leaf, number = [], None, last.number
            if row.number > number + 1:
                yield Gap(number + 1)
                number = row.number - 1
            if row.leaf is not None and row.leaf != leaf:
                heads.append(Head(row.head_chain, row.head_sequence, row.head))
                leaf = row.leaf
            record = row.record()
            if record is not None:
                yield record
            last = row
        if last is not None:
            yield Sealed(last.checkpoint(self._deployment), heads)
        async for unsealed in self._snapshot.stream(Question(_SQL["unsealed_journal"], {}, Record)):
            yield unsealed

    async def chain(self, chain: str) -> AsyncIterator[Item]:
        """The records of one chain, and how each checkpoint that has sealed it holds it."""
        keys = {"chain": chain}
        asked = Question(_SQL["chain_checkpoints"], keys, CheckpointRow)
        waiting = await self._snapshot.ask(asked)
        async for record in self._snapshot.stream(Question(_SQL["chain_journal"], keys, Record)):
            yield record
            if waiting:
                included = await self._included(waiting[0], chain)
                if included.head.sequence <= record.sequence:
                    waiting.pop(0)
                    yield included
        for row in waiting:
            yield await self._included(row, chain)

    async def prove(self, proof: Proof) -> Proved:
        """Prove the whole journal, and that it is the one that the runs' own rows know of.

        Raises Fault at the first thing that is wrong.
        """
        async for item in self.items():
            feed(proof, item)
        known = set()
        async for head in self._snapshot.stream(Question(_SQL["standing_heads"], {}, Head)):
            proof.standing(head)
            known.add(head.chain)
        proof.unknown(known)
        [count] = await self._snapshot.ask(Question(_SQL["count_records"], {}, _Count))
        proof.counted(count.records)
        return proof.end()

    async def _included(self, row: CheckpointRow, chain: str) -> Included:
        heads = await self._snapshot.ask(Question(_SQL["leaves"], {"checkpoint": row.number}, Head))
        index = next(number for number, head in enumerate(heads) if head.chain == chain)
        way = path([head.leaf for head in heads], index)
        return Included(row.checkpoint(self._deployment), heads[index], index, way)


class Journal:
    """Reads the audit journal of one deployment."""

    def __init__(self, pool: Pool, deployment: str) -> None:
        self._pool = pool
        self._deployment = deployment

    async def latest(self) -> Checkpoint | None:
        """The last checkpoint, or None before the first."""
        row = await self._pool.one(Question(_SQL["latest_checkpoint"], {}, CheckpointRow))
        return None if row is None else row.checkpoint(self._deployment)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reading]:
        """The journal as it stands now; LedgerUnavailable when the database does not answer."""
        async with self._pool.snapshot() as snapshot:
            yield Reading(snapshot, self._deployment)
