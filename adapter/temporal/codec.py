"""The codec that seals every payload of a deployment, and opens each where it belongs."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Self

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
)
from temporalio.exceptions import ApplicationError

from adapter.temporal.notes import Notes
from adapter.temporal.refusals import Reason, refused
from adapter.temporal.seals import RunSeal, Seal, Vault
from adapter.temporal.stamps import NOWHERE, Form, Scope, Stamp
from adapter.temporal.start_message import is_start, start_of
from interpreter.contract.runs import StartRun
from interpreter.errors import CoordinatorError

PURPOSE: Final = "temporal"
LARGEST_INLINE: Final = 65_536
"""A sealed payload of more bytes goes to the ledger, and a history has a reference to it."""

_NOT_OURS = frozenset({"seal.not-authentic", "seal.malformed"})
_KEYLESS = frozenset({"run.unknown", "seal.erased"})
_JSON = {"encoding": b"json/plain"}
_BARE, _WRAPPED = b"\x00", b"\x01"
_SERVERS_WORDS = frozenset({b'"ACTIVITY_ID_NOT_STARTED"', b'"ACTIVITY_ID_UNKNOWN"'})
"""What Temporal's server itself writes, in clear text, into the details of a cancelled activity."""

Prefetch = Callable[[StartRun], Awaitable[None]]
"""Fills this process's cache of definitions for a run; raises to have the task tried again."""


class SealingCodec(PayloadCodec, WithSerializationContext):
    """Seals payloads under their run's data key, bound to deployment, namespace and run.

    The seal covers what Temporal says of a payload's workflow, and the payload's own stamp says
    whose it is. A payload that is not sealed for where it turns up becomes a refused one; only a
    key that is missing or a ledger that does not answer raises, so that the task is tried again. A
    run whose key was destroyed fails its execution: nobody can ever read it again.

    Decoding is awaited by the SDK outside the workflow's two seconds, on the first task, after an
    eviction and in a replay; so ``prefetch`` has the definition of a start at hand before a
    workflow is made, and a workflow never loads anything (techniques 1).
    """

    def __init__(self, vault: Vault, prefetch: Prefetch | None = None) -> None:
        self._vault = vault
        self._prefetch = prefetch
        self._scope: Scope | None = None
        self._of_activity = False
        self._notes = Notes(vault)

    def with_context(self, context: SerializationContext) -> Self:
        """The same codec for the payloads of one workflow."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._scope = Scope.of(context)
        made._of_activity = isinstance(context, ActivitySerializationContext)
        return made

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Sealed payloads; SealError, LedgerUnavailable."""
        if not payloads:
            return []
        scope = self._scope or NOWHERE
        run = None if scope.run_id is None else await self._run_to_seal_for(scope.run_id)
        return [await self._seal(payload, scope, run) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Open payloads, refused ones among them.

        SealError ``seal.key-missing``, ActivityError ``run.unknown`` or ``payload.absent``,
        LedgerUnavailable; ApplicationError ``seal.erased``, which fails the execution.
        """
        opened = [await self._open(payload) for payload in payloads]
        if self._prefetch is not None:
            for payload in opened:
                if is_start(payload):
                    await self._prefetch(start_of(payload))
        return opened

    async def _run_to_seal_for(self, run_id: str) -> RunSeal | None:
        """A run's seal; None for an execution that is no run's, which still says why it failed."""
        try:
            return await self._vault.runs.of(run_id)
        except CoordinatorError as error:
            if error.code not in _KEYLESS:
                raise
            return None

    async def _seal(self, payload: Payload, scope: Scope, run: RunSeal | None) -> Payload:
        plain = _written(payload)
        if run is None:
            sealed = self._vault.own.seal_bytes(plain, PURPOSE, scope.place(Form.OWN))
            return Stamp(Form.OWN, scope.root).on(sealed)
        sealed = run.seal_bytes(plain, PURPOSE, scope.place(Form.RUN))
        if len(sealed) <= LARGEST_INLINE:
            return Stamp(Form.RUN, run.run_id).on(sealed)
        return Stamp(Form.STORED, run.run_id).on(await self._store(plain, scope, run))

    async def _store(self, plain: bytes, scope: Scope, run: RunSeal) -> bytes:
        """Keep a payload in the ledger and give its sealed reference."""
        digest = run.digest(PURPOSE, plain)
        body = run.seal_bytes(plain, PURPOSE, _body_place(scope, digest))
        await self._vault.large.put(run.run_id, digest, body)
        reference = json.dumps({"digest": digest, "bytes": len(plain)}).encode()
        return run.seal_bytes(reference, PURPOSE, scope.place(Form.STORED))

    async def _open(self, payload: Payload) -> Payload:
        stamped = Stamp.read(payload)
        if stamped is None:
            if self._of_activity and _is_servers_word(payload):
                return payload
            return await self._refuse(payload, Reason.CLEAR)
        stamp, envelope = stamped
        scope = self._scope or NOWHERE
        if not stamp.belongs_to(scope):
            return await self._refuse(payload, Reason.ELSEWHERE)
        try:
            return await self.reveal(stamp, envelope, scope)
        except CoordinatorError as error:
            if error.code == "seal.erased":
                raise ApplicationError(str(error), type=error.code, non_retryable=True) from error
            raise
        except NotAuthentic:
            return await self._refuse(payload, Reason.DAMAGED)

    async def reveal(self, stamp: Stamp, envelope: bytes, scope: Scope) -> Payload:
        """What an envelope of a scope holds, whoever asks; NotAuthentic where it is of another.

        SealError, ActivityError ``run.unknown`` or ``payload.absent``, LedgerUnavailable.
        """
        if stamp.form is Form.OWN:
            # Whoever writes to a run could name any version of this key: that is no missing one.
            doubted = _NOT_OURS if scope.run_id is None else _NOT_OURS | {"seal.key-missing"}
            return _read(_opened(self._vault.own, envelope, scope.place(Form.OWN), doubted))
        run = await self._vault.runs.of(stamp.owner)
        plain = _opened(run, envelope, scope.place(stamp.form))
        if stamp.form is Form.STORED:
            digest = json.loads(plain)["digest"]
            body = await self._vault.large.get(run.run_id, digest)
            # The reference was authentic: a body that does not open is a fault of the ledger.
            plain = run.open_bytes(body, PURPOSE, _body_place(scope, digest))
        return _read(plain)

    async def _refuse(self, payload: Payload, reason: Reason) -> Payload:
        run_id = None if self._scope is None else self._scope.run_id
        if run_id is not None:
            await self._notes.note(run_id, payload, reason)
        return refused(payload, reason)


def _is_servers_word(payload: Payload) -> bool:
    """Whether a payload is, to the letter, one that the server writes: any other may be no JSON."""
    return dict(payload.metadata) == _JSON and payload.data in _SERVERS_WORDS


class NotAuthentic(Exception):
    """A payload that does not open under the key that its stamp names."""


def _opened(seal: Seal, sealed: bytes, place: str, doubted: frozenset[str] = _NOT_OURS) -> bytes:
    try:
        return seal.open_bytes(sealed, PURPOSE, place)
    except CoordinatorError as error:
        if error.code in doubted:
            raise NotAuthentic from error
        raise


def _body_place(scope: Scope, digest: str) -> str:
    return f"{scope.place(Form.STORED)} {digest}"


def _written(payload: Payload) -> bytes:
    """A payload as the bytes that are sealed: plain JSON, as nearly all are, without its wrapping.

    The first byte says which of the two it is.
    """
    if dict(payload.metadata) == _JSON and not payload.external_payloads:
        return _BARE + payload.data
    return _WRAPPED + payload.SerializeToString()


def _read(plain: bytes) -> Payload:
    if plain[:1] == _BARE:
        return Payload(metadata=_JSON, data=plain[1:])
    return Payload.FromString(plain[1:])
