"""What may be shown of runs: status, lists, inspection and events; never a command or a reply."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from adapter.errors import Refused
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from adapter.ledger.receipts import ReceiptView, receipts_of
from adapter.ledger.run_keys import RunKeys
from interpreter.contract.records import RunState, StartState
from interpreter.contract.runs import workflow_id
from interpreter.contract.values import JsonValue

_SQL = queries("reads")
MOST_LISTED: Final = 100
MOST_EVENTS: Final = 1_000


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run as it stands; ``output`` only once it has ended, ``wanted_state`` the end it waits for.

    ``uncertain`` is true while an effect is unknown, ``under_review`` after a restore until
    somebody has looked; ``erased_at`` is when retention took the payloads.
    """

    run_id: str
    owner: str
    scope: str
    workflow: str
    version: str
    revision: str
    state: RunState
    start_state: StartState
    execution: int
    admitted_at: datetime
    deadline_at: datetime
    started_at: datetime | None
    closed_at: datetime | None
    cancel_requested_at: datetime | None
    temporal_run_id: str | None
    uncertain: bool
    last_event: int
    wanted_state: RunState | None = None
    outcome: str = ""
    output: JsonValue = None
    failure_code: str = ""
    failure_place: str = ""
    under_review: bool = False
    erased_at: datetime | None = None

    @property
    def workflow_id(self) -> str:
        """The Temporal workflow id of the latest execution."""
        return workflow_id(self.workflow, self.run_id, self.execution)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to list; None leaves a member open. ``owner`` None is for operators alone."""

    owner: str | None = None
    scope: str | None = None
    workflows: tuple[str, ...] | None = None
    states: tuple[RunState, ...] | None = None


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs newest first; ``next`` is the cursor of the page after, None on the last one."""

    runs: list[RunStatus]
    next: str | None


class Standing(StrEnum):
    """What is known of an effect: the words that a person is shown."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    NOT_APPLIED = "not-applied"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StepView:
    """The latest projection of one visit; ``attention`` while its effect is unknown."""

    execution: int
    sequence: int
    branch: str
    node: str
    visit: int
    kind: str
    state: str
    outlet: str
    code: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One permission to send; ``settled_as`` None while nobody knows how it ended."""

    reference: str
    attempt: int
    dispatched_at: datetime
    lease_until: datetime
    settled_as: str | None
    code: str
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class EffectView:
    """One effect (``reference`` is ``branch/node:visit``) with its attempts and receipts.

    A read that was written in one transaction has no attempts.
    """

    reference: str
    operation: str
    effect: str
    connection: str
    generation: int
    outcome: str | None
    code: str
    uncertain: bool
    opened_at: datetime
    settled_at: datetime | None
    attempts: list[AttemptView] = field(default_factory=list)
    receipts: list[ReceiptView] = field(default_factory=list)

    @property
    def standing(self) -> Standing:
        """``accepted``, ``unknown``, ``not-applied``, or ``pending`` while it is open."""
        if self.uncertain:
            return Standing.UNKNOWN
        if self.outcome is None:
            return Standing.PENDING
        return Standing.ACCEPTED if self.outcome == "accepted" else Standing.NOT_APPLIED


@dataclass(frozen=True, slots=True)
class WaitView:
    """One wait's timing and how often its source was read."""

    reference: str
    kind: str
    opened_at: datetime
    due_at: datetime | None
    observations: int
    observed_at: datetime | None
    resolution: str | None
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True)
class SignalView:
    """One signal; ``outcome`` is empty while it is not known, ``visit`` the wait that took it."""

    id: str
    name: str
    outcome: str
    visit: str
    recorded_at: datetime
    concluded_at: datetime | None


@dataclass(frozen=True, slots=True)
class Inspection:
    """A run with everything about it that is no payload."""

    run: RunStatus
    steps: list[StepView]
    effects: list[EffectView]
    waits: list[WaitView]
    signals: list[SignalView]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run; ``sequence`` has no gaps."""

    sequence: int
    type: str
    happened_at: datetime
    data: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class StatusRow:
    """A run joined with its latest execution."""

    run_id: str
    owner: str
    scope: str
    workflow: str
    version: str
    revision: str
    state: str
    execution: int
    admitted_at: datetime
    deadline_at: datetime
    cancel_requested_at: datetime | None
    event_sequence: int
    start_state: str
    temporal_run_id: str | None
    started_at: datetime | None
    closed_at: datetime | None
    closing_state: str | None
    outcome: str
    sealed_output: bytes | None
    failure_code: str
    failure_place: str
    uncertain: bool
    under_review: bool
    erased_at: datetime | None
    wrapped_key: bytes | None


class Reads:
    """Questions about runs. ``owner`` None is for operators; a hidden run answers like none."""

    def __init__(self, pool: Pool, run_keys: RunKeys) -> None:
        self._pool = pool
        self._run_keys = run_keys

    async def run_status(
        self, run_id: str, owner: str | None, workflows: tuple[str, ...] | None = None
    ) -> RunStatus:
        """One run; Refused ``run.unknown`` (404) for an absent, another owner's or workflow's one.

        All of them are one question with one answer, so that neither bytes nor time tell them
        apart.
        """
        try:
            UUID(run_id)
        except ValueError as error:
            raise _unknown() from error
        keys = {
            "run": run_id,
            "owner": owner,
            "workflows": None if workflows is None else list(workflows),
        }
        row = await self._pool.one(Question(_SQL["run_status"], keys, StatusRow))
        if row is None:
            raise _unknown()
        return self._status(row)

    async def list_runs(
        self, wanted: RunFilter, cursor: str | None = None, limit: int = 20
    ) -> RunPage:
        """A page of at most 100 runs without their outputs.

        Refused ``cursor.invalid`` or ``limit.invalid`` (400).
        """
        if not 1 <= limit <= MOST_LISTED:
            raise Refused(
                "limit.invalid",
                f"a page has 1 to {MOST_LISTED} runs",
                place="limit",
                remedy="ask for less and follow the cursor",
                status=400,
            )
        before, before_run = _place(cursor) if cursor else (None, None)
        parameters = {
            "owner": wanted.owner,
            "scope": wanted.scope,
            "workflows": None if wanted.workflows is None else list(wanted.workflows),
            "states": None if wanted.states is None else [s.value for s in wanted.states],
            "before": before,
            "before_run": before_run,
            "limit": limit + 1,
        }
        rows = await self._pool.ask(Question(_SQL["list_runs"], parameters, StatusRow))
        following = _cursor(rows[limit - 1]) if len(rows) > limit else None
        # A list shows no payload: nothing is opened for it.
        return RunPage(
            [self._status(replace(r, sealed_output=None)) for r in rows[:limit]], following
        )

    async def inspect(self, run_id: str, owner: str | None) -> Inspection:
        """Steps, effects, waits and signals of a run; Refused ``run.unknown`` (404)."""
        run = await self.run_status(run_id, owner)
        keys = {"run": run_id}
        steps = await self._pool.ask(Question(_SQL["run_steps"], keys, StepView))
        effects = await self._pool.ask(Question(_SQL["run_effects"], keys, EffectView))
        attempts = await self._pool.ask(Question(_SQL["run_attempts"], keys, AttemptView))
        receipts = await receipts_of(self._pool, self._run_keys, run_id)
        by_reference = {effect.reference: effect for effect in effects}
        for attempt in attempts:
            if attempt.reference in by_reference:
                by_reference[attempt.reference].attempts.append(attempt)
        for receipt in receipts:
            if receipt.reference in by_reference:
                by_reference[receipt.reference].receipts.append(receipt)
        waits = await self._pool.ask(Question(_SQL["run_waits"], keys, WaitView))
        signals = await self._pool.ask(Question(_SQL["run_signals"], keys, SignalView))
        steps.sort(key=lambda step: (step.execution, step.sequence))
        shown = [_as_effects_stand(step, by_reference) for step in steps]
        return Inspection(run, shown, effects, waits, signals)

    async def events(
        self, run_id: str, owner: str | None, after: int = 0, limit: int = MOST_EVENTS
    ) -> list[Event]:
        """A run's events after a sequence; Refused ``run.unknown`` (404)."""
        await self.run_status(run_id, owner)
        keys = {"run": run_id, "after": after, "limit": min(limit, MOST_EVENTS)}
        return await self._pool.ask(Question(_SQL["run_events"], keys, Event))

    def _status(self, row: StatusRow) -> RunStatus:
        output = None
        if row.closed_at is not None and row.sealed_output is not None:
            sealer = self._run_keys.sealer(row.run_id, row.wrapped_key)
            output = sealer.open(row.sealed_output, "output", str(row.execution))
        wanted = row.closing_state if row.closed_at is None else None
        return RunStatus(
            run_id=row.run_id,
            owner=row.owner,
            scope=row.scope,
            workflow=row.workflow,
            version=row.version,
            revision=row.revision,
            state=RunState(row.state),
            start_state=StartState(row.start_state),
            execution=row.execution,
            admitted_at=row.admitted_at,
            deadline_at=row.deadline_at,
            started_at=row.started_at,
            closed_at=row.closed_at,
            cancel_requested_at=row.cancel_requested_at,
            temporal_run_id=row.temporal_run_id,
            uncertain=row.uncertain,
            last_event=row.event_sequence,
            wanted_state=None if wanted is None else RunState(wanted),
            outcome=row.outcome if row.closed_at else "",
            output=output,
            failure_code=row.failure_code if row.closed_at else "",
            failure_place=row.failure_place if row.closed_at else "",
            under_review=row.under_review,
            erased_at=row.erased_at,
        )


def _as_effects_stand(step: StepView, effects: dict[str, EffectView]) -> StepView:
    """A call whose effect is unknown is not running: it waits for a receipt or a person."""
    effect = effects.get(f"{step.branch}/{step.node}:{step.visit}")
    if effect is None or not effect.uncertain or step.state != "running":
        return step
    return replace(step, state=RunState.ATTENTION.value, code=effect.code)


def _unknown() -> Refused:
    return Refused(
        "run.unknown",
        "there is no such run",
        place="run",
        remedy="check the id, and that the run is yours",
        status=404,
    )


def _cursor(row: StatusRow) -> str:
    place = f"{row.admitted_at.isoformat()} {row.run_id}"
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _place(cursor: str) -> tuple[datetime, str]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        at, _, run_id = base64.urlsafe_b64decode(padded).decode().partition(" ")
        return datetime.fromisoformat(at), str(UUID(run_id))
    except (ValueError, binascii.Error) as error:
        raise Refused(
            "cursor.invalid",
            "the cursor is not one that a list gave",
            place="cursor",
            remedy="start without a cursor",
            status=400,
        ) from error
