"""Sealed values: how a JSON value becomes bytes that only its own place can open."""

from __future__ import annotations

import json
import secrets
import struct
import zlib
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from adapter.crypto.framing import framed
from adapter.crypto.keys import KEY_BYTES, KeyRing
from adapter.errors import Unavailable
from interpreter.contract.values import JsonValue

_KEY_LABEL: Final = b"coordinator-temporal/sealed-value-key/v1"
_BOUND_LABEL: Final = b"coordinator-temporal/sealed-value-bound/v1"
_ENVELOPE: Final = 1
_COMPRESSED: Final = 1
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
# Envelope version, flags, key version; the nonce and the ciphertext with its tag follow.
_HEADER: Final = struct.Struct(">BBI")

_SMALLEST_COMPRESSED: Final = 1_024
# Deflate takes over 10 ms for a megabyte and would stall every other run of the process.
_LARGEST_COMPRESSED: Final = 65_536
_LARGEST_PLAIN: Final = 16 * 1_048_576


class SealError(Unavailable):
    """A value can not be sealed or opened here.

    ``seal.too-large``, ``seal.malformed`` (no envelope of ours), ``seal.key-missing`` (its key
    version is not in the ring) or ``seal.not-authentic`` (another key, another place, or changed).
    """


class Sealer:
    """Seals values under AES-256-GCM, each bound to its deployment, run, purpose and place.

    Every scope (deployment, run, purpose) has its own sub-key by HKDF-SHA256, so random nonces stay
    far from their limit; the associated data repeats the whole scope with the place, the key
    version and the flags, each part preceded by its length. A ciphertext that was moved to another
    run, column, step or deployment does not open.
    """

    def __init__(self, keys: KeyRing, deployment: str) -> None:
        self._keys = keys
        self.deployment = deployment
        # The cipher of a run's purpose is asked for several times within a short while.
        self._cipher = lru_cache(maxsize=512)(self._derive)

    def seal(self, value: JsonValue, run_id: str, purpose: str, place: str = "") -> bytes:
        """The envelope of ``value``: header, nonce, ciphertext and tag."""
        return self.seal_bytes(_written(value), run_id, purpose, place)

    def open(self, sealed: bytes, run_id: str, purpose: str, place: str = "") -> JsonValue:
        """The value inside an envelope that was sealed for exactly this scope and place."""
        return json.loads(self.open_bytes(sealed, run_id, purpose, place))

    def seal_bytes(self, plain: bytes, run_id: str, purpose: str, place: str = "") -> bytes:
        """Like ``seal``, for bytes; at most 16 MiB."""
        if len(plain) > _LARGEST_PLAIN:
            raise SealError(
                "seal.too-large",
                f"the value has {len(plain)} bytes, the limit is {_LARGEST_PLAIN}",
                place=_where(purpose, place),
                remedy="publish a reference to the data instead of the data",
            )
        flags = 0
        if _SMALLEST_COMPRESSED <= len(plain) <= _LARGEST_COMPRESSED:
            plain, flags = zlib.compress(plain, 1), _COMPRESSED
        version = self._keys.active
        header = _HEADER.pack(_ENVELOPE, flags, version)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        bound = framed(_BOUND_LABEL, self.deployment, run_id, purpose, place, header)
        return header + nonce + self._cipher(version, run_id, purpose).encrypt(nonce, plain, bound)

    def open_bytes(self, sealed: bytes, run_id: str, purpose: str, place: str = "") -> bytes:
        """Like ``open``, for bytes; raises SealError."""
        where = _where(purpose, place)
        start = _HEADER.size + _NONCE_BYTES
        if len(sealed) < start + _TAG_BYTES or sealed[0] != _ENVELOPE or sealed[1] > _COMPRESSED:
            raise _refusal("seal.malformed", "the stored bytes are no sealed value", where)
        header, nonce = sealed[: _HEADER.size], sealed[_HEADER.size : start]
        _, flags, version = _HEADER.unpack(header)
        if version not in self._keys.versions:
            raise _refusal("seal.key-missing", f"sealing key version {version} is missing", where)
        bound = framed(_BOUND_LABEL, self.deployment, run_id, purpose, place, header)
        try:
            plain = self._cipher(version, run_id, purpose).decrypt(nonce, sealed[start:], bound)
        except InvalidTag as error:
            message = "the sealed value belongs to another key or place, or was changed"
            raise _refusal("seal.not-authentic", message, where) from error
        return zlib.decompress(plain) if flags else plain

    def _derive(self, version: int, run_id: str, purpose: str) -> AESGCM:
        scope = framed(_KEY_LABEL, self.deployment, run_id, purpose)
        expand = HKDFExpand(hashes.SHA256(), KEY_BYTES, scope)
        return AESGCM(expand.derive(self._keys.versions[version]))


def _written(value: JsonValue) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        errors="surrogatepass"
    )


def _where(purpose: str, place: str) -> str:
    return f"{purpose} of {place}" if place else purpose


def _refusal(code: str, message: str, place: str) -> SealError:
    remedy = "start with the key set that this database was written with"
    return SealError(code, message, place=place, remedy=remedy)
