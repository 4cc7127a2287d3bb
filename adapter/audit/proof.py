"""The proof of a journal: takes records and checkpoints in order, and stops at what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from adapter.audit.checkpoint import Checkpoint, Head
from adapter.audit.merkle import root, root_of_path
from adapter.audit.records import Record
from adapter.crypto import PublicKeys
from adapter.errors import Refused

_REMEDY: Final = "keep the database as it is, and compare it with a backup and earlier exports"


class Fault(Refused):
    """The first thing that is wrong; ``place`` is ``chain/sequence`` or ``checkpoint/number``."""

    def __init__(self, code: str, message: str, group: str, number: int) -> None:
        super().__init__(code, message, place=f"{group}/{number}", remedy=_REMEDY)
        self.group = group
        self.number = number


@dataclass(frozen=True, slots=True)
class Proved:
    """What was proved; ``unsealed`` records follow the last checkpoint, the oldest of ``since``."""

    records: int
    chains: int
    checkpoints: int
    last: Checkpoint | None
    unsealed: int
    since: datetime | None


@dataclass(slots=True)
class _Chain:
    """How far a chain is followed, and how far of it is sealed."""

    sequence: int
    head: bytes
    sealed: int


@dataclass(slots=True)
class _Waiting:
    """Records of a chain that no checkpoint has sealed yet."""

    since: datetime
    records: int = 0


class Proof:
    """Follows every chain and every checkpoint; each method raises Fault.

    Records of a chain come in their order, each before the checkpoint that seals it. ``base`` is
    the checkpoint that a later part of a journal follows: chains may then begin within.
    """

    def __init__(
        self,
        deployment: str,
        keys: PublicKeys,
        *,
        base: Checkpoint | None = None,
        saved: Checkpoint | None = None,
    ) -> None:
        self._deployment = deployment
        self._keys = keys
        self._partial = base is not None
        self._saved = saved
        self._chains: dict[str, _Chain] = {}
        self._last: Checkpoint | None = None
        self._records = self._checkpoints = 0
        self._unsealed: dict[str, _Waiting] = {}
        if base is not None:
            self._require_signed(base)
            self._last = base

    def record(self, record: Record) -> None:
        """The next record of its chain."""
        chain = self._chains.get(record.chain)
        if chain is None:
            before = record.sequence - 1 if self._partial else 0
            chain = _Chain(before, record.previous if before else b"", before)
            self._chains[record.chain] = chain
        expected = chain.sequence + 1
        if record.sequence > expected:
            raise _record_fault("missing", "the record is missing", record.chain, expected)
        if record.sequence < expected:
            message = "the record stands twice or out of its order"
            raise _record_fault("out-of-order", message, record.chain, record.sequence)
        if record.hash != record.expected_hash:
            message = "the record was changed: it does not have its hash"
            raise _record_fault("changed", message, record.chain, record.sequence)
        if record.previous != chain.head:
            message = "the record does not follow the one before it"
            raise _record_fault("replaced", message, record.chain, record.sequence)
        chain.sequence, chain.head = record.sequence, record.hash
        self._records += 1
        self._unsealed.setdefault(record.chain, _Waiting(record.recorded_at)).records += 1

    def checkpoint(self, checkpoint: Checkpoint, heads: Sequence[Head]) -> None:
        """The next checkpoint with its leaves."""
        self._require_next(checkpoint)
        self._require_signed(checkpoint)
        leaves = [head.leaf for head in heads]
        if len(leaves) != checkpoint.heads or root(leaves) != checkpoint.root:
            message = "its heads are not those that were signed"
            raise _checkpoint_fault("changed", message, checkpoint.number)
        for head in heads:
            self._require_led_to(head)
        self._last = checkpoint
        self._checkpoints += 1

    def gap(self, number: int) -> None:
        """A checkpoint that is not there; raises, whatever comes after it."""
        raise _checkpoint_fault("missing", "the checkpoint is missing", number)

    def inclusion(
        self, checkpoint: Checkpoint, head: Head, index: int, path: Sequence[bytes]
    ) -> None:
        """A later checkpoint that has one chain's head at a leaf; others may lie between."""
        if self._last is not None and checkpoint.number <= self._last.number:
            message = "the checkpoint is out of its order"
            raise _checkpoint_fault("changed", message, checkpoint.number)
        self._require_signed(checkpoint)
        if root_of_path(head.leaf, index, checkpoint.heads, path) != checkpoint.root:
            message = "its heads are not those that were signed"
            raise _checkpoint_fault("changed", message, checkpoint.number)
        self._require_led_to(head)
        self._last = checkpoint
        self._checkpoints += 1

    def standing(self, head: Head) -> None:
        """What a run's own row says of its chain, once every record was given."""
        chain = self._chains.get(head.chain) or _Chain(0, b"", 0)
        if head.sequence > chain.sequence:
            raise _record_fault("missing", "the record is missing", head.chain, chain.sequence + 1)
        if head.sequence < chain.sequence:
            message = "the record was added behind the ledger's back"
            raise _record_fault("added", message, head.chain, head.sequence + 1)
        if head.head != chain.head:
            message = "the record is not the one that the ledger wrote"
            raise _record_fault("replaced", message, head.chain, head.sequence)

    def unknown(self, known: set[str]) -> None:
        """Chains of which the ledger knows nothing."""
        for chain in sorted(self._chains.keys() - known):
            raise _record_fault("added", "the ledger has no such chain", chain, 1)

    def counted(self, records: int) -> None:
        """How many records there are; more than were given are those that no chain leads to."""
        if records != self._records:
            message = f"{records - self._records} records belong to no place of a chain"
            raise _record_fault("added", message, "journal", records)

    def end(self) -> Proved:
        """Nothing follows."""
        last, saved = self._last, self._saved
        if saved is not None and (last is None or last.number < saved.number):
            message = "the journal is older than the saved checkpoint: later ones are missing"
            raise _checkpoint_fault("missing", message, 1 if last is None else last.number + 1)
        waiting = self._unsealed.values()
        return Proved(
            self._records,
            len(self._chains),
            self._checkpoints,
            last,
            sum(one.records for one in waiting),
            min((one.since for one in waiting), default=None),
        )

    def _require_next(self, checkpoint: Checkpoint) -> None:
        last = self._last
        expected = 1 if last is None else last.number + 1
        if checkpoint.number > expected:
            raise _checkpoint_fault("missing", "the checkpoint is missing", expected)
        if checkpoint.number < expected:
            message = "the checkpoint stands twice or out of its order"
            raise _checkpoint_fault("changed", message, checkpoint.number)
        if checkpoint.previous != (b"" if last is None else last.hash):
            message = "the checkpoint does not follow the one before it"
            raise _checkpoint_fault("changed", message, checkpoint.number)

    def _require_signed(self, checkpoint: Checkpoint) -> None:
        number = checkpoint.number
        if checkpoint.deployment != self._deployment:
            message = "the checkpoint is of another deployment"
            raise _checkpoint_fault("changed", message, number)
        if not self._keys.knows(checkpoint.key):
            message = f"the checkpoint is signed with key {checkpoint.key}, which is not known"
            raise _checkpoint_fault("key-unknown", message, number)
        if not self._keys.signed(checkpoint.key, checkpoint.statement, checkpoint.signature):
            message = "the signature is not of the deployment's key"
            raise _checkpoint_fault("signature-invalid", message, number)
        saved = self._saved
        if saved is not None and number == saved.number and checkpoint.hash != saved.hash:
            message = "the checkpoint is not the one that was saved"
            raise _checkpoint_fault("changed", message, number)

    def _require_led_to(self, head: Head) -> None:
        """That the records given so far lead to a signed head."""
        chain = self._chains.get(head.chain) or _Chain(0, b"", 0)
        if chain.sequence < head.sequence:
            raise _record_fault("missing", "the record is missing", head.chain, chain.sequence + 1)
        if (chain.sequence, chain.head) != (head.sequence, head.head):
            message = "the record, or one after it, is not the one that a checkpoint has sealed"
            raise _record_fault("replaced", message, head.chain, chain.sealed + 1)
        chain.sealed = head.sequence
        self._unsealed.pop(head.chain, None)


def _record_fault(kind: str, message: str, chain: str, sequence: int) -> Fault:
    return Fault(f"audit.record-{kind}", message, chain, sequence)


def _checkpoint_fault(kind: str, message: str, number: int) -> Fault:
    return Fault(f"audit.checkpoint-{kind}", message, "checkpoint", number)
