"""Checkpoints: signed statements of how far the chains were that had grown since the last one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from adapter.audit.merkle import root
from adapter.audit.records import canonical, instant
from interpreter.contract.values import JsonValue

FORMAT: Final = "coordinator-checkpoint/v1"


@dataclass(frozen=True, slots=True)
class Head:
    """How far a chain was: the sequence and hash of its last record."""

    chain: str
    sequence: int
    head: bytes

    @property
    def leaf(self) -> bytes:
        """The data of its leaf."""
        return canonical([self.chain, self.sequence, self.head.hex()])


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed statement; ``previous`` is the hash of the one before it, empty for the first.

    ``heads`` is the number of leaves under ``root``, ``key`` the version of the signing key.
    """

    deployment: str
    number: int
    previous: bytes
    heads: int
    root: bytes
    signed_at: datetime
    key: int
    signature: bytes = b""

    @property
    def statement(self) -> bytes:
        """What is signed."""
        return canonical({"format": FORMAT, **self._members()})

    @property
    def hash(self) -> bytes:
        """What the next checkpoint names."""
        return hashlib.sha256(self.statement).digest()

    def to_json(self) -> dict[str, JsonValue]:
        """The checkpoint as exports and saved checkpoints hold it."""
        return {"format": FORMAT, **self._members(), "signature": self.signature.hex()}

    @staticmethod
    def from_json(members: dict[str, Any]) -> Checkpoint:
        """Read what ``to_json`` gives; KeyError, TypeError or ValueError for anything else."""
        if members["format"] != FORMAT:
            raise ValueError("another format")
        return Checkpoint(
            str(members["deployment"]),
            int(members["number"]),
            bytes.fromhex(members["previous"]),
            int(members["heads"]),
            bytes.fromhex(members["root"]),
            datetime.fromisoformat(members["signedAt"]),
            int(members["key"]),
            bytes.fromhex(members["signature"]),
        )

    def _members(self) -> dict[str, JsonValue]:
        return {
            "deployment": self.deployment,
            "number": self.number,
            "previous": self.previous.hex(),
            "heads": self.heads,
            "root": self.root.hex(),
            "signedAt": instant(self.signed_at),
            "key": self.key,
        }


def stated(
    deployment: str,
    before: Checkpoint | None,
    heads: Sequence[Head],
    signed_at: datetime,
    key: int,
) -> Checkpoint:
    """The checkpoint over heads in their order, not signed yet."""
    return Checkpoint(
        deployment,
        1 if before is None else before.number + 1,
        b"" if before is None else before.hash,
        len(heads),
        root([head.leaf for head in heads]),
        signed_at,
        key,
    )
