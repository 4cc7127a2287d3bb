"""Notes in the audit journal: records of acts that write nothing else, before and after them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from adapter.crypto import Keyed, Sealer
from adapter.ledger.entry import Entry, lock_with
from adapter.ledger.journal import DEPLOYMENT_CHAIN, Chain
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from interpreter.contract.values import JsonValue

_SQL = queries("audit")

REASON: Final = "reason"
"""The purpose that reasons about the deployment are sealed for."""


@dataclass(frozen=True, slots=True)
class ChainRow:
    """The locked head of a chain that is no run's, and the instant after the lock."""

    now: datetime
    sequence: int
    head: bytes


@dataclass(frozen=True, slots=True)
class _Instant:
    now: datetime


@dataclass(frozen=True, slots=True)
class _Reason:
    reference: str
    sealed_text: bytes


class Reasons:
    """The texts behind references of the deployment's chain: sealed, and opened for an operator."""

    def __init__(self, pool: Pool, sealer: Sealer) -> None:
        self._pool = pool
        self._sealer = sealer

    def kept(self, reference: str, text: str) -> Write:
        """The write that keeps a text under the keyed reference that a record has for it."""
        sealed = self._sealer.seal(text, REASON, reference)
        return Write(_SQL["keep_reason"], {"reference": reference, "sealed_text": sealed})

    async def texts(self, references: Collection[str]) -> dict[str, str]:
        """The texts of those references that are kept."""
        asked = Question(_SQL["reasons"], {"references": list(references)}, _Reason)
        return {
            row.reference: str(self._sealer.open(row.sealed_text, REASON, row.reference))
            for row in await self._pool.ask(asked)
        }


class Audit:
    """Adds records to the journal; each is one transaction of its own."""

    def __init__(self, pool: Pool, keyed: Keyed) -> None:
        self._pool = pool
        self._keyed = keyed

    async def note(
        self,
        kind: str,
        refs: Mapping[str, str],
        *,
        run_id: str | None = None,
        **detail: JsonValue,
    ) -> None:
        """Add one record to the run's chain, or to the deployment's.

        ``refs`` are clear names by their kind (``{"actor": …, "subject": …}``), of which the
        journal keeps keyed references alone; ``detail`` holds codes, classes and counts, never a
        name or a value. Whoever notes an act before doing it must not do it when this raises:
        LedgerAway when the record may not have been written, ActivityError ``run.unknown`` for a
        run that the ledger did not admit.
        """
        keyed = self.references(refs)
        if run_id is None:
            await self._pool.run(lambda transaction: append(transaction, kind, keyed, detail))
            return

        async def work(transaction: Transaction) -> None:
            asked = Question(_SQL["instant"], {}, _Instant)
            run, instant = await lock_with(transaction, run_id, asked)
            entry = Entry(run, instant.now)
            entry.journal(kind, keyed, **detail)
            await transaction.commit(*entry.writes())

        await self._pool.run(work)

    def references(self, names: Mapping[str, str]) -> dict[str, str]:
        """Clear names as the keyed references that the journal has for them."""
        return {kind: self._keyed.reference(kind, name) for kind, name in names.items()}


async def append(
    transaction: Transaction,
    kind: str,
    refs: dict[str, str],
    detail: dict[str, JsonValue],
    *others: Write,
) -> None:
    """Add one record to the deployment's chain, and commit it with other writes."""
    head = await lock_deployment_chain(transaction)
    await transaction.commit(*others, recorded(head, kind, refs, detail))


async def lock_deployment_chain(transaction: Transaction) -> ChainRow:
    """Lock the deployment's chain; the last lock that a transaction takes."""
    asked = Question(_SQL["lock_chain"], {"chain": DEPLOYMENT_CHAIN}, ChainRow)
    found = await transaction.one(asked)
    assert found is not None, "the migration writes the row"
    return found


def recorded(
    head: ChainRow, kind: str, refs: dict[str, str], detail: dict[str, JsonValue]
) -> Write:
    """The write of one record of the deployment's chain; ``refs`` are keyed references."""
    chain = Chain(DEPLOYMENT_CHAIN, head.sequence, head.head)
    chain.append(kind, head.now, refs, detail)
    return Write(_SQL["append"], {**chain.columns(), "chain": DEPLOYMENT_CHAIN, "now": head.now})
