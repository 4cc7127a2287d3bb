"""Keyed commitments: stable, distinct, and of no use without the key."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

from adapter.crypto import Keyed, KeyRing
from interpreter.contract.effects import VisitRef

RING = KeyRing.generate()
KEYED = Keyed(RING, "test")
EFFECT = VisitRef("run-1", "main", "send", 1)


def test_a_start_identity_depends_on_every_part_and_on_their_borders() -> None:
    starts = [
        ("ab", "c", "w", "k", 0),
        ("a", "bc", "w", "k", 0),
        ("a", "b", "cw", "k", 0),
        ("ab", "c", "w", "k", 1),
        ("ab", "c", "w", "k2", 0),
    ]
    identities = {KEYED.start_identity(*start) for start in starts}
    assert len(identities) == len(starts)


def test_the_run_id_is_a_uuid_that_its_start_identity_gives_again() -> None:
    identity = KEYED.start_identity("owner", "scope", "workflow", "key")
    run_id = KEYED.run_id(identity)
    assert run_id == Keyed(RING, "test").run_id(identity)
    assert UUID(run_id).version == 8


def test_a_product_key_is_the_same_on_every_attempt_and_another_for_every_effect() -> None:
    others = [
        replace(EFFECT, run_id="run-2"),
        replace(EFFECT, branch="main/b"),
        replace(EFFECT, node="sent"),
        replace(EFFECT, visit=2),
    ]
    key = KEYED.product_key(EFFECT, 1)
    assert re.fullmatch("[0-9a-f]{64}", key)
    assert key == KEYED.product_key(EFFECT, 1)
    assert key not in {KEYED.product_key(other, 1) for other in others}


def test_a_run_keeps_its_product_keys_and_identity_when_the_admission_key_is_rotated() -> None:
    rotated = KeyRing(RING.versions, 1, {**RING.admission, 2: b"n" * 32}, 2)
    after = Keyed(rotated, "test")
    start = ("owner", "scope", "workflow", "key")
    assert after.product_key_version == 2
    assert after.product_key(EFFECT, 1) == KEYED.product_key(EFFECT, 1)
    assert after.product_key(EFFECT, 2) != KEYED.product_key(EFFECT, 1)
    assert after.start_identity(*start) == KEYED.start_identity(*start)


def test_equal_inputs_of_two_runs_have_different_digests() -> None:
    assert KEYED.input_digest("one", {"a": 1, "b": 2}) == KEYED.input_digest(
        "one", {"b": 2, "a": 1}
    )
    assert KEYED.input_digest("one", {"a": 1}) != KEYED.input_digest("two", {"a": 1})


def test_another_deployment_or_key_gives_other_commitments() -> None:
    assert Keyed(RING, "other").custody() != KEYED.custody()
    assert Keyed(KeyRing.generate(), "test").owner("i", "s") != KEYED.owner("i", "s")
