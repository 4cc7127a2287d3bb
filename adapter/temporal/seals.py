"""What sealing in Temporal needs from the rest of a deployment: keys, a store and a journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Seal(Protocol):
    """One key at work: what it seals opens under it alone, for the same purpose and place."""

    def seal_bytes(self, plain: bytes, purpose: str, place: str = "") -> bytes:
        """The envelope of some bytes, compressed where that pays."""
        ...

    def open_bytes(self, sealed: bytes, purpose: str, place: str = "") -> bytes:
        """What an envelope holds; SealError."""
        ...


class RunSeal(Seal, Protocol):
    """The seal of one run."""

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    def digest(self, purpose: str, data: bytes) -> str:
        """A keyed digest as hex digits: equal bytes of one run have the same one."""
        ...


class RunSeals(Protocol):
    """The seals of runs."""

    async def of(self, run_id: str) -> RunSeal:
        """A run's seal.

        ActivityError ``run.unknown``, SealError ``seal.erased`` or ``seal.key-missing``,
        LedgerUnavailable.
        """
        ...


class LargePayloads(Protocol):
    """Where payloads are kept that are too large for a history, sealed, by run and digest."""

    async def put(self, run_id: str, digest: str, sealed: bytes) -> None:
        """Keep a payload; one that is there already stays as it is."""
        ...

    async def get(self, run_id: str, digest: str) -> bytes:
        """A payload as it was put; ActivityError ``payload.absent``."""
        ...


class ForeignNotes(Protocol):
    """Where it is written down that a run met a payload which is not sealed for it."""

    async def note(self, run_id: str, reason: str, digest: str) -> None:
        """Journal it, once for each digest and a bounded number of times for each run."""
        ...


@dataclass(frozen=True, slots=True)
class Vault:
    """The keys and places of one deployment; ``own`` seals what belongs to no run."""

    own: Seal
    runs: RunSeals
    large: LargePayloads
    foreign: ForeignNotes
