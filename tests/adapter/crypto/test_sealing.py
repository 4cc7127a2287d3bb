"""Sealed values open in their own place only, and every failure is one clear refusal."""

from __future__ import annotations

import pytest

from adapter.crypto import KeyRing, Sealer, SealError

RING = KeyRing.generate()
SEALER = Sealer(RING, "test")
PLACE = ("run-1", "reply", "main/send:1")


@pytest.mark.parametrize(
    "value", [None, 0, "é\ud800", {"a": [1, 2.5, True]}, "x" * 5_000, ["y" * 200_000]]
)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    assert SEALER.open(SEALER.seal(value, *PLACE), *PLACE) == value


@pytest.mark.parametrize(
    "place",
    [
        ("run-2", "reply", "main/send:1"),
        ("run-1", "command", "main/send:1"),
        ("run-1", "reply", "main/send:2"),
        ("run-1", "replymain", "/send:1"),
    ],
)
def test_a_value_moved_to_another_place_does_not_open(place: tuple[str, str, str]) -> None:
    with pytest.raises(SealError) as refusal:
        SEALER.open(SEALER.seal("secret", *PLACE), *place)
    assert refusal.value.code == "seal.not-authentic"


def test_a_value_of_another_deployment_does_not_open() -> None:
    with pytest.raises(SealError, match="not-authentic"):
        Sealer(RING, "other").open(SEALER.seal("secret", *PLACE), *PLACE)


def test_no_byte_of_an_envelope_can_be_changed() -> None:
    sealed = SEALER.seal({"secret": "x" * 2_000}, *PLACE)
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        with pytest.raises(SealError):
            SEALER.open(bytes(changed), *PLACE)


@pytest.mark.parametrize("bytes_", [b"", b"{}", b"\x01" * 33, b"\x02" * 64])
def test_bytes_that_were_never_sealed_are_refused(bytes_: bytes) -> None:
    with pytest.raises(SealError):
        SEALER.open(bytes_, *PLACE)


def test_older_versions_stay_readable_and_a_missing_one_is_named() -> None:
    newer = KeyRing({**RING.versions, 2: b"k" * 32}, 2, RING.admission, 1)
    sealed = Sealer(newer, "test").seal("new", *PLACE)
    assert Sealer(newer, "test").open(SEALER.seal("old", *PLACE), *PLACE) == "old"
    with pytest.raises(SealError, match="version 2 is missing"):
        SEALER.open(sealed, *PLACE)


def test_equal_values_have_different_envelopes() -> None:
    assert SEALER.seal("same", *PLACE) != SEALER.seal("same", *PLACE)


def test_repetitive_values_are_stored_small() -> None:
    assert len(SEALER.seal("word " * 2_000, *PLACE)) < 500


def test_a_value_over_the_limit_is_refused() -> None:
    with pytest.raises(SealError) as refusal:
        SEALER.seal_bytes(b"x" * (16 * 1_048_576 + 1), *PLACE)
    assert refusal.value.code == "seal.too-large"


def test_no_secret_is_in_a_message_or_a_representation() -> None:
    assert "k" * 8 not in repr(KeyRing({1: b"k" * 32}, 1, {1: b"a" * 32}, 1))
