"""What is on record of a run beyond the point to which its execution went back."""

from __future__ import annotations

from dataclasses import dataclass

from adapter.ledger.entry import lock_question, unknown_run
from adapter.ledger.pool import Question, Transaction
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from adapter.ledger.signals import given_signal
from interpreter.contract.calls import OnRecord
from interpreter.machine.bounds import written_size
from interpreter.machine.signals import MOST_KEPT_BYTES

_SQL = queries("waits")


@dataclass(frozen=True, slots=True)
class _AheadRow:
    visit: str
    resolution: str | None
    id: str | None
    sealed_payload: bytes | None
    opened: bool
    sequence: int


async def ahead(
    transaction: Transaction, run_keys: RunKeys, run_id: str, after: int
) -> dict[str, OnRecord]:
    """The calls and ended waits, by visit, whose projections come after a sequence number.

    A wait that the end of the run has ended is none of them, nor is a completion at which the run
    still stood: what follows ``onCancel`` has to expect that it came anyway. The wait that a cancel
    has ended is among them, wherever it was. The signals are given as far as they have room in what
    an execution hands to the next one. ActivityError ``run.unknown``.
    """
    keys = {"run": run_id, "after": after}
    run = await transaction.one(lock_question(run_id))
    if run is None:
        raise unknown_run(run_id)
    rows = await transaction.ask(Question(_SQL["ahead"], keys, _AheadRow))
    found, room = {}, MOST_KEPT_BYTES
    for row in rows:
        signal = given_signal(run_keys, run, row.id, row.sealed_payload) if room >= 0 else None
        if signal is not None:
            room -= written_size(signal.payload)
        kept = row.resolution is not None and not row.opened
        found[row.visit] = OnRecord(row.resolution or "", signal if room >= 0 else None, kept)
    return found
