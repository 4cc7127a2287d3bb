"""A run's own data key: what is sealed under it, and how the deployment's key wraps it."""

from __future__ import annotations

import hmac
import json
import secrets
from functools import cache
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from adapter.crypto.envelopes import (
    EnvelopeKind,
    SealError,
    disclose,
    enclose,
    key_version,
    missing,
    require_envelope,
    sub_key,
    where_of,
    written,
)
from adapter.crypto.keys import KEY_BYTES, KeyRing
from interpreter.contract.values import JsonValue

_VALUE_LABEL: Final = b"coordinator-temporal/run-value-key/v1"
_DIGEST_LABEL: Final = b"coordinator-temporal/run-digest-key/v1"
_WRAPPING_LABEL: Final = b"coordinator-temporal/run-key-wrapping/v1"
_PURPOSE: Final = "run-key"


class RunSealer:
    """Seals what belongs to one run, under a data key that no other run has.

    Each purpose has its own sub-key; the associated data binds deployment, run, purpose, place and
    header, so that an envelope opens nowhere but where it was sealed. Without a data key, because
    it was destroyed, every verb raises SealError ``seal.erased``.
    """

    def __init__(self, data_key: bytes | None, deployment: str, run_id: str) -> None:
        self.run_id = run_id
        self._data_key = data_key
        self._deployment = deployment
        self._ciphers: dict[str, AESGCM] = {}

    def require_key(self) -> None:
        """SealError ``seal.erased`` now rather than at the first use."""
        self._key("run")

    def seal(self, value: JsonValue, purpose: str, place: str = "") -> bytes:
        """The envelope of a JSON value."""
        return self.seal_bytes(written(value), purpose, place)

    def open(self, sealed: bytes, purpose: str, place: str = "") -> JsonValue:
        """The value inside an envelope that was sealed for exactly this run, purpose and place."""
        return json.loads(self.open_bytes(sealed, purpose, place))

    def seal_bytes(self, plain: bytes, purpose: str, place: str = "") -> bytes:
        """Like ``seal``, for at most 16 MiB; SealError ``seal.too-large`` or ``seal.erased``."""
        where = where_of(purpose, place)
        scope = (self._deployment, self.run_id, purpose, place)
        cipher = self._cipher(purpose, where)
        return enclose(cipher, EnvelopeKind.RUN, plain, scope, where)

    def open_bytes(self, sealed: bytes, purpose: str, place: str = "") -> bytes:
        """Like ``open``, for bytes; SealError of any code but ``seal.too-large``."""
        where = where_of(purpose, place)
        cipher = self._cipher(purpose, where)
        require_envelope(sealed, EnvelopeKind.RUN, where)
        scope = (self._deployment, self.run_id, purpose, place)
        return disclose(cipher, EnvelopeKind.RUN, sealed, scope, where)

    def digest(self, purpose: str, data: bytes) -> str:
        """HMAC-SHA256 of some bytes as 64 hex digits: the same within this run alone."""
        scope = (self._deployment, self.run_id, purpose)
        key = sub_key(self._key(purpose), _DIGEST_LABEL, *scope)
        return hmac.digest(key, data, "sha256").hex()

    def _cipher(self, purpose: str, where: str) -> AESGCM:
        known = self._ciphers.get(purpose)
        if known is None:
            scope = (self._deployment, self.run_id, purpose)
            known = AESGCM(sub_key(self._key(where), _VALUE_LABEL, *scope))
            self._ciphers[purpose] = known
        return known

    def _key(self, where: str) -> bytes:
        if self._data_key is None:
            raise SealError(
                "seal.erased",
                "the run's data key was destroyed when the run was erased",
                place=where,
                remedy="read its ids, states, codes and times; what it carried is gone for good",
            )
        return self._data_key


def new_data_key() -> bytes:
    """A data key for a new run: 32 random bytes."""
    return secrets.token_bytes(KEY_BYTES)


class RunKeyWrapping:
    """Wraps data keys of runs under the deployment's state key, each bound to its own run.

    A wrapped key is an envelope that names the version of the state key; AES-256-GCM covers
    deployment, run and version.
    """

    def __init__(self, keys: KeyRing, deployment: str) -> None:
        self._keys = keys
        self.deployment = deployment
        self._cipher = cache(self._derive)

    def wrap(self, data_key: bytes, run_id: str) -> bytes:
        """The data key under the active version of the state key."""
        version = self._keys.active
        scope, cipher = (self.deployment, run_id), self._cipher(version)
        return enclose(cipher, EnvelopeKind.RUN_KEY, data_key, scope, _PURPOSE, version=version)

    def unwrap(self, wrapped: bytes, run_id: str) -> bytes:
        """The data key of a run.

        SealError ``seal.malformed``, ``seal.key-missing`` (the ring lacks the version of the state
        key) or ``seal.not-authentic`` (another state key, another run, or changed).
        """
        where = where_of(_PURPOSE, run_id)
        version = key_version(wrapped, EnvelopeKind.RUN_KEY, where)
        if version not in self._keys.versions:
            raise missing(version, where)
        scope = (self.deployment, run_id)
        return disclose(self._cipher(version), EnvelopeKind.RUN_KEY, wrapped, scope, where)

    def sealer(self, wrapped: bytes | None, run_id: str) -> RunSealer:
        """The sealer of a run; without a wrapped key, one that says ``seal.erased``."""
        data_key = None if wrapped is None else self.unwrap(wrapped, run_id)
        return RunSealer(data_key, self.deployment, run_id)

    def _derive(self, version: int) -> AESGCM:
        return AESGCM(sub_key(self._keys.versions[version], _WRAPPING_LABEL, self.deployment))
