"""The keys of a deployment: which versions there are, which is used, and how they are read."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from adapter.errors import Refused

KEY_BYTES = 32
MOST_VERSIONS = 16


@dataclass(frozen=True, repr=False)
class KeyRing:
    """Sealing keys and admission keys by version, 32 bytes each.

    New values are sealed under ``active``; older versions stay as long as a value needs them. New
    runs take their product keys from ``admission_active``, and a run keeps its version for good.
    The *lowest* admission version also names start identities, so it is never taken out of the
    ring: without it a repeated start would no longer find its run.

    Raises Refused ``keys.invalid`` for a version or key that can not be used.
    """

    versions: Mapping[int, bytes]
    active: int
    admission: Mapping[int, bytes]
    admission_active: int

    def __post_init__(self) -> None:
        _require_usable("sealing key", self.versions, self.active)
        _require_usable("admission key", self.admission, self.admission_active)
        self.require_apart()

    def __repr__(self) -> str:
        return f"KeyRing(versions={sorted(self.versions)}, admission={sorted(self.admission)})"

    def require_apart(self, others: Iterable[bytes] = ()) -> None:
        """Refused ``keys.invalid`` when two of these keys and of ``others`` are equal.

        Whoever has one of them would have two, and each is lost, leaked and replaced by itself.
        """
        every = [*self.versions.values(), *self.admission.values(), *others]
        if len(set(every)) != len(every):
            raise _invalid("key ring", "two keys are equal", "generate each key by itself")

    @property
    def identity_version(self) -> int:
        """The admission version that names start identities."""
        return min(self.admission)

    @staticmethod
    def from_secrets(
        versions: Mapping[int, bytes],
        admission: Mapping[int, bytes],
        *,
        active: int | None = None,
        admission_active: int | None = None,
    ) -> KeyRing:
        """Read keys as secrets hold them: hexadecimal or base64 text of 32 bytes.

        The highest version is the active one unless another is named.
        """
        sealing = {number: _decoded(f"sealing key {number}", s) for number, s in versions.items()}
        admitting = {
            number: _decoded(f"admission key {number}", s) for number, s in admission.items()
        }
        return KeyRing(
            sealing,
            max(sealing, default=0) if active is None else active,
            admitting,
            max(admitting, default=0) if admission_active is None else admission_active,
        )

    @staticmethod
    def generate() -> KeyRing:
        """A fresh ring of one version, for development and tests."""
        return KeyRing(
            {1: secrets.token_bytes(KEY_BYTES)}, 1, {1: secrets.token_bytes(KEY_BYTES)}, 1
        )


def new_secret() -> bytes:
    """A fresh key as a secret file holds it: base64 text of 32 random bytes."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES))


def decode_key(secret: bytes) -> bytes:
    """The bytes of a key as a secret holds it, hexadecimal or base64; ValueError for any other."""
    text = secret.strip()
    if len(text) == 2 * KEY_BYTES:
        return bytes.fromhex(text.decode("ascii"))
    return base64.b64decode(text, validate=True)


def is_usable(key: bytes) -> bool:
    """Whether a key has the right size and is not all zeros."""
    return len(key) == KEY_BYTES and any(key)


def _decoded(place: str, secret: bytes) -> bytes:
    try:
        return decode_key(secret)
    except ValueError as error:
        raise _invalid(
            place, "the key is neither hexadecimal nor base64", "write 32 random bytes as base64"
        ) from error


def _require_usable(what: str, keys: Mapping[int, bytes], active: int) -> None:
    if not 1 <= len(keys) <= MOST_VERSIONS:
        raise _invalid(
            what, f"1 to {MOST_VERSIONS} versions are needed", "name the versions still in use"
        )
    if active not in keys:
        raise _invalid(f"{what} {active}", "the active version has no key", "add its secret")
    for version, key in keys.items():
        if not 1 <= version < 2**32:
            raise _invalid(f"{what} {version}", "the version is no 32-bit number", "count from 1")
        if not is_usable(key):
            raise _invalid(
                f"{what} {version}", f"the key is not {KEY_BYTES} random bytes", "generate a key"
            )


def _invalid(place: str, message: str, remedy: str) -> Refused:
    return Refused("keys.invalid", message, place=place, remedy=remedy, status=400)
