"""Values under the deployment's key: what belongs to no run, each bound to its own place."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from adapter.crypto.envelopes import (
    EnvelopeKind,
    disclose,
    enclose,
    key_version,
    refusal,
    sub_key,
    where_of,
    written,
)
from adapter.crypto.keys import KeyRing
from interpreter.contract.values import JsonValue

_KEY_LABEL: Final = b"coordinator-temporal/sealed-value-key/v1"
_KIND: Final = EnvelopeKind.DEPLOYMENT


class Sealer:
    """Seals values under AES-256-GCM, each bound to its deployment, run, purpose and place.

    Every scope (deployment, run, purpose) has its own sub-key, so random nonces stay far from their
    limit; the associated data repeats the whole scope with the place and the header, each part
    preceded by its length. A ciphertext that was moved to another run, column, step or deployment
    does not open.
    """

    def __init__(self, keys: KeyRing, deployment: str) -> None:
        self._keys = keys
        self.deployment = deployment
        # The cipher of a run's purpose is asked for several times within a short while.
        self._cipher = lru_cache(maxsize=512)(self._derive)

    def seal(self, value: JsonValue, run_id: str, purpose: str, place: str = "") -> bytes:
        """The envelope of ``value``: header, nonce, ciphertext and tag."""
        return self.seal_bytes(written(value), run_id, purpose, place)

    def open(self, sealed: bytes, run_id: str, purpose: str, place: str = "") -> JsonValue:
        """The value inside an envelope that was sealed for exactly this scope and place."""
        return json.loads(self.open_bytes(sealed, run_id, purpose, place))

    def seal_bytes(self, plain: bytes, run_id: str, purpose: str, place: str = "") -> bytes:
        """Like ``seal``, for bytes; at most 16 MiB."""
        version = self._keys.active
        scope = (self.deployment, run_id, purpose, place)
        cipher = self._cipher(version, run_id, purpose)
        return enclose(cipher, _KIND, version, plain, scope, where_of(purpose, place))

    def open_bytes(self, sealed: bytes, run_id: str, purpose: str, place: str = "") -> bytes:
        """Like ``open``, for bytes; raises SealError."""
        where = where_of(purpose, place)
        version = key_version(sealed, _KIND, where)
        if version not in self._keys.versions:
            raise refusal("seal.key-missing", f"sealing key version {version} is missing", where)
        scope = (self.deployment, run_id, purpose, place)
        return disclose(self._cipher(version, run_id, purpose), sealed, scope, where)

    def _derive(self, version: int, run_id: str, purpose: str) -> AESGCM:
        scope = (self.deployment, run_id, purpose)
        return AESGCM(sub_key(self._keys.versions[version], _KEY_LABEL, *scope))
