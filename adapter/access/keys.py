"""The public keys of an issuer: which of a key set's keys count, and what one of them verifies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from jwt.algorithms import get_default_algorithms

from adapter.config.json_text import strict_json
from adapter.errors import Unavailable

LARGEST_DOCUMENT_BYTES = 262_144
_MOST_KEYS = 64
_LEAST_RSA_BITS, _MOST_RSA_BITS = 2_048, 8_192
# Key type and curve -> the one algorithm that a key of this kind may verify (RFC 8725, 3.1): no
# token chooses how its key is used.
_ALGORITHMS: dict[tuple[object, object], str] = {
    ("RSA", None): "RS256",
    ("EC", "P-256"): "ES256",
    ("OKP", "Ed25519"): "EdDSA",
}
_METHODS = get_default_algorithms()


@dataclass(frozen=True, slots=True)
class Key:
    """One public key, for one algorithm."""

    kid: str | None
    algorithm: str
    _material: Any = field(repr=False)

    def verifies(self, signed: bytes, signature: bytes) -> bool:
        """Whether the signature over these bytes was made with the private half."""
        verified: bool = _METHODS[self.algorithm].verify(signed, self._material, signature)
        return verified


def keys_of(document: bytes, place: str) -> list[Key]:
    """The usable keys of a JWK set (RFC 7517), at most 64.

    Keys for encryption, of other kinds or sizes, and private ones are passed over. Raises
    Unavailable ``access.keys-unusable`` when none is left; ``place`` says whose they are.
    """
    try:
        value = strict_json(document)
    except ValueError as error:
        raise unusable(place, "the key set is no JSON") from error
    written = value.get("keys") if isinstance(value, dict) else None
    if not isinstance(written, list) or len(written) > _MOST_KEYS:
        raise unusable(place, f"the document is no key set of at most {_MOST_KEYS} keys")
    keys = [key for one in written if (key := _key(one)) is not None]
    if not keys:
        raise unusable(place, "the key set has no key that may verify tokens")
    return keys


def matching(keys: Sequence[Key], kid: str | None, algorithm: str) -> list[Key]:
    """The keys that may have signed: of this algorithm and, where a token names one, this id."""
    return [key for key in keys if key.algorithm == algorithm and kid in (None, key.kid)]


def unusable(place: str, message: str) -> Unavailable:
    """Unavailable ``access.keys-unusable``."""
    return Unavailable(
        "access.keys-unusable",
        message,
        place=place,
        remedy="correct the issuer's keySet in runtime.yaml, or the issuer",
    )


def _key(written: Any) -> Key | None:
    if not isinstance(written, dict) or "d" in written:
        return None
    kind = (written.get("kty"), written.get("crv"))
    algorithm = _ALGORITHMS.get(kind) if all(isinstance(k, str | None) for k in kind) else None
    operations = written.get("key_ops", ["verify"])
    serves = (
        written.get("use", "sig") == "sig"
        and isinstance(operations, list)
        and "verify" in operations
        and written.get("alg", algorithm) == algorithm
    )
    kid = written.get("kid")
    if algorithm is None or not serves or not isinstance(kid, str | None):
        return None
    try:
        material = _METHODS[algorithm].from_jwk(written)
    except Exception:
        # Whatever is wrong with one key of somebody else's document, the others still count.
        return None
    bits = getattr(material, "key_size", _LEAST_RSA_BITS)
    if algorithm == "RS256" and not _LEAST_RSA_BITS <= bits <= _MOST_RSA_BITS:
        return None
    return Key(kid, algorithm, material)
