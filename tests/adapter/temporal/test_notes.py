"""Foreign payloads are written down, but not at the price of a task."""

from __future__ import annotations

import asyncio

import pytest

from adapter.temporal.notes import MOST_OF_A_RUN, Notes
from adapter.temporal.refusals import Reason
from tests.adapter.temporal.test_codec import AWAY, OTHER, RUN, clear
from tests.fixtures.vault import MemoryVault

UNKNOWN = "0b9d5a0e-0000-8000-8000-00000000000f"


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


@pytest.fixture
def memory() -> MemoryVault:
    """Two admitted runs."""
    made = MemoryVault()
    made.admit(RUN)
    made.admit(OTHER)
    return made


async def noted(notes: Notes, run_id: str, number: int) -> None:
    """Meet a foreign payload of its own."""
    await notes.note(run_id, clear(str(number).encode()), Reason.CLEAR)


async def test_of_a_flood_the_first_are_written_down(memory: MemoryVault) -> None:
    notes = Notes(memory.vault())
    for number in range(100):
        await noted(notes, RUN, number)
    await noted(notes, OTHER, 1)
    assert len(memory.notes) == MOST_OF_A_RUN + 1


async def test_an_outage_is_waited_for_once_and_noting_goes_on_after_it(
    memory: MemoryVault,
) -> None:
    clock = Clock()
    notes = Notes(memory.vault(), clock)
    memory.away = AWAY
    await noted(notes, RUN, 1)
    memory.away = None
    await noted(notes, RUN, 2)
    assert memory.notes == []
    clock.now += 11
    await noted(notes, RUN, 1)
    assert len(memory.notes) == 1


async def test_a_ledger_that_hangs_keeps_a_task_waiting_for_seconds_only(
    memory: MemoryVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr("adapter.temporal.notes._NOTING_SECONDS", 0.05)
    monkeypatch.setattr(memory, "note", hang)
    notes = Notes(memory.vault(), Clock())
    async with asyncio.timeout(1):
        for number in range(50):
            await noted(notes, RUN, number)


async def test_a_strangers_execution_keeps_nobody_from_noting(memory: MemoryVault) -> None:
    notes = Notes(memory.vault(), Clock())
    await noted(notes, UNKNOWN, 1)
    await noted(notes, RUN, 1)
    assert len(memory.notes) == 1
