"""Data keys of runs: wrapped for one run alone, readable across rotations, and gone when erased."""

from __future__ import annotations

import pytest

from adapter.crypto import KeyRing, RunKeyWrapping, RunSealer, SealError, new_data_key

RING = KeyRing.generate()
NEWER = KeyRing({**RING.versions, 2: b"k" * 32}, 2, RING.admission, 1)
WRAPPING = RunKeyWrapping(RING, "test")


def test_a_wrapped_key_comes_back_for_its_run() -> None:
    key = new_data_key()
    assert WRAPPING.unwrap(WRAPPING.wrap(key, "run-1"), "run-1") == key


def test_a_wrapped_key_opens_for_no_other_run_or_deployment() -> None:
    wrapped = WRAPPING.wrap(new_data_key(), "run-1")
    for other, run_id in ((WRAPPING, "run-2"), (RunKeyWrapping(RING, "other"), "run-1")):
        with pytest.raises(SealError) as refusal:
            other.unwrap(wrapped, run_id)
        assert refusal.value.code == "seal.not-authentic"


def test_no_byte_of_a_wrapped_key_can_be_changed_or_left_out() -> None:
    wrapped = WRAPPING.wrap(new_data_key(), "run-1")
    for position in range(len(wrapped)):
        changed = bytearray(wrapped)
        changed[position] ^= 1
        for forged in (bytes(changed), wrapped[:position]):
            with pytest.raises(SealError):
                WRAPPING.unwrap(forged, "run-1")


def test_a_key_that_was_wrapped_before_a_rotation_opens_after_it() -> None:
    key = new_data_key()
    after = RunKeyWrapping(NEWER, "test")
    assert after.unwrap(WRAPPING.wrap(key, "run-1"), "run-1") == key
    with pytest.raises(SealError) as refusal:
        WRAPPING.unwrap(after.wrap(key, "run-1"), "run-1")
    assert refusal.value.code == "seal.key-missing"
    assert "version 2" in str(refusal.value)


def test_swapped_keys_open_nothing() -> None:
    wrapped = RunKeyWrapping(NEWER, "test").wrap(new_data_key(), "run-1")
    swapped = KeyRing({1: b"k" * 32, 2: RING.versions[1]}, 2, RING.admission, 1)
    with pytest.raises(SealError) as refusal:
        RunKeyWrapping(swapped, "test").unwrap(wrapped, "run-1")
    assert refusal.value.code == "seal.not-authentic"


def test_a_digest_is_the_run_s_own_and_the_purpose_s() -> None:
    sealer, key = WRAPPING.sealer(WRAPPING.wrap(b"d" * 32, "run-1"), "run-1"), b"d" * 32
    digest = sealer.digest("payload", b"data")
    assert len(digest) == 64
    assert digest == RunSealer(key, "test", "run-1").digest("payload", b"data")
    others = (
        sealer.digest("other", b"data"),
        sealer.digest("payload", b"datb"),
        RunSealer(key, "test", "run-2").digest("payload", b"data"),
        RunSealer(new_data_key(), "test", "run-1").digest("payload", b"data"),
    )
    assert digest not in others


def test_a_destroyed_key_is_said_by_every_verb() -> None:
    sealed = RunSealer(new_data_key(), "test", "run-1").seal(1, "input")
    erased = WRAPPING.sealer(None, "run-1")
    verbs = (
        lambda: erased.seal(1, "input"),
        lambda: erased.open(sealed, "input"),
        lambda: erased.digest("payload", b"data"),
        erased.require_key,
    )
    for verb in verbs:
        with pytest.raises(SealError) as refusal:
            verb()
        assert refusal.value.code == "seal.erased"
