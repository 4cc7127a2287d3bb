"""A checkpoint as its table holds it, for whoever signs the next one or reads the journal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from adapter.audit.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRow:
    """The signed members; ``follows`` is the hash of the checkpoint before."""

    number: int
    follows: bytes
    heads: int
    root: bytes
    signed_at: datetime
    key_version: int
    signature: bytes

    def checkpoint(self, deployment: str) -> Checkpoint:
        """The checkpoint of a deployment."""
        return Checkpoint(
            deployment,
            self.number,
            self.follows,
            self.heads,
            self.root,
            self.signed_at,
            self.key_version,
            self.signature,
        )
