"""Sealed values open in their own place only, and every failure is one clear refusal."""

from __future__ import annotations

import random

import pytest

from adapter.crypto import KeyRing, RunSealer, Sealer, SealError, new_data_key

RING = KeyRing.generate()
SEALER = Sealer(RING, "test")
DATA_KEY = new_data_key()
RUN = RunSealer(DATA_KEY, "test", "run-1")
PLACE = ("reply", "main/send:1")
BOTH = pytest.mark.parametrize("sealer", [SEALER, RUN], ids=["deployment", "run"])


@BOTH
@pytest.mark.parametrize(
    "value", [None, 0, "é\ud800", {"a": [1, 2.5, True]}, "x" * 5_000, ["y" * 200_000]]
)
def test_a_value_comes_back_as_it_was(sealer: Sealer | RunSealer, value: object) -> None:
    assert sealer.open(sealer.seal(value, *PLACE), *PLACE) == value


@BOTH
@pytest.mark.parametrize(
    "place",
    [("command", "main/send:1"), ("reply", "main/send:2"), ("replymain", "/send:1"), ("reply", "")],
)
def test_a_value_moved_to_another_place_does_not_open(
    sealer: Sealer | RunSealer, place: tuple[str, str]
) -> None:
    with pytest.raises(SealError) as refusal:
        sealer.open(sealer.seal("secret", *PLACE), *place)
    assert refusal.value.code == "seal.not-authentic"


@pytest.mark.parametrize(
    "other",
    [
        RunSealer(DATA_KEY, "other", "run-1"),
        RunSealer(DATA_KEY, "test", "run-2"),
        RunSealer(new_data_key(), "test", "run-1"),
    ],
    ids=["deployment", "run", "key"],
)
def test_a_value_of_a_run_opens_for_no_other(other: RunSealer) -> None:
    with pytest.raises(SealError) as refusal:
        other.open(RUN.seal("secret", *PLACE), *PLACE)
    assert refusal.value.code == "seal.not-authentic"


def test_a_value_of_another_deployment_does_not_open() -> None:
    with pytest.raises(SealError, match="not-authentic"):
        Sealer(RING, "other").open(SEALER.seal("secret", *PLACE), *PLACE)


@BOTH
def test_no_byte_of_an_envelope_can_be_changed_or_left_out(sealer: Sealer | RunSealer) -> None:
    sealed = sealer.seal({"secret": "x" * 2_000}, *PLACE)
    for position in range(len(sealed)):
        for bit in (1, 128):
            changed = bytearray(sealed)
            changed[position] ^= bit
            with pytest.raises(SealError):
                sealer.open(bytes(changed), *PLACE)
        with pytest.raises(SealError):
            sealer.open(sealed[:position], *PLACE)
    with pytest.raises(SealError):
        sealer.open(sealed + b"\0", *PLACE)


@BOTH
@pytest.mark.parametrize("bytes_", [b"", b"{}", b"\x01" * 33, b"\x02" * 64])
def test_bytes_that_were_never_sealed_are_refused(
    sealer: Sealer | RunSealer, bytes_: bytes
) -> None:
    with pytest.raises(SealError):
        sealer.open(bytes_, *PLACE)


def test_a_value_under_one_kind_of_key_is_none_of_the_other_kind() -> None:
    for sealed, sealer in ((SEALER.seal(1, *PLACE), RUN), (RUN.seal(1, *PLACE), SEALER)):
        with pytest.raises(SealError) as refusal:
            sealer.open(sealed, *PLACE)
        assert refusal.value.code == "seal.malformed"


def test_older_versions_stay_readable_and_a_missing_one_is_named() -> None:
    newer = KeyRing({**RING.versions, 2: b"k" * 32}, 2, RING.admission, 1)
    sealed = Sealer(newer, "test").seal("new", *PLACE)
    assert Sealer(newer, "test").open(SEALER.seal("old", *PLACE), *PLACE) == "old"
    with pytest.raises(SealError, match="version 2 is missing"):
        SEALER.open(sealed, *PLACE)


@BOTH
def test_equal_values_have_different_envelopes(sealer: Sealer | RunSealer) -> None:
    assert sealer.seal("same", *PLACE) != sealer.seal("same", *PLACE)


def test_repetitive_values_are_stored_small_and_random_ones_never_larger() -> None:
    assert len(RUN.seal("word " * 2_000, *PLACE)) < 500
    noise = random.Random(1).randbytes(4_000)
    assert len(RUN.seal_bytes(noise, *PLACE)) == len(noise) + 30


def test_a_value_over_the_limit_is_refused() -> None:
    with pytest.raises(SealError) as refusal:
        RUN.seal_bytes(b"x" * (16 * 1_048_576 + 1), *PLACE)
    assert refusal.value.code == "seal.too-large"


def test_a_mark_tells_a_key_by_its_version_and_deployment() -> None:
    marks = SEALER.marks()
    assert marks == Sealer(RING, "test").marks()
    assert marks != Sealer(RING, "other").marks()
    assert set(marks) == {1}


def test_no_secret_is_in_a_message_or_a_representation() -> None:
    assert "k" * 8 not in repr(KeyRing({1: b"k" * 32}, 1, {1: b"a" * 32}, 1))
