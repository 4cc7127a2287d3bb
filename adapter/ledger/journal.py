"""The audit journal's chains: how records are added to one, under the lock of its head."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

from adapter.audit.records import record_hash
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
