"""Whether time tells a hidden run from an absent one: ``python -m benchmarks.hidden_runs``."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from uuid import uuid4

import httpx

from adapter.embedded import SERVICE_ROLE, EmbeddedPostgres
from adapter.ledger import migrate
from tests.adapter.access.deployed import Deployed, deployed

_WARM_UP = 200


async def measured(site: Deployed, rounds: int) -> dict[str, list[float]]:
    """Seconds of every request by what was asked for, in an order that is new in each round."""
    hidden = await site.start(site.token("plain"), "k")
    ways: dict[str, tuple[dict[str, str], Callable[[], str]]] = {
        "absent": (site.token("plain", "bob"), lambda: str(uuid4())),
        "another owner's": (site.token("plain", "bob"), lambda: hidden),
        "of another workflow": (site.token("letters-operator", "boss"), lambda: hidden),
        "absent, for that operator": (
            site.token("letters-operator", "boss"),
            lambda: str(uuid4()),
        ),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    async with site.client({}) as client:
        for number in range(rounds + _WARM_UP):
            for name in random.sample(list(ways), len(ways)):
                headers, run = ways[name]
                seconds = await _asked(client, run(), headers)
                if number >= _WARM_UP:
                    taken[name].append(seconds)
    return taken


async def _asked(client: httpx.AsyncClient, run: str, headers: dict[str, str]) -> float:
    begun = time.perf_counter()
    answer = await client.get(f"/v1/runs/{run}", headers=headers)
    seconds = time.perf_counter() - begun
    assert answer.status_code == 404
    return seconds


def told_apart(ones: Sequence[float], others: Sequence[float]) -> float:
    """How likely one of the first took longer than one of the second: 0.5 tells nothing."""
    ranks = sorted([(value, 0) for value in ones] + [(value, 1) for value in others])
    longer = seen = 0
    for _, whose in ranks:
        if whose:
            seen += 1
        else:
            longer += seen
    return longer / (len(ones) * len(others))


def report(taken: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Medians in milliseconds, and how well each is told from an absent run of its caller."""
    beside = {"another owner's": "absent", "of another workflow": "absent, for that operator"}
    return {
        name: {
            "median": round(median(values) * 1000, 3),
            "toldApart": round(told_apart(values, taken[beside.get(name, name)]), 3),
        }
        for name, values in taken.items()
    }


async def _work(rounds: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        async with EmbeddedPostgres(Path(folder) / "postgres") as postgres:
            ledger = await postgres.ensure_ledger("hidden")
            await migrate(ledger.owner, SERVICE_ROLE)
            async with deployed(ledger.service, ledger.owner) as site:
                return report(await measured(site, rounds))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2_000)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    given = parser.parse_args()
    found = asyncio.run(_work(given.rounds))
    if given.format == "json":
        print(json.dumps(found))
        return
    print("| the run is | median ms | told apart |\n| --- | --- | --- |")
    for name, numbers in found.items():
        print(f"| {name} | {numbers['median']} | {numbers['toldApart']} |")


if __name__ == "__main__":
    main()
