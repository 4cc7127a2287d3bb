"""What is on record of a run beyond the point to which its execution went back."""

from __future__ import annotations

from dataclasses import dataclass

from adapter.ledger.entry import lock_question, unknown_run
from adapter.ledger.pool import Question, Transaction
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from adapter.ledger.signals import given_signal
from interpreter.contract.calls import OnRecord

_SQL = queries("waits")
_AT_ITS_SOURCE = frozenset({"completed", "gone"})


@dataclass(frozen=True, slots=True)
class _AheadRow:
    visit: str
    resolution: str | None
    id: str | None
    sealed_payload: bytes | None


async def ahead(
    transaction: Transaction, run_keys: RunKeys, run_id: str, after: int
) -> dict[str, OnRecord]:
    """The calls and ended waits, by visit, whose projections come after a sequence number.

    A wait that a cancel or the end of the run has ended is none of them, nor is a completion that
    nothing came after: what follows ``onCancel`` has to expect that it came anyway. ActivityError
    ``run.unknown``.
    """
    keys = {"run": run_id, "after": after}
    run = await transaction.one(lock_question(run_id))
    if run is None:
        raise unknown_run(run_id)
    rows = await transaction.ask(Question(_SQL["ahead"], keys, _AheadRow))
    if rows and rows[-1].resolution in _AT_ITS_SOURCE:
        rows.pop()
    return {
        row.visit: OnRecord(
            row.resolution or "", given_signal(run_keys, run, row.id, row.sealed_payload)
        )
        for row in rows
    }
