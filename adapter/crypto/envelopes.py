"""Envelopes: what sealed bytes look like, how they are made and how they are opened."""

from __future__ import annotations

import json
import secrets
import struct
import zlib
from enum import IntEnum
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from adapter.crypto.common_json import COMMON
from adapter.crypto.framing import framed
from adapter.errors import Unavailable
from interpreter.contract.values import JsonValue

_BOUND_LABEL: Final = b"coordinator-temporal/envelope-bound/v1"
_COMPRESSED: Final = 1
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_SUB_KEY_BYTES: Final = 32
_KIND_AND_FLAGS: Final = struct.Struct(">BB")
_VERSION: Final = struct.Struct(">I")

# A data key has 32 random bytes: what is no longer than it is left as it is.
_SMALLEST_COMPRESSED: Final = 33
# Deflate takes over 10 ms for a megabyte and would stall every other run of the process.
_LARGEST_COMPRESSED: Final = 65_536
# A small value is worth the search for the best match; in a large one it takes long.
_LARGEST_SEARCHED: Final = 4_096
# Deflate alone, without a header and a checksum: the seal has both.
_RAW: Final = -15
# A small value needs no larger window than its own size, and a compressor that is made for it twice
# as fast: most of its time is the memory that it clears. Whatever opens the largest opens this.
_RAW_SMALL: Final = -12
_SMALL_TABLES: Final = 5
LARGEST_PLAIN: Final = 16 * 1_048_576
"""The most bytes that one envelope takes."""


class EnvelopeKind(IntEnum):
    """Whose key an envelope is under: the deployment's, a run's, or that it holds a run's key."""

    DEPLOYMENT = 1
    RUN = 2
    RUN_KEY = 3


# The deployment's key has versions, which an envelope under it names. A run keeps its data key for
# good, since what Temporal holds of it can not be sealed again.
_VERSIONED: Final = frozenset({EnvelopeKind.DEPLOYMENT, EnvelopeKind.RUN_KEY})


class SealError(Unavailable):
    """A value can not be sealed or opened here.

    ``seal.too-large``, ``seal.malformed`` (no envelope of ours), ``seal.key-missing`` (its key
    version is not in the ring), ``seal.erased`` (the run's key was destroyed) or
    ``seal.not-authentic`` (another key, another place, or changed).
    """


def sub_key(key: bytes, label: bytes, *scope: str) -> bytes:
    """32 bytes for one scope alone, by HKDF-SHA256 (RFC 5869) from a key of 32 random bytes."""
    return HKDFExpand(hashes.SHA256(), _SUB_KEY_BYTES, framed(label, *scope)).derive(key)


def enclose(
    cipher: AESGCM,
    kind: EnvelopeKind,
    plain: bytes,
    scope: tuple[str, ...],
    where: str,
    *,
    version: int | None = None,
) -> bytes:
    """Header, nonce, ciphertext and tag; the tag also covers ``scope`` and the header.

    ``version`` is the key's, for the kinds whose key has versions. What is not large is compressed
    first, if that makes it smaller. SealError ``seal.too-large``, with ``where`` as its place.
    """
    if len(plain) > LARGEST_PLAIN:
        raise SealError(
            "seal.too-large",
            f"the value has {len(plain)} bytes, the limit is {LARGEST_PLAIN}",
            place=where,
            remedy="publish a reference to the data instead of the data",
        )
    flags = 0
    if _SMALLEST_COMPRESSED <= len(plain) <= _LARGEST_COMPRESSED:
        packed = _packed(plain)
        if len(packed) < len(plain):
            plain, flags = packed, _COMPRESSED
    header = _KIND_AND_FLAGS.pack(kind, flags)
    if version is not None:
        header += _VERSION.pack(version)
    assert len(header) == _header_bytes(kind), "a version where the kind has none, or none"
    nonce = secrets.token_bytes(_NONCE_BYTES)
    bound = framed(_BOUND_LABEL, *scope, header)
    return b"".join((header, nonce, cipher.encrypt(nonce, plain, bound)))


def key_version(sealed: bytes, kind: EnvelopeKind, where: str) -> int:
    """The key version that an envelope of a versioned kind names; SealError ``seal.malformed``."""
    require_envelope(sealed, kind, where)
    return int(_VERSION.unpack_from(sealed, _KIND_AND_FLAGS.size)[0])


def require_envelope(sealed: bytes, kind: EnvelopeKind, where: str) -> None:
    """SealError ``seal.malformed`` for bytes that are no envelope of this kind."""
    if len(sealed) >= _header_bytes(kind) + _NONCE_BYTES + _TAG_BYTES:
        found, flags = _KIND_AND_FLAGS.unpack_from(sealed)
        if found == kind and flags <= _COMPRESSED:
            return
    raise refusal("seal.malformed", "the stored bytes are no sealed value", where)


def disclose(
    cipher: AESGCM, kind: EnvelopeKind, sealed: bytes, scope: tuple[str, ...], where: str
) -> bytes:
    """What an envelope holds that was found to be one; SealError ``seal.not-authentic``."""
    size = _header_bytes(kind)
    header, nonce, rest = sealed[:size], sealed[size : size + _NONCE_BYTES], size + _NONCE_BYTES
    bound = framed(_BOUND_LABEL, *scope, header)
    try:
        plain = cipher.decrypt(nonce, sealed[rest:], bound)
    except InvalidTag as error:
        message = "the sealed value belongs to another key or place, or was changed"
        raise refusal("seal.not-authentic", message, where) from error
    if header[1] & _COMPRESSED:
        return zlib.decompressobj(_RAW, zdict=COMMON).decompress(plain, LARGEST_PLAIN)
    return plain


def _packed(plain: bytes) -> bytes:
    if len(plain) <= _LARGEST_SEARCHED:
        deflate = zlib.compressobj(6, zlib.DEFLATED, _RAW_SMALL, _SMALL_TABLES, zdict=COMMON)
    else:
        deflate = zlib.compressobj(1, zlib.DEFLATED, _RAW, zdict=COMMON)
    return deflate.compress(plain) + deflate.flush()


def _header_bytes(kind: EnvelopeKind) -> int:
    return _KIND_AND_FLAGS.size + (_VERSION.size if kind in _VERSIONED else 0)


def written(value: JsonValue) -> bytes:
    """A JSON value as the bytes that are sealed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        errors="surrogatepass"
    )


def where_of(purpose: str, place: str) -> str:
    """How an error names a sealed value."""
    return f"{purpose} of {place}" if place else purpose


def missing(version: int, place: str) -> SealError:
    """The refusal to open what is under a version that the ring lacks."""
    return refusal("seal.key-missing", f"sealing key version {version} is missing", place)


def refusal(code: str, message: str, place: str) -> SealError:
    """The refusal to open a value."""
    remedy = "start with the key set that this database was written with"
    return SealError(code, message, place=place, remedy=remedy)
