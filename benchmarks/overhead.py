"""The benchmark: this interpreter against hand-written Temporal workflows, on the same servers.

    python -m benchmarks.overhead --rounds 6 --cases reads,effects --format json

See docs/performance.md for what is compared, and how to read the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from temporalio.client import Client

from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.sealing import codec_of
from benchmarks.admission import RUNS as ADMITTED_RUNS
from benchmarks.admission import Admissions, measure_admission
from benchmarks.cases import CASES, Case
from benchmarks.deployment import Access, prepare
from benchmarks.ground import Ground, own_ground
from benchmarks.processor import ProcessorTimes
from benchmarks.ratios import case_ratios, table
from benchmarks.rounds import Round, in_turn, measure, warm_up
from benchmarks.sides import Interpreted, Ledgered, Plain, Side
from benchmarks.unsealed import connect_unsealed
from benchmarks.worker import QUEUES

ADMISSION = "admission"
NAMES = [*CASES, ADMISSION]


async def sides_on(ground: Ground, access: Access, stack: AsyncExitStack) -> dict[str, Side]:
    """Every side over the ground's servers, by name."""
    ledger = await stack.enter_async_context(access.ledger())
    temporal = ground.temporal_address
    ours = await connect(TemporalAddress(temporal), codec_of(ledger))
    others = await Client.connect(temporal)
    clear = await connect_unsealed(temporal)
    sides: list[Side] = [
        Interpreted(ours, QUEUES["interpreter"], ledger),
        Plain(others, QUEUES["plain"]),
        Ledgered(others, QUEUES["ledgered"], ledger),
        Interpreted(clear, QUEUES["unsealed"], ledger, "unsealed"),
    ]
    return {side.name: side for side in sides}


async def compare(
    ground: Ground, cases: Sequence[Case], rounds: int, concurrency: int, workers: int
) -> dict[str, dict[str, list[Round]]]:
    """Every round of every case and side, on servers that run already."""
    ledger = await ground.database("benchmark")
    access = Access.to(ledger.service)
    await prepare(access, ledger.owner, cases)
    compared = {case.name: ("interpreter", *case.opponents) for case in cases}
    for name in sorted({name for names in compared.values() for name in names}):
        for _ in range(workers):
            arguments = [name, ground.temporal_address, QUEUES[name], ground.product_url]
            await ground.spawn(name, ["benchmarks.worker", *arguments], access.environment())
    processor = ProcessorTimes(ground.process_ids())
    measured: dict[str, dict[str, list[Round]]] = {
        case.name: {name: [] for name in compared[case.name]} for case in cases
    }
    async with AsyncExitStack() as stack:
        every = await sides_on(ground, access, stack)
        for case in cases:
            sides = [every[name] for name in compared[case.name]]
            for side in sides:
                await warm_up(side, case, concurrency)
            for number in range(rounds):
                for side in in_turn(sides, number):
                    one = await measure(side, case, concurrency, processor)
                    measured[case.name][side.name].append(one)
                    _tell(f"{case.name} {number + 1}/{rounds} {side.name}: {one.throughput:.1f}/s")
    return measured


async def run(options: argparse.Namespace) -> None:
    """Start the servers, measure, print."""
    chosen = [CASES[name] for name in options.cases if name != ADMISSION]
    cases = [case.of_size(options.runs) if options.runs else case for case in chosen]
    with tempfile.TemporaryDirectory(prefix="coordinator-benchmark-") as folder:
        async with own_ground(Path(folder)) as ground:
            measured, admissions = await _measured(ground, cases, options)
    if options.format == "text":
        tables = [table(case, measured[case.name]) for case in cases]
        print("\n".join(tables + ([admissions.table()] if admissions else [])))
        return
    report = {case.name: case_ratios(case, measured[case.name]) for case in cases}
    print(json.dumps({**report, **({ADMISSION: admissions.to_json()} if admissions else {})}))


async def _measured(
    ground: Ground, cases: Sequence[Case], options: argparse.Namespace
) -> tuple[dict[str, dict[str, list[Round]]], Admissions | None]:
    measured: dict[str, dict[str, list[Round]]] = {}
    admissions = None
    if cases:
        measured = await compare(
            ground, cases, options.rounds, options.concurrency, options.workers
        )
    if ADMISSION in options.cases:
        runs = options.runs or ADMITTED_RUNS
        admissions = await measure_admission(ground, options.rounds, runs, options.concurrency)
    return measured, admissions


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(
                f"there is no case {name!r}; choose from {', '.join(NAMES)}"
            )
    return names


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 upwards")
    return int(text)


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line asks for; it ends the process with 2 for what it can not mean."""
    parser = argparse.ArgumentParser(prog="benchmarks.overhead", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rounds", type=_positive, default=6, help="rounds of every case")
    parser.add_argument("--cases", type=_names, default=NAMES, help=f"among {','.join(NAMES)}")
    parser.add_argument(
        "--concurrency", type=_positive, default=50, help="runs open at once under load"
    )
    parser.add_argument(
        "--runs", type=_positive, help="loaded runs of a round, instead of each case's own number"
    )
    parser.add_argument(
        "--workers",
        type=_positive,
        default=os.cpu_count() or 1,
        help="worker processes of each side; as many as there are cores",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the benchmark that the command line asks for."""
    asyncio.run(run(options_of()))


if __name__ == "__main__":
    main()
