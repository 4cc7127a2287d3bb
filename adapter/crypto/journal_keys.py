"""Signing keys of the audit journal: Ed25519 (RFC 8032) by version, and what checks signatures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from adapter.crypto.keys import decode_key, is_usable
from adapter.errors import Refused

_PUBLIC: Final = re.compile(r"ed25519:([0-9a-f]{64})")


@dataclass(frozen=True, repr=False)
class PublicKeys:
    """What signatures are checked with: 32 bytes for each version of the signing key."""

    versions: Mapping[int, bytes]

    def knows(self, version: int) -> bool:
        """Whether there is a key of this version."""
        return version in self.versions

    def signed(self, version: int, statement: bytes, signature: bytes) -> bool:
        """Whether the key of a version has signed a statement; KeyError for an unknown version."""
        try:
            Ed25519PublicKey.from_public_bytes(self.versions[version]).verify(signature, statement)
        except InvalidSignature:
            return False
        return True

    def to_json(self) -> dict[str, str]:
        """The keys as text by version: ``ed25519:`` and 64 hex digits."""
        return {str(number): f"ed25519:{key.hex()}" for number, key in sorted(self.items())}

    def items(self) -> list[tuple[int, bytes]]:
        """The keys by version."""
        return list(self.versions.items())

    @staticmethod
    def from_json(texts: Mapping[str, str]) -> PublicKeys:
        """Read what ``to_json`` gives; Refused ``keys.invalid``."""
        found = {}
        for number, text in texts.items():
            match = _PUBLIC.fullmatch(text)
            if not number.isdecimal() or match is None:
                raise _invalid(f"public key {number}", "write ed25519: and 64 hex digits")
            found[int(number)] = bytes.fromhex(match[1])
        return PublicKeys(found)


@dataclass(frozen=True, repr=False)
class SigningKeys:
    """Signing keys by version, 32 bytes each; what is new is signed with ``active``.

    ``retired`` are public keys of versions that sign no more and whose secret is gone.
    """

    versions: Mapping[int, bytes]
    active: int
    retired: PublicKeys

    def sign(self, statement: bytes) -> bytes:
        """The signature of the active key, 64 bytes."""
        return Ed25519PrivateKey.from_private_bytes(self.versions[self.active]).sign(statement)

    @property
    def public(self) -> PublicKeys:
        """What checks the signatures of every version."""
        own = {
            number: Ed25519PrivateKey.from_private_bytes(key).public_key().public_bytes_raw()
            for number, key in self.versions.items()
        }
        return PublicKeys({**dict(self.retired.items()), **own})

    @staticmethod
    def from_secrets(
        versions: Mapping[int, bytes], active: int, retired: Mapping[str, str]
    ) -> SigningKeys:
        """Read keys as secrets hold them: hexadecimal or base64 text of 32 bytes.

        Refused ``keys.invalid``, also when a version is both in use and retired.
        """
        keys = {number: _decoded(number, secret) for number, secret in versions.items()}
        gone = PublicKeys.from_json(retired)
        if active not in keys or any(gone.knows(number) for number in keys):
            raise _invalid("signing key", "name each version once, the active one with its secret")
        return SigningKeys(keys, active, gone)


def _decoded(number: int, secret: bytes) -> bytes:
    try:
        key = decode_key(secret)
    except ValueError:
        key = b""
    if not is_usable(key):
        raise _invalid(f"signing key {number}", "write 32 random bytes as base64")
    return key


def _invalid(place: str, remedy: str) -> Refused:
    message = "the signing key can not be used"
    return Refused("keys.invalid", message, place=place, remedy=remedy, status=400)
