"""Keyed commitments: identities and references that nobody can compute without the key."""

from __future__ import annotations

import hmac
from typing import Final
from uuid import UUID

from adapter.crypto.framing import framed
from adapter.crypto.keys import KeyRing
from interpreter.contract.effects import VisitRef
from interpreter.contract.values import JsonValue, canonical_bytes

_LABEL: Final = b"coordinator-temporal/commitment/v1"


class Keyed:
    """HMAC-SHA256 over length-prefixed parts under the admission key, 64 hex digits each.

    Every commitment names its purpose and the deployment, so none can stand for another.
    """

    def __init__(self, keys: KeyRing, deployment: str) -> None:
        self._keys = keys
        self._deployment = deployment

    @property
    def product_key_version(self) -> int:
        """The admission version that a new run freezes for its product keys."""
        return self._keys.admission_active

    def start_identity(
        self, owner: str, scope: str, workflow: str, idempotency_key: str, successor: int = 0
    ) -> str:
        """Who started what with which key; ``successor`` counts fresh runs after a rollback."""
        return self._commit("start", owner, scope, workflow, idempotency_key, str(successor))

    def run_id(self, start_identity: str) -> str:
        """The run id of a start identity, as a UUID of version 8 (RFC 9562).

        Derived, so that an admission that a restore lost is the same run when it is repeated
        (protocol rule 4).
        """
        return _uuid(self._commit("run", start_identity))

    def act_id(self, run_id: str, kind: str, request_id: str) -> str:
        """The id of an operator's act, in the same form: one request id is one act of its kind."""
        return _uuid(self._commit("act", run_id, kind, request_id))

    def input_digest(self, start_identity: str, value: JsonValue) -> str:
        """What tells two inputs of one key apart, without telling the input to who reads it."""
        return self._commit("input", start_identity, canonical_bytes(value))

    def product_key(self, effect: VisitRef, version: int) -> str:
        """The idempotency key sent to products: the same on every attempt, restart and retry.

        ``version`` is the one that the run froze at admission (design section 5).
        """
        parts = (effect.run_id, effect.branch, effect.node, str(effect.visit))
        return self._commit("command", *parts, version=version)

    def owner(self, issuer: str, subject: str) -> str:
        """The owner column of a verified caller."""
        return self._commit("owner", issuer, subject)

    def reference(self, kind: str, name: str) -> str:
        """What stands in the journal instead of an actor, a reason or a step."""
        return self._commit("reference", kind, name)

    def custody(self) -> str:
        """The mark by which a database recognises the admission key that it was written with."""
        return self._commit("custody")

    def _commit(self, purpose: str, *parts: str | bytes, version: int | None = None) -> str:
        number = self._keys.identity_version if version is None else version
        message = framed(_LABEL, purpose, self._deployment, *parts)
        return hmac.digest(self._keys.admission[number], message, "sha256").hex()


def _uuid(commitment: str) -> str:
    raw = bytearray(bytes.fromhex(commitment)[:16])
    raw[6] = 0x80 | (raw[6] & 0x0F)
    raw[8] = 0x80 | (raw[8] & 0x3F)
    return str(UUID(bytes=bytes(raw)))
