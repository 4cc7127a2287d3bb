"""Measuring: rounds in which every side runs every case, one after the other, in turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from temporalio.client import WorkflowHandle

from benchmarks.cases import RECORD_ID, Case
from benchmarks.processor import ProcessorTimes
from benchmarks.sides import Side

_RUN_SECONDS = 120.0
_HISTORIES = 3


@dataclass
class Round:
    """What one side did with one case in one round; durations in seconds.

    ``events`` and ``bytes`` are those of single histories, ``processor`` the CPU seconds that each
    group of processes spent on the loaded runs.
    """

    alone: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    loaded_seconds: float = 0.0
    events: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    processor: dict[str, float] = field(default_factory=dict)

    @property
    def throughput(self) -> float:
        """Loaded runs finished in a second."""
        return len(self.loaded) / self.loaded_seconds


class WrongOutput(Exception):
    """A run did not end as every run of its case must: the measurement is void."""


async def measure(side: Side, case: Case, concurrency: int, processor: ProcessorTimes) -> Round:
    """One round of one side: single runs first, then the load, then some histories."""
    result = Round()
    handles = []
    for prepared in await side.prepare(case, case.alone_runs):
        seconds, handle = await _one(side, case, prepared)
        result.alone.append(seconds)
        handles.append(handle)
    prepared_runs = await side.prepare(case, case.loaded_runs)
    before, begun = processor.read(), time.perf_counter()
    result.loaded = await _loaded(side, case, prepared_runs, concurrency)
    result.loaded_seconds = time.perf_counter() - begun
    result.processor = processor.since(before)
    for handle in handles[-_HISTORIES:]:
        events = [event.ByteSize() async for event in handle.fetch_history_events()]
        result.events.append(len(events))
        result.bytes.append(sum(events))
    return result


async def warm_up(side: Side, case: Case, concurrency: int) -> None:
    """Run a case until workers poll, caches are filled and connections are open."""
    prepared = await side.prepare(case, min(concurrency, case.loaded_runs))
    await _loaded(side, case, prepared, concurrency)


def in_turn(sides: Sequence[Any], number: int) -> Sequence[Any]:
    """The sides in the order of a round; six rounds are the six orders of three sides.

    A server still works on what the side before left behind, so none may always follow the same.
    """
    first = number // 2 % len(sides)
    turned = [*sides[first:], *sides[:first]]
    return turned[::-1] if number % 2 else turned


async def _loaded(
    side: Side, case: Case, prepared_runs: Sequence[Any], concurrency: int
) -> list[float]:
    """Keep ``concurrency`` runs open until all have finished."""
    durations: list[float] = []
    waiting: Iterator[Any] = iter(prepared_runs)

    async def keep_one_open() -> None:
        for prepared in waiting:
            seconds, _ = await _one(side, case, prepared)
            durations.append(seconds)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(keep_one_open())
    return durations


async def _one(side: Side, case: Case, prepared: Any) -> tuple[float, WorkflowHandle[Any, Any]]:
    begun = time.perf_counter()
    async with asyncio.timeout(_RUN_SECONDS):
        handle = await side.start(case, prepared)
        result = await handle.result()
    seconds = time.perf_counter() - begun
    output = side.output(result)
    if output != RECORD_ID if case.kind == "read" else not output.startswith("message-"):
        raise WrongOutput(f"{side.name} gave a wrong output in case {case.name}")
    return seconds, handle
