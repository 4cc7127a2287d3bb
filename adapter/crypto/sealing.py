"""Values under the deployment's key: what belongs to no run, each bound to its own place."""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from adapter.crypto.envelopes import (
    EnvelopeKind,
    disclose,
    enclose,
    key_version,
    missing,
    sub_key,
    where_of,
    written,
)
from adapter.crypto.keys import KeyRing
from interpreter.contract.values import JsonValue

_KEY_LABEL: Final = b"coordinator-temporal/deployment-value-key/v1"
_MARK_LABEL: Final = b"coordinator-temporal/state-key-mark/v1"
_KIND: Final = EnvelopeKind.DEPLOYMENT


class Sealer:
    """Seals values under AES-256-GCM, each bound to its deployment, purpose and place.

    Every purpose has its own sub-key, so random nonces stay far from their limit; the associated
    data repeats deployment, purpose and place with the header, each part preceded by its length. A
    ciphertext that was moved to another column, row or deployment does not open.
    """

    def __init__(self, keys: KeyRing, deployment: str) -> None:
        self._keys = keys
        self.deployment = deployment
        self._cipher = cache(self._derive)

    def seal(self, value: JsonValue, purpose: str, place: str = "") -> bytes:
        """The envelope of ``value``: header, nonce, ciphertext and tag."""
        return self.seal_bytes(written(value), purpose, place)

    def open(self, sealed: bytes, purpose: str, place: str = "") -> JsonValue:
        """The value inside an envelope that was sealed for exactly this purpose and place."""
        return json.loads(self.open_bytes(sealed, purpose, place))

    def seal_bytes(self, plain: bytes, purpose: str, place: str = "") -> bytes:
        """Like ``seal``, for bytes; at most 16 MiB."""
        version = self._keys.active
        scope, cipher = (self.deployment, purpose, place), self._cipher(version, purpose)
        where = where_of(purpose, place)
        return enclose(cipher, _KIND, plain, scope, where, version=version)

    def open_bytes(self, sealed: bytes, purpose: str, place: str = "") -> bytes:
        """Like ``open``, for bytes; raises SealError."""
        where = where_of(purpose, place)
        version = key_version(sealed, _KIND, where)
        if version not in self._keys.versions:
            raise missing(version, where)
        scope, cipher = (self.deployment, purpose, place), self._cipher(version, purpose)
        return disclose(cipher, _KIND, sealed, scope, where)

    def marks(self) -> dict[int, str]:
        """By version, the mark by which a database recognises a sealing key; it tells nothing."""
        return {
            version: sub_key(key, _MARK_LABEL, self.deployment).hex()
            for version, key in self._keys.versions.items()
        }

    @property
    def active(self) -> int:
        """The version under which new values are sealed."""
        return self._keys.active

    def _derive(self, version: int, purpose: str) -> AESGCM:
        return AESGCM(sub_key(self._keys.versions[version], _KEY_LABEL, self.deployment, purpose))
