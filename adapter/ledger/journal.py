"""The audit journal's hash chain: how records follow each other and how that is proved."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Final

from interpreter.contract.values import JsonValue

DEPLOYMENT_CHAIN: Final = "deployment"


class Chain:
    """Appends records to one chain, from the sequence and head that its locked row holds."""

    def __init__(self, chain: str, sequence: int, head: bytes) -> None:
        self.chain = chain
        self.sequence = sequence
        self.head = head
        self._records: list[JsonValue] = []

    def append(
        self, kind: str, at: datetime, refs: dict[str, str], detail: dict[str, JsonValue]
    ) -> None:
        """Add one record; ``refs`` are keyed references, ``detail`` codes, classes and counts."""
        previous = self.head
        self.sequence += 1
        self.head = record_hash(self.chain, self.sequence, previous, kind, at, refs, detail)
        record = {
            "sequence": self.sequence,
            "previous": previous.hex(),
            "hash": self.head.hex(),
            "kind": kind,
            "refs": refs,
            "detail": detail,
        }
        self._records.append(record)

    def columns(self) -> dict[str, JsonValue]:
        """The query parameters that write the records added and the chain's new head."""
        return {
            "journal_sequence": self.sequence,
            "journal_head": self.head,
            "journal": json.dumps(self._records),
        }


def record_hash(
    chain: str,
    sequence: int,
    previous: bytes,
    kind: str,
    at: datetime,
    refs: JsonValue,
    detail: JsonValue,
) -> bytes:
    """SHA-256 over the canonical JSON of a record and the hash before it.

    The instant enters in UTC with microseconds, as PostgreSQL keeps it, so that a chain can be
    proved from an export alone.
    """
    instant = at.astimezone(UTC).isoformat(timespec="microseconds")
    record = [chain, sequence, previous.hex(), kind, instant, refs, detail]
    return hashlib.sha256(_canonical(record)).digest()


def _canonical(record: list[JsonValue]) -> bytes:
    # Records hold text, whole numbers and ASCII names alone; of these, sorted compact JSON is the
    # canonical form (RFC 8785), at a tenth of the time, in every transaction.
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()
