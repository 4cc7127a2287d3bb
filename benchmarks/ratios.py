"""From rounds to ratios: ours over each opponent's, and how both are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.cases import Case
from benchmarks.percentiles import p99
from benchmarks.rounds import Round

Rounds = Mapping[str, Sequence[Round]]
"""The rounds of one case by side."""

OURS = "interpreter"
MEASURES = (
    "throughput",
    "latency_alone",
    "latency_alone_p99",
    "latency_loaded",
    "latency_loaded_p99",
    "events",
    "bytes",
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a side reached in one case: runs per second, seconds, events and bytes of a history."""

    throughput: float
    latency_alone: float
    latency_alone_p99: float
    latency_loaded: float
    latency_loaded_p99: float
    events: float
    bytes: float


def figures(rounds: Sequence[Round]) -> Figures:
    """The median over rounds; a 99th percentile is one of all rounds together."""
    return Figures(
        throughput=median(one.throughput for one in rounds),
        latency_alone=median(median(one.alone) for one in rounds),
        latency_alone_p99=p99([seconds for one in rounds for seconds in one.alone]),
        latency_loaded=median(median(one.loaded) for one in rounds),
        latency_loaded_p99=p99([seconds for one in rounds for seconds in one.loaded]),
        events=median(events for one in rounds for events in one.events),
        bytes=median(size for one in rounds for size in one.bytes),
    )


def ratios(rounds: Rounds, opponent: str) -> dict[str, float]:
    """Ours over an opponent's, by measure.

    Throughput and median latency are compared within each round, where both met the same machine,
    and the median of those ratios is given.
    """
    pairs = list(zip(rounds[OURS], rounds[opponent], strict=True))
    ours, theirs = figures(rounds[OURS]), figures(rounds[opponent])
    within = {
        "throughput": [a.throughput / b.throughput for a, b in pairs],
        "latency_alone": [median(a.alone) / median(b.alone) for a, b in pairs],
        "latency_loaded": [median(a.loaded) / median(b.loaded) for a, b in pairs],
    }
    return {
        name: round(
            median(within[name]) if name in within else getattr(ours, name) / getattr(theirs, name),
            3,
        )
        for name in MEASURES
    }


def case_ratios(case: Case, rounds: Rounds) -> dict[str, float | dict[str, float]]:
    """The ratios against the opponent of the aims, and those against each by name."""
    return {
        **ratios(rounds, case.primary),
        **{f"against_{opponent}": ratios(rounds, opponent) for opponent in case.opponents},
    }


def table(case: Case, rounds: Rounds) -> str:
    """A case's figures and ratios as Markdown."""
    heading = f"{case.name}: {case.steps} {case.kind}s in a row, {len(rounds[OURS])} rounds of"
    lines = [
        f"{heading} {case.alone_runs} runs alone and {case.loaded_runs} loaded",
        "",
        "| side | runs/s | alone p50 / p99 ms | loaded p50 / p99 ms | events | bytes |",
        "| --- | --- | --- | --- | --- | --- |",
        *(_row(side, figures(rounds[side])) for side in rounds),
        *(_ratio_row(opponent, ratios(rounds, opponent)) for opponent in case.opponents),
        "",
        "CPU milliseconds of one loaded run, by process: ",
        *(f"- {side}: {_processor(rounds[side])}" for side in rounds),
        "",
    ]
    return "\n".join(lines)


def _row(side: str, reached: Figures) -> str:
    alone = f"{reached.latency_alone * 1000:.0f} / {reached.latency_alone_p99 * 1000:.0f}"
    loaded = f"{reached.latency_loaded * 1000:.0f} / {reached.latency_loaded_p99 * 1000:.0f}"
    size = f"{reached.events:.0f} | {reached.bytes:.0f}"
    return f"| {side} | {reached.throughput:.1f} | {alone} | {loaded} | {size} |"


def _ratio_row(opponent: str, measured: Mapping[str, float]) -> str:
    alone = f"{measured['latency_alone']:.2f} / {measured['latency_alone_p99']:.2f}"
    loaded = f"{measured['latency_loaded']:.2f} / {measured['latency_loaded_p99']:.2f}"
    size = f"{measured['events']:.2f} | {measured['bytes']:.2f}"
    title = f"**{OURS} / {opponent}**"
    return f"| {title} | {measured['throughput']:.2f} | {alone} | {loaded} | {size} |"


def _processor(rounds: Sequence[Round]) -> str:
    runs = sum(len(one.loaded) for one in rounds)
    names = rounds[0].processor
    spent = {name: sum(one.processor[name] for one in rounds) / runs * 1000 for name in names}
    return ", ".join(f"{name} {value:.1f}" for name, value in spent.items() if value >= 0.05)
