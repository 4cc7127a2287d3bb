"""The audit journal's hash chain: how records follow each other and how that is proved."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Final

from interpreter.contract.values import JsonValue, canonical_bytes

DEPLOYMENT_CHAIN: Final = "deployment"


class Chain:
    """Appends records to one chain, from the sequence and head that its locked row holds."""

    def __init__(self, chain: str, sequence: int, head: bytes) -> None:
        self.chain = chain
        self.sequence = sequence
        self.head = head
        self._first = sequence + 1
        self._previous: list[bytes] = []
        self._hashes: list[bytes] = []
        self._kinds: list[str] = []
        self._refs: list[str] = []
        self._details: list[str] = []

    def append(
        self, kind: str, at: datetime, refs: dict[str, str], detail: dict[str, JsonValue]
    ) -> None:
        """Add one record; ``refs`` are keyed references, ``detail`` codes, classes and counts."""
        self.sequence += 1
        self._previous.append(self.head)
        self.head = record_hash(self.chain, self.sequence, self.head, kind, at, refs, detail)
        self._hashes.append(self.head)
        self._kinds.append(kind)
        self._refs.append(json.dumps(refs))
        self._details.append(json.dumps(detail))

    def columns(self) -> dict[str, JsonValue]:
        """The parameters of ``write_entry`` for the records added."""
        return {
            "chain": self.chain,
            "journal_sequence": self.sequence,
            "journal_head": self.head,
            "journal_sequences": list(range(self._first, self.sequence + 1)),
            "previous": self._previous,
            "hashes": self._hashes,
            "record_kinds": self._kinds,
            "refs": self._refs,
            "details": self._details,
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
    return hashlib.sha256(canonical_bytes(record)).digest()
