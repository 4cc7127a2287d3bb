"""The audit journal apart from any database: records, checkpoints, exports and their proof."""

from __future__ import annotations

from adapter.audit.checkpoint import Checkpoint, Head
from adapter.audit.merkle import root
from adapter.audit.proof import Fault, Proof, Proved
from adapter.audit.records import Record, record_hash

__all__ = [
    "Checkpoint",
    "Fault",
    "Head",
    "Proof",
    "Proved",
    "Record",
    "record_hash",
    "root",
]
