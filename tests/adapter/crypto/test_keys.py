"""Key rings: how secrets are read, and which rings are refused."""

from __future__ import annotations

import secrets

import pytest

from adapter.crypto import KeyRing, new_secret
from adapter.errors import Refused

KEY, OTHER = secrets.token_bytes(32), secrets.token_bytes(32)


def test_secrets_may_be_hexadecimal_or_base64() -> None:
    ring = KeyRing.from_secrets({1: KEY.hex().encode() + b"\n"}, {1: new_secret()})
    assert ring.versions[1] == KEY
    assert len(ring.admission[1]) == 32


def test_the_highest_version_is_active_and_the_lowest_admission_version_names_identities() -> None:
    ring = KeyRing({1: KEY, 2: OTHER}, 2, {3: b"c" * 32, 5: b"d" * 32}, 5)
    read = KeyRing.from_secrets({1: new_secret(), 2: new_secret()}, {3: new_secret()})
    assert (ring.identity_version, read.active) == (3, 2)


@pytest.mark.parametrize(
    ("sealing", "active", "admission"),
    [
        ({}, 1, {1: OTHER}),
        ({1: KEY}, 2, {1: OTHER}),
        ({1: KEY}, 1, {1: KEY}),
        ({1: bytes(32)}, 1, {1: OTHER}),
        ({1: KEY[:31]}, 1, {1: OTHER}),
        ({0: KEY}, 0, {1: OTHER}),
        ({n: secrets.token_bytes(32) for n in range(1, 18)}, 1, {1: OTHER}),
    ],
)
def test_a_ring_that_can_not_be_used_is_refused(
    sealing: dict[int, bytes], active: int, admission: dict[int, bytes]
) -> None:
    with pytest.raises(Refused) as refusal:
        KeyRing(sealing, active, admission, 1)
    assert refusal.value.code == "keys.invalid"


def test_a_key_for_something_else_is_another_one() -> None:
    ring = KeyRing({1: KEY}, 1, {1: OTHER}, 1)
    ring.require_apart([secrets.token_bytes(32)])
    for used in (KEY, OTHER):
        with pytest.raises(Refused) as refusal:
            ring.require_apart([used])
        assert (refusal.value.code, KEY.hex() in str(refusal.value)) == ("keys.invalid", False)


def test_an_unreadable_secret_is_refused_without_its_text() -> None:
    with pytest.raises(Refused) as refusal:
        KeyRing.from_secrets({1: b"not-a-key!"}, {1: new_secret()})
    assert "not-a-key" not in str(refusal.value)
    assert refusal.value.place == "sealing key 1"
