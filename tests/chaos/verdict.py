"""What is true after the trouble: the ledger's words held against the products' own records."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg.rows import class_row
from temporalio.client import Client, WorkflowExecutionStatus

from adapter.ledger import Ledger
from examples.products.client import Effect, PretendProducts, Received
from interpreter.contract.effects import VisitRef, visit_ref
from interpreter.contract.records import RunState
from interpreter.contract.runs import workflow_id
from tests.chaos.deployment import SERVICE, WORKERS

_EVALUATE = "evaluation.evaluate"
_WITHDRAW = "casework.withdraw-review-request"
_EFFECTS = """select run_id::text as run, visit, operation, coalesce(outcome, '') as outcome,
       uncertain from coordinator.effects where effect <> 'read'"""
_RUNS = """select r.id::text as run, r.workflow, r.execution, r.state,
       exists (select from coordinator.effects e where e.run_id = r.id and e.uncertain) as uncertain
from coordinator.runs r"""
# The service's word for a 500, and a trace on its way to a terminal.
_UNEXPECTED = ('"request.failed"', "Traceback (most recent call last)")
# A workflow task that its worker took along is given to another one after ten seconds.
_LAST_TASK_SECONDS = 45
# Of these the ledger says that nothing was applied.
_NOT_APPLIED = frozenset({"declared-refusal", "refused", "retryable"})


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the ledger has it at the end."""

    run: str
    workflow: str
    execution: int
    state: str
    uncertain: bool

    @property
    def at_rest(self) -> bool:
        """True when it has ended, or an unknown effect keeps it waiting for a person."""
        state = RunState(self.state)
        return state.final or (state is RunState.ATTENTION and self.uncertain)


@dataclass(frozen=True, slots=True)
class EffectRow:
    """An effect as the ledger has it at the end."""

    run: str
    visit: str
    operation: str
    outcome: str
    uncertain: bool

    @property
    def product_operation(self) -> str:
        """The operation as the products' control names it."""
        return self.operation.rpartition("/")[0]


@dataclass(slots=True)
class Verdict:
    """Counts for the last line; ``complaints`` says what each of them is about."""

    runs: int = 0
    lost: int = 0
    duplicates: int = 0
    wrong: int = 0
    attention: int = 0
    faults: int = 0
    complaints: list[str] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)

    @property
    def good(self) -> bool:
        """True when nothing was lost, doubled or wrongly told."""
        return not (self.lost or self.duplicates or self.wrong or self.complaints)

    @property
    def line(self) -> str:
        """The last line."""
        return (
            f"runs {self.runs}, lost {self.lost}, duplicate effects {self.duplicates}, "
            f"wrong accepted {self.wrong}, attention {self.attention}, faults {self.faults}"
        )

    def lose(self, run: str, why: str) -> None:
        """Count a run as lost."""
        self.lost += 1
        self.complaints.append(f"lost: run {run}: {why}")

    def double(self, what: str, times: int = 1) -> None:
        """Count effects that were applied again, or under a second key."""
        self.duplicates += times
        self.complaints.append(f"duplicate: {what}")

    def lie(self, what: str) -> None:
        """Count an effect of which the ledger does not say the truth."""
        self.wrong += 1
        self.complaints.append(f"wrong: {what}")


def run_rows(database_url: str) -> list[RunRow]:
    """Every run of the ledger."""
    with psycopg.connect(database_url, row_factory=class_row(RunRow)) as connection:
        return connection.execute(_RUNS).fetchall()


def effect_rows(database_url: str) -> list[EffectRow]:
    """Every effect of the ledger that is no read."""
    with psycopg.connect(database_url, row_factory=class_row(EffectRow)) as connection:
        return connection.execute(_EFFECTS).fetchall()


async def judge_runs(verdict: Verdict, admitted: Iterable[str], rows: list[RunRow]) -> None:
    """Every admission that was answered has its run, and every run is at rest."""
    known = {row.run: row for row in rows}
    verdict.runs = len(known)
    for run in sorted(set(admitted) - set(known)):
        verdict.lose(run, "the ledger does not know it")
    for row in rows:
        verdict.states[row.state] += 1
        if not row.at_rest:
            verdict.lose(row.run, f"is {row.state} for good, unknown effects: {row.uncertain}")
        verdict.attention += row.state == RunState.ATTENTION


async def judge_executions(verdict: Verdict, rows: list[RunRow], client: Client) -> None:
    """An execution is closed exactly when its run is, once its last task had the time to end.

    The ledger has a run's end before Temporal has: the closing write is a local activity of the
    execution's last task, and a worker that dies in it leaves that task to another one.
    """
    for row in rows:
        handle = client.get_workflow_handle(workflow_id(row.workflow, row.run, row.execution))
        for _ in range(_LAST_TASK_SECONDS):
            status = (await handle.describe()).status
            agreed = (status is WorkflowExecutionStatus.RUNNING) != RunState(row.state).final
            if agreed:
                break
            await asyncio.sleep(1)
        else:
            name = "unknown" if status is None else status.name
            verdict.lose(row.run, f"is {row.state} while Temporal says {name}")


async def judge_effects(
    verdict: Verdict, rows: list[EffectRow], ledger: Ledger, products: PretendProducts
) -> None:
    """One key for one effect, applied once; and what the ledger says of it is true."""
    applied, requests = products.effects(), products.requests()
    ours = {row: await _key(ledger, row) for row in rows}
    for effect in applied:
        if effect.applied > 1:
            verdict.double(f"{effect.operation} {effect.digest}", effect.applied - 1)
    _judge_keys(verdict, applied, requests, set(ours.values()))
    there = {(effect.operation, effect.key) for effect in applied}
    withdrawn = {
        review.document["correlationId"]
        for review in products.reviews()
        if review.state == "withdrawn"
    }
    for row, key in ours.items():
        operation = row.product_operation
        if operation == _EVALUATE:
            continue
        done = (operation, key) in there
        if row.outcome == "accepted" and not done:
            # A withdrawal that found the review withdrawn changes nothing, and is accepted.
            if operation != _WITHDRAW or row.run not in withdrawn:
                verdict.lie(f"{row.run} {row.visit} accepted, not applied")
        if row.outcome in _NOT_APPLIED and not row.uncertain and done:
            verdict.lie(f"{row.run} {row.visit} {row.outcome}, applied")
    _judge_evaluations(verdict, rows, applied)


def judge_logs(verdict: Verdict, logs: Path) -> None:
    """No process of ours met an error that it did not expect, however the others failed."""
    for log in sorted(logs.glob("*.log")):
        if log.stem not in (SERVICE, *WORKERS):
            continue
        lines = log.read_text(errors="replace").splitlines()
        unexpected = [line for line in lines if any(sign in line for sign in _UNEXPECTED)]
        if unexpected:
            verdict.complaints.append(f"{len(unexpected)} times in {log}: {unexpected[0][:300]}")


def _judge_keys(
    verdict: Verdict, applied: list[Effect], requests: list[Received], ours: set[str]
) -> None:
    keys: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for effect in applied:
        if effect.key:
            keys[effect.operation, effect.digest].add(effect.key)
    for request in requests:
        if request.key and request.body_sha256 and "receipt" not in request.operation:
            # A request that was cut off before its body tells nothing of whose it was.
            keys[request.operation, request.target + request.body_sha256].add(request.key)
    for (operation, _), found in keys.items():
        if len(found) > 1:
            verdict.double(f"{operation} under {len(found)} keys", len(found) - 1)
        for _ in found - ours:
            verdict.double(f"{operation} under a key that the ledger does not know")


def _judge_evaluations(verdict: Verdict, rows: list[EffectRow], applied: list[Effect]) -> None:
    """An evaluation has no key; its request names the run, so each run has one digest."""
    accepted = sum(r.product_operation == _EVALUATE and r.outcome == "accepted" for r in rows)
    made = sum(effect.operation == _EVALUATE for effect in applied)
    if accepted > made:
        verdict.lie(f"{accepted} evaluations accepted, {made} made")


async def _key(ledger: Ledger, row: EffectRow) -> str:
    visit: VisitRef = visit_ref(row.run, f"{row.visit}:1")[0]
    saved = await ledger.effects.saved(visit)
    if saved is None:
        raise AssertionError("an effect on record has its command")
    return saved.idempotency_key
