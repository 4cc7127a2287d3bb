"""Receipts as people see them: the product's own id of an effect, opened for who inspects a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from interpreter.contract.values import JsonValue

_SQL = queries("reads")
_LONGEST_ID = 256


@dataclass(frozen=True, slots=True)
class ReceiptView:
    """That a receipt is on record: its own id, empty once it is erased, and when it came."""

    reference: str
    receipt_id: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class _ReceiptRow:
    reference: str
    token: str
    sealed_receipt: bytes
    received_at: datetime
    wrapped_key: bytes | None


async def receipts_of(pool: Pool, run_keys: RunKeys, run_id: str) -> list[ReceiptView]:
    """The receipts of a run, in the order of its effects."""
    rows = await pool.ask(Question(_SQL["run_receipts"], {"run": run_id}, _ReceiptRow))
    return [ReceiptView(row.reference, _id(run_keys, run_id, row), row.received_at) for row in rows]


def _id(run_keys: RunKeys, run_id: str, row: _ReceiptRow) -> str:
    if row.wrapped_key is None or not row.sealed_receipt:
        return ""
    sealer = run_keys.sealer(run_id, row.wrapped_key)
    receipt: JsonValue = sealer.open(row.sealed_receipt, "receipt", f"{row.reference}:{row.token}")
    found = receipt.get("id") if isinstance(receipt, dict) else None
    return found[:_LONGEST_ID] if isinstance(found, str) else ""
