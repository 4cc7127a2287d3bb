"""Loads many mutated projects: ``python -m tests.adapter.authoring.fuzz 20000 [first seed]``.

Stops at the first result that breaks a promise and prints its seed; prints the slowest one.
"""

from __future__ import annotations

import copy
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.adapter.authoring.mutations import FUNCTIONS, example, mutated, places, sound
from tests.adapter.authoring.projects import load, v1alpha1

_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**60, 1.5, "", "/", "x", "call", "review", [], {}, ["a"]),
    {"input": ""},
    {"step": "review"},
    {"literal": [1, {"a": None}]},
    {"type": "call"},
    {"$ref": "#"},
    {"anyOf": [{"type": "string"}, {"$ref": "#/anyOf"}]},
    {"properties": {"a": {"type": ["string", "null"]}}},
    {"enum": []},
    {"first": [{"step": "result"}, {"step": "late-review"}]},
    {"function": "decision_of", "arguments": []},
    {"list": [{"context": "/runId"}]},
)


def one(folder: Path, seed: int) -> float:
    """Load one mutated project; gives the seconds of processor time it took."""
    chance = random.Random(seed)
    document = example() if chance.random() < 0.6 else v1alpha1()
    for _ in range(chance.randint(1, 4)):
        document = mutated(document, chance, copy.deepcopy(chance.choice(_VALUES)))
        if not places(document):
            break
    begun = time.process_time()
    sound(load(folder, document, FUNCTIONS + "fn same(value) { value }\n"))
    return time.process_time() - begun


def main() -> None:
    """Run as many cases as the first argument says."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    slowest = (0.0, first)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                slowest = max(slowest, (one(Path(folder), seed), seed))
            except BaseException:
                sys.stderr.write(f"seed {seed}\n")
                raise
    sys.stdout.write(f"{count} projects, the slowest took {slowest[0]:.3f} s (seed {slowest[1]})\n")


if __name__ == "__main__":
    main()
