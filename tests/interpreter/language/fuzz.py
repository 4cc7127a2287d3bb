"""Compare the evaluator with the reference engine on random programs: a tool, not a test.

    python -m tests.interpreter.language.fuzz ENGINE [--seed N] [--count N] [--broken SHARE]

ENGINE is a program that speaks the line protocol of ``python -m interpreter.language``. Every
difference is printed with its seed; ``--keep FILE`` also writes the cases with the engine's answer.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any, TextIO

from interpreter.language.__main__ import answer
from tests.interpreter.language.generator import Generator

FIELDS = ("value", "type", "operations", "error", "line", "column")


BATCH = 250


def ask(engine: str, cases: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """The engine's answers, None for a case over which it broke down."""
    replies: list[dict[str, Any] | None] = []
    while len(replies) < len(cases):
        lines = "".join(json.dumps(case) + "\n" for case in cases[len(replies) :])
        done = subprocess.run(
            [engine], input=lines, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=False,
        )  # fmt: skip
        replies += [json.loads(line) for line in done.stdout.split("\n") if line]
        if len(replies) < len(cases):
            replies.append(None)
    return replies


def shown(reply: dict[str, Any]) -> str:
    """What has to be equal, as text that tells integers from floats."""
    kept = {name: reply[name] for name in FIELDS if name in reply}
    if kept.get("error") == "input":
        kept = {"error": "input"}
    return json.dumps(kept, sort_keys=True)


def make_case(seed: int, broken: float) -> dict[str, Any]:
    """The case of a seed."""
    generator = Generator(seed)
    make = generator.broken if generator.chance(broken) else generator.program
    source, arguments = make()
    return {"id": seed, "source": source, "function": "f", "arguments": arguments}


def main() -> int:
    """Compare; the exit status tells whether anything was different."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--broken", type=float, default=0.25)
    parser.add_argument("--show", type=int, default=10)
    parser.add_argument("--keep", type=argparse.FileType("w"))
    options = parser.parse_args()
    counts = {"compared": 0, "different": 0, "broke down": 0}
    kinds: dict[str, int] = {}
    end = options.seed + options.count
    for first in range(options.seed, end, BATCH):
        cases = [make_case(seed, options.broken) for seed in range(first, min(first + BATCH, end))]
        for case, expected in zip(cases, ask(options.engine, cases), strict=True):
            compare(case, expected, counts, kinds, options)
    sys.stdout.write(f"{counts} {kinds}\n")
    return 1 if counts["different"] else 0


def compare(
    case: dict[str, Any],
    expected: dict[str, Any] | None,
    counts: dict[str, int],
    kinds: dict[str, int],
    options: argparse.Namespace,
) -> None:
    """Compare the answers to one case."""
    try:
        got = answer(case)
    except Exception as error:  # a difference like any other, to be shown with its case
        got = {"error": f"{type(error).__name__}: {error}"}
    if expected is None:
        # The engine broke down; that the evaluator gives any answer is all that can be asked.
        counts["broke down"] += 1
        expected = got if "error" not in got or ":" not in got["error"] else {"error": "none"}
    else:
        counts["compared"] += 1
    kind = expected.get("error", "value")
    kinds[kind] = kinds.get(kind, 0) + 1
    if shown(expected) == shown(got):
        return
    counts["different"] += 1
    if counts["different"] <= options.show:
        sys.stdout.write(
            f"seed {case['id']}\n{case['source']}\n{json.dumps(case['arguments'])}\n"
            f"  engine {json.dumps(expected)}\n  ours   {json.dumps(got)}\n"
        )
    keep: TextIO | None = options.keep
    if keep is not None:
        kept = {name: value for name, value in expected.items() if name not in ("id", "text")}
        keep.write(json.dumps({**case, "expect": kept}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
