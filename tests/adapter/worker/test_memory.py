"""The collector of cycles in a worker: rarer, and away from what was loaded at the start."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from adapter.worker import spare_collections


class Cycle:
    """Something that only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as it was, afterwards."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_what_was_loaded_is_never_walked_through_again() -> None:
    spare_collections()
    assert gc.get_freeze_count() > 1_000


def test_cycles_are_still_freed() -> None:
    spare_collections()
    for _ in range(200_000):
        Cycle()
    left = sum(isinstance(found, Cycle) for found in gc.get_objects())
    assert left < 50_000
