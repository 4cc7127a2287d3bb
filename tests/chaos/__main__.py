"""The command ``python -m tests.chaos``: runs amid trouble, and what is true afterwards."""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.ordeal import Plan, undergo

_RUNS = 300
_RUNS_PER_STROKE = 5
_FEWEST_STROKES = 4


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=_RUNS, help=f"default {_RUNS}")
    parser.add_argument("--seed", type=int, help="another one each time, if not given")
    parser.add_argument("--faults", type=int, help="times that a process dies or freezes")
    parser.add_argument("--patience", type=float, help="seconds after which it is given up")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run; 0 when nothing was lost, doubled or wrongly told, else 1."""
    asked = _arguments()
    seed = random.SystemRandom().randrange(1_000_000) if asked.seed is None else asked.seed
    strokes = asked.faults or max(_FEWEST_STROKES, asked.runs // _RUNS_PER_STROKE)
    patience = asked.patience or 240.0 + 8.0 * strokes + asked.runs
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="coordinator-chaos-"))
    verdict = asyncio.run(undergo(folder, Plan(asked.runs, strokes, seed, patience, _say)))
    for complaint in verdict.complaints:
        _say(complaint)
    if verdict.good:
        shutil.rmtree(folder)
    else:
        _say(f"logs are kept in {folder}; repeat with --seed {seed}")
    _say(f"{time.monotonic() - began:.0f} s")
    _say(verdict.line)
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
