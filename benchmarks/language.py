"""How fast the language is: check, compile, a mapping, functions, scenarios, and the help.

``python -m benchmarks.language [--format json]``. Times are CPU time of this process, or of the
child for the help, so that a busy machine changes them little. The best round counts: whatever
else a machine does only makes a round longer.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from activities.catalogue import Catalogue
from adapter.authoring import ProjectResult, load_project
from adapter.authoring.scenarios import read_suite, run_suite
from benchmarks.language_project import FUNCTIONS, write_project
from interpreter import language
from interpreter.definition.document import PackagedDefinition
from interpreter.definition.nodes import CallNode
from interpreter.machine import prepare
from interpreter.machine.mappings import Evaluation
from interpreter.machine.state import RunFacts

STEPS = 64
OPERATIONS = 100_000
CASES = 1_000
_EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "reviewed-notice"
_MAPPINGS = 1_000
_WORKING = """
fn share(part, whole) { if whole == 0 { 0 } else { part * 100 / whole } }
fn work(turns) {
    let rows = [];
    let total = 0;
    for turn in 0..turns {
        let row = #{ name: `row ${turn % 7}`, amount: turn % 13 };
        if row.amount > 6 && row.name != "row 3" { total += row.amount; }
        if turn % 50 == 0 { rows.push(share(row.amount, total)); }
    }
    rows.len()
}
"""
_TURNS = 2_000


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured thing, at best and in the middle of its rounds, and what it aims at."""

    name: str
    unit: str
    best: float
    median: float
    aim: float | None = None
    more_is_better: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the aim is met, None without one."""
        if self.aim is None:
            return None
        return self.best >= self.aim if self.more_is_better else self.best <= self.aim

    def to_json(self) -> dict[str, Any]:
        """Its part of the report."""
        return {
            "unit": self.unit,
            "best": round(self.best, 3),
            "median": round(self.median, 3),
            "aim": self.aim,
            "met": self.met,
        }


def measure(rounds: int) -> list[Figure]:
    """Every figure, each from so many rounds (a few of the long ones)."""
    with tempfile.TemporaryDirectory() as folder:
        project = write_project(Path(folder), STEPS)
        return [
            *_checks(project, rounds),
            _compile(rounds),
            _mapping(rounds),
            _operations(rounds),
            *_scenarios(max(rounds // 3, 1)),
            _help(rounds),
        ]


def _checks(project: Path, rounds: int) -> list[Figure]:
    """The first check of a process fills caches; what an editor waits for are the others."""
    catalogue = Catalogue.standard()

    def check() -> ProjectResult:
        result = load_project(project, catalogue)
        assert result.definition is not None, result.diagnostics
        return result

    first = _times(check, 1)
    again = _times(check, rounds)
    return [
        _figure(f"first check of a {STEPS}-step project", "ms", first, 1e3),
        _figure(f"check of a {STEPS}-step project", "ms", again, 1e3, 60.0),
    ]


def _compile(rounds: int) -> Figure:
    times = _times(lambda: language.compile_source(FUNCTIONS), rounds)
    return _figure("compile its functions", "ms", times, 1e3)


def _mapping(rounds: int) -> Figure:
    """The input of the example's review: literals, a function over a record, the run's id."""
    definition = _example().definition
    node = definition.nodes["review"]
    assert isinstance(node, CallNode)
    case = yaml.safe_load((_EXAMPLE / "scenarios.yaml").read_text())["cases"][0]
    outputs = {"application": case["replies"]["application"][0]["value"]}
    at = "2026-03-02T08:00:00Z"
    facts = RunFacts("r", definition.id, "1", case["input"], at, at, 0)
    program = prepare(definition)

    def mappings() -> None:
        for _ in range(_MAPPINGS):
            Evaluation(program, facts, outputs, "review").value(node.input)

    return _figure("one mapping", "µs", _times(mappings, rounds), 1e6 / _MAPPINGS, 30.0)


def _operations(rounds: int) -> Figure:
    program = language.compile_source(_WORKING)
    counted = program.evaluate("work", [_TURNS]).operations
    times = _times(lambda: program.evaluate("work", [_TURNS]), rounds)
    return _figure(f"{OPERATIONS:,} operations", "s", times, OPERATIONS / counted, 0.15)


def _scenarios(rounds: int) -> list[Figure]:
    """The cases of the example, again and again under other names."""
    packaged = _example()
    document = yaml.safe_load((_EXAMPLE / "scenarios.yaml").read_text())
    known = document["cases"]
    document["cases"] = [
        {**known[number % len(known)], "id": f"case-{number}"} for number in range(CASES)
    ]
    data = json.dumps(document).encode()
    reading: list[Any] = []
    times = _times(
        lambda: reading.append(read_suite(data, "scenarios.yaml", packaged.definition)), 1
    )
    suite = reading[0].suite
    assert suite is not None, reading[0].diagnostics

    def play() -> None:
        result = run_suite(packaged, suite)
        assert result.passed, result.findings[:3]

    played = _times(play, rounds)
    rates = [CASES / seconds for seconds in played]
    return [
        _figure(f"read {CASES:,} scenarios", "s", times),
        Figure("scenarios played", "a second", max(rates), statistics.median(rates), 500.0, True),
    ]


def _help(rounds: int) -> Figure:
    line = [sys.executable, "-m", "adapter.cli.main", "--help"]

    def ask() -> None:
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)

    return _figure("coordinatorctl --help", "s", _times(ask, rounds, _children_seconds), 1.0, 0.2)


def _example() -> PackagedDefinition:
    packaged = load_project(_EXAMPLE, Catalogue.standard()).definition
    assert packaged is not None
    return packaged


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _times(
    work: Callable[[], object], rounds: int, clock: Callable[[], float] = time.process_time
) -> list[float]:
    found = []
    for _ in range(rounds):
        gc.collect()
        began = clock()
        work()
        found.append(clock() - began)
    return found


def _figure(
    name: str, unit: str, seconds: list[float], factor: float = 1.0, aim: float | None = None
) -> Figure:
    return Figure(name, unit, min(seconds) * factor, statistics.median(seconds) * factor, aim)


def _line(figure: Figure) -> str:
    aim = "" if figure.aim is None else f"aim {figure.aim:g}"
    met = {None: "", True: "met", False: "missed"}[figure.met]
    return (
        f"{figure.name:<32} {figure.best:>9.3f} {figure.unit:<9} "
        f"median {figure.median:>9.3f}  {aim:<9} {met}"
    ).rstrip()


def main() -> int:
    """Measure and report; 0 whether or not the aims are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each figure")
    given = parser.parse_args()
    figures = measure(max(given.rounds, 1))
    for figure in figures:
        print(_line(figure), file=sys.stdout if given.format == "text" else sys.stderr)
    if given.format == "json":
        print(json.dumps({figure.name: figure.to_json() for figure in figures}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
