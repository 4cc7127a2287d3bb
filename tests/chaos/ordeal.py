"""One ordeal: runs are asked for amid trouble, then peace is made, then all is judged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from adapter.config.loading import load_runtime
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.deployment import open_ledger
from adapter.wiring.sealing import codec_of
from tests.chaos.deployment import Deployment, deployment
from tests.chaos.histories import count_met
from tests.chaos.journals import judge_journal
from tests.chaos.people import Applicant, Movers, Operators, Reviewers
from tests.chaos.trouble import Trouble, spoil
from tests.chaos.verdict import (
    RunRow,
    Verdict,
    effect_rows,
    judge_effects,
    judge_executions,
    judge_logs,
    judge_runs,
    run_rows,
)

_THREADS = 48
_GAP_SECONDS = (1.5, 5.0)
_PROGRESS_SECONDS = 10.0
_LOOK_SECONDS = 1.0
_MANY_STROKES = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """How many runs and strokes, from which seed; ``patience`` seconds are enough for all of it."""

    runs: int
    strokes: int
    seed: int
    patience: float
    say: Callable[[str], None]


async def undergo(folder: Path, plan: Plan) -> Verdict:
    """The whole ordeal in a folder of its own; every server is ended afterwards."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    plan.say(f"seed {plan.seed}: {plan.runs} runs, {plan.strokes} faults; starting the servers")
    async with deployment(folder) as made:
        return await _Ordeal(made, plan).undergo()


class _Ordeal:
    def __init__(self, made: Deployment, plan: Plan) -> None:
        self._made = made
        self._plan = plan
        self._applicant = Applicant(made, plan.seed)
        self._reviewers = Reviewers(made, plan.seed)
        self._operators = Operators(made, plan.seed)
        self._movers = Movers(made, plan.seed)
        self._trouble = Trouble(made, plan.seed, plan.say)
        self._began = time.monotonic()

    async def undergo(self) -> Verdict:
        """Trouble, peace, verdict."""
        plan = self._plan
        with self._made.products() as products:
            spoil(products, plan.seed)
        verdict = Verdict()
        async with self._people():
            try:
                async with asyncio.timeout(plan.patience):
                    await self._storm()
                    await self._calm()
            except TimeoutError:
                verdict.complaints.append(
                    f"not at rest within {plan.patience:.0f} s: look at the logs, or give more time"
                )
        await self._judge(verdict)
        return verdict

    @asynccontextmanager
    async def _people(self) -> AsyncIterator[None]:
        """Everybody who works until the end; an error of one of them is ours."""
        people = (self._reviewers, self._operators, self._movers)
        works = (*(one.work for one in people), self._made.keep_up, self._report)
        tasks = [asyncio.create_task(work()) for work in works]
        try:
            yield
        finally:
            failed = [task for task in tasks if task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in failed:
            task.result()

    async def _storm(self) -> None:
        plan = self._plan
        seconds = plan.strokes * (sum(_GAP_SECONDS) / 2 + 1.0)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._applicant.ask(plan.runs, seconds))
            group.create_task(self._trouble.cause(plan.strokes, _GAP_SECONDS))

    async def _calm(self) -> None:
        """No more faults; wait until every run is at rest and no operator wants anything."""
        self._plan.say("no more faults; waiting until every run has ended or needs a person")
        with self._made.products() as products:
            products.clear_faults()
        while not await self._at_rest():
            await asyncio.sleep(_LOOK_SECONDS)

    async def _at_rest(self) -> bool:
        rows = await self._rows()
        left = self._operators.given_up
        return bool(rows) and all(
            row.at_rest and (row.state != "attention" or row.run in left) for row in rows
        )

    async def _rows(self) -> list[RunRow]:
        with suppress(psycopg.Error):
            return await asyncio.to_thread(run_rows, self._made.addresses.database_url)
        return []

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(_PROGRESS_SECONDS)
            rows = await self._rows()
            rest = sum(row.at_rest for row in rows)
            attention = sum(row.state == "attention" for row in rows)
            acts, admitted = self._operators.acts.total(), len(self._applicant.admitted)
            self._plan.say(
                f"{time.monotonic() - self._began:4.0f} s: {admitted} admitted, {rest} at rest,"
                f" {attention} in attention, {acts} acts"
            )

    async def _judge(self, verdict: Verdict) -> None:
        made = self._made
        url = made.addresses.database_url
        rows = await asyncio.to_thread(run_rows, url)
        await judge_runs(verdict, self._applicant.admitted.values(), rows)
        runtime = load_runtime(made.files.runtime)
        async with open_ledger(runtime, pool_size=2) as ledger:
            client = await connect(TemporalAddress(made.addresses.temporal), codec_of(ledger))
            await judge_executions(verdict, rows, client)
            met = await count_met(rows, client, made.files.folder / "logs")
            if self._plan.strokes >= _MANY_STROKES and not met.both:
                verdict.complaints.append("no fault has met a local, or none a remote activity")
            await judge_journal(verdict, ledger, runtime)
            with made.products() as products:
                await judge_effects(verdict, effect_rows(url), ledger, products)
                spoiled = sum(request.fault is not None for request in products.requests())
        judge_logs(verdict, made.files.folder / "logs")
        strokes = self._trouble.done.total()
        verdict.faults = strokes + spoiled
        say = self._plan.say
        say(f"states: {_counted(verdict.states)}")
        say(f"processes: {_counted(self._trouble.done)}; ended by themselves: {made.deaths}")
        say(f"runs asked to continue as new: {self._movers.moved}")
        say(f"products: {spoiled} answers spoiled; reviews decided: {self._reviewers.decided}")
        for line in met.lines:
            say(line)
        say(f"acts: {_counted(self._operators.acts)}; refused: {_counted(self._operators.refused)}")


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items())) or "none"
