"""What sealing costs: values of several sizes under a run's key, and a run's key itself.

``python -m benchmarks.sealing [--rounds 30] [--format json]``. Times are CPU time of this process,
so that a busy machine changes them little; the best round counts.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from adapter.crypto import KeyRing, RunKeyWrapping, RunSealer, new_data_key

_RUN = "00000000-0000-8000-8000-000000000000"
_PLACE = ("reply", "main/send:1")
_WORDS = "the review of the application was granted on the day after it had been asked for".split()
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured thing in microseconds at best, and what it aims at."""

    name: str
    best: float
    aim: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Its part of the report."""
        met = None if self.aim is None else self.best <= self.aim
        return {"microseconds": round(self.best, 1), "aim": self.aim, "met": met}


def measured(work: Callable[[], object], rounds: int, turns: int) -> float:
    """Microseconds of one turn in the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time_ns()
        for _ in range(turns):
            work()
        best = min(best, (time.process_time_ns() - began) / turns / 1_000)
    return best


def text_of(size: int) -> bytes:
    """Words of a language, which compress as payloads do."""
    source = random.Random(1)
    words = " ".join(source.choice(_WORDS) for _ in range(size // 3))
    return words.encode()[:size]


def figures(rounds: int) -> list[Figure]:
    """Everything that is measured."""
    sealer = RunSealer(new_data_key(), "benchmark", _RUN)
    found = []
    for name, size, aim in (
        ("200 bytes", 200, 50.0),
        ("4 KiB", 4_096, None),
        ("64 KiB", 65_536, None),
        ("256 KiB", 262_144, None),
        ("1 MB", _MEGABYTE, 3_000.0),
    ):
        plain, turns = text_of(size), 2_000 if size < 10_000 else 10
        sealing = measured(partial(sealer.seal_bytes, plain, *_PLACE), rounds, turns)
        sealed = sealer.seal_bytes(plain, *_PLACE)
        opening = measured(partial(sealer.open_bytes, sealed, *_PLACE), rounds, turns)
        found += [Figure(f"seal {name}", sealing, aim), Figure(f"open {name}", opening, aim)]
    digest = partial(sealer.digest, "payload", text_of(_MEGABYTE))
    return [*found, Figure("digest of 1 MB", measured(digest, rounds, 10)), *_keys(rounds)]


def _keys(rounds: int) -> list[Figure]:
    wrapping = RunKeyWrapping(KeyRing.generate(), "benchmark")
    wrapped = wrapping.wrap(new_data_key(), _RUN)
    small = wrapping.sealer(wrapped, _RUN).seal_bytes(b"small", *_PLACE)

    def first_use() -> bytes:
        return wrapping.sealer(wrapped, _RUN).open_bytes(small, *_PLACE)

    def admitted() -> bytes:
        return wrapping.wrap(new_data_key(), _RUN)

    return [
        Figure("a new data key, wrapped", measured(admitted, rounds, 1_000)),
        Figure("a data key unwrapped, first value opened", measured(first_use, rounds, 1_000)),
    ]


def main() -> int:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description="What sealing costs.")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args()
    found = figures(options.rounds)
    if options.format == "json":
        print(json.dumps({figure.name: figure.to_json() for figure in found}, indent=2))
        return 0
    for figure in found:
        aim = "" if figure.aim is None else f"  (aim: below {figure.aim:.0f})"
        print(f"{figure.name:<50} {figure.best:>10.1f} µs{aim}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
