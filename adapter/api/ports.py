"""What the service needs from the ledger and from Temporal, as Protocols and plain values.

Instants are aware UTC datetimes. A `Scope` goes with every look-up, so that a run that is hidden
from a caller can not be told from one that does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from adapter.access import Owner, Scope
from adapter.api.messages import EventRequest, SignalView, SignedMessage
from interpreter.contract.records import RunState, StartState
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """A wish to start a run; ``key`` is the caller's idempotency key."""

    owner: Owner
    key: str
    workflow: str
    revision: str
    input: JsonValue


@dataclass(frozen=True, slots=True)
class RunView:
    """How a run stands, as its owner may see it; ``output`` only once it is published.

    ``acts`` are the acts that would be granted now; ``under_review`` holds the run after a restore,
    ``erased_at`` is when its payloads were erased.
    """

    run_id: str
    workflow: str
    version: str
    revision: str
    state: RunState
    start: StartState
    admitted_at: datetime
    deadline_at: datetime
    closed_at: datetime | None = None
    outcome: str = ""
    output: JsonValue = None
    failure_code: str = ""
    failure_place: str = ""
    temporal_workflow_id: str = ""
    temporal_run_id: str = ""
    acts: tuple[str, ...] = ()
    under_review: bool = False
    erased_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """The run of a start identity; ``created`` is false when an earlier request made it."""

    run: RunView
    created: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """One visit of a node."""

    id: str
    node: str
    kind: str
    state: str
    outlet: str
    code: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class EffectView:
    """One effect: ``state`` is ``accepted``, ``unknown`` or ``not-applied`` or, before that is
    settled, ``pending``; ``receipt`` is the digest of the product's proof.
    """

    id: str
    node: str
    operation: str
    connection: str
    state: str
    code: str
    attempts: int
    dispatched_at: datetime | None
    settled_at: datetime | None
    receipt: str


@dataclass(frozen=True, slots=True)
class WaitView:
    """One wait: its timing and how often its source was read."""

    id: str
    node: str
    kind: str
    opened_at: datetime | None
    due_at: datetime | None
    observations: int
    observed_at: datetime | None
    resolution: str


@dataclass(frozen=True, slots=True)
class ActWish:
    """What somebody wants done about a run; ``key`` makes it repeatable.

    ``kind`` is ``retry-same``, ``reconcile`` or ``cancel``; ``effect`` is empty for the only
    unknown one.
    """

    kind: str
    actor: str
    reason: str
    key: str
    effect: str = ""


@dataclass(frozen=True, slots=True)
class ActView:
    """An act as it stands; ``outcome`` is empty while it is not known."""

    id: str
    kind: str
    effect: str
    actor: str
    reason: str
    state: str
    outcome: str
    code: str
    recorded_at: datetime
    concluded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """A run with its steps, effects, waits, acts and signals; never what they carry."""

    run: RunView
    steps: Sequence[StepView] = ()
    effects: Sequence[EffectView] = ()
    waits: Sequence[WaitView] = ()
    acts: Sequence[ActView] = ()
    signals: Sequence[SignalView] = ()


@dataclass(frozen=True, slots=True)
class EventView:
    """One event of a run; ``data`` holds ids, states and codes only."""

    sequence: int
    type: str
    at: datetime
    data: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkflowView:
    """A workflow that new runs may be started of, with its one active revision."""

    workflow: str
    version: str
    revision: str
    package: str


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a list shows; absent members do not filter."""

    state: RunState | None = None
    workflow: str | None = None


@dataclass(frozen=True, slots=True)
class RunPage:
    """Some runs, newest admission first, and the cursor of the next page (None at the end)."""

    runs: Sequence[RunView]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Attestation:
    """What an operator vouches for, with a ``reference`` to the evidence."""

    reference: str
    history_complete: bool
    prior_fenced: bool


@dataclass(frozen=True, slots=True)
class HoldView:
    """How the two holds stand; ``code`` says why the restore hold does."""

    restore_hold: bool
    admissions_hold: bool
    code: str
    held_at: datetime | None
    review_begun_at: datetime | None
    reviews: int


@dataclass(frozen=True, slots=True)
class ReviewView:
    """What became of the runs under review, in counts."""

    cleared: int
    ended: int
    remaining: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that needs a person: how many, since when, and what helps."""

    code: str
    count: int
    since: datetime | None
    remedy: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What needs a person, and the numbers behind it; ages and retention in seconds."""

    findings: Sequence[Finding]
    deployment: str
    epoch: str
    counter: int
    hold: HoldView
    states: Mapping[str, int]
    unknown_effects: int
    failed_starts: int
    pending_starts: int
    oldest_pending_start_at: datetime | None
    open_acts: int
    oldest_act_at: datetime | None
    open_signals: int
    oldest_signal_at: datetime | None
    open_hints: int
    oldest_hint_at: datetime | None
    oldest_due_at: datetime | None
    unerased_runs: int
    oldest_unerased_at: datetime | None
    last_pass_at: datetime | None
    last_pass_age: int | None
    namespace_retention: int | None
    failing_executions: int | None


class RunBook(Protocol):
    """The ledger as the service reads and writes it."""

    async def admit(self, request: AdmissionRequest) -> Admitted:
        """Commit an admission, or give the run that the same identity already has.

        Raises Refused ``workflow.unknown`` (404), ``revision.not-active``,
        ``idempotency.key-reused`` (409) or ``input.invalid`` (422).
        """
        ...

    async def admit_event(self, request: EventRequest) -> Admitted:
        """Commit the admission that an event asks for, or give the run that it has admitted.

        Raises Refused ``workflow.unknown``, ``trigger.unknown`` (404), ``revision.not-active``,
        ``event.id-reused`` (409), ``event.source-denied`` (403), ``event.type-unexpected``,
        ``event.invalid``, ``event.unmapped`` or ``input.invalid`` (422).
        """
        ...

    async def workflows(self, scope: Scope) -> Sequence[WorkflowView]:
        """The active workflows that the scope covers, by name."""
        ...

    async def run(self, run_id: str, scope: Scope) -> RunView | None:
        """The run, or None if it does not exist or is hidden."""
        ...

    async def runs(self, scope: Scope, only: RunFilter, cursor: str | None, limit: int) -> RunPage:
        """One page of runs; Refused ``request.invalid`` for a cursor that is none."""
        ...

    async def inspect(self, run_id: str, scope: Scope) -> Inspection | None:
        """The run in detail, or None."""
        ...

    async def events(
        self, run_id: str, scope: Scope, after: int, limit: int
    ) -> Sequence[EventView] | None:
        """Events with a sequence above ``after``, in order, or None for no such run."""
        ...

    async def note_read(self, run_id: str, actor: str, what: str) -> None:
        """Journal that a caller is about to be shown what a run carries.

        ``what`` is ``output``, ``reasons`` or ``receipts``. Raises Unavailable when no record can
        be written; then nothing is shown.
        """
        ...

    async def ready(self) -> bool:
        """Whether the ledger answers."""
        ...


class Executions(Protocol):
    """Temporal as the service uses it."""

    async def start(self, run_id: str) -> None:
        """Start the admitted run and bind it; harmless to repeat.

        Raises Unavailable when Temporal or the ledger does not answer: the run stays pending.
        """
        ...

    async def hint(self, message: SignedMessage, member: str, subject: str) -> bool:
        """Bring the next read of every wait on this subject forward, of those to come too.

        The subject is the ``member`` of what the wait reads its source with. Gives whether the
        message was taken before, which changes nothing. Raises Refused ``event.replayed`` or
        ``event.id-reused``.
        """
        ...

    async def ready(self) -> bool:
        """Whether Temporal answers."""
        ...


class ActDesk(Protocol):
    """Operators' acts: on record first, then carried out, again and again until they are."""

    async def begin(self, run_id: str, wish: ActWish) -> ActView:
        """Write an act down, or give the one that the same key began.

        Raises Refused with an ``act.*`` code or ``idempotency.key-reused``.
        """
        ...

    async def carry_out(self, act_id: str, seconds: float) -> ActView:
        """Have the act carried out, and wait some seconds for its outcome."""
        ...

    async def find(self, run_id: str, act_id: str) -> ActView | None:
        """An act of this run as it stands now, or None."""
        ...


class Oversight(Protocol):
    """What operators may do about the whole deployment; ``actor`` is the caller's name."""

    async def diagnose(self) -> Diagnosis:
        """What needs a person."""
        ...

    async def restore_hold(self, actor: str, reason: str) -> HoldView:
        """Place the restore hold, or take over one."""
        ...

    async def complete_recovery(self, actor: str, attested: Attestation) -> ReviewView:
        """Go through the runs under review.

        Raises Refused ``recovery.not-attested``, ``recovery.hold-required`` or
        ``recovery.review-required``.
        """
        ...

    async def release_restore_hold(self, actor: str, reason: str, leave_unknown: bool) -> HoldView:
        """Let dispatches go on.

        Raises Refused ``recovery.hold-required``, ``recovery.review-required`` or
        ``recovery.unresolved``.
        """
        ...

    async def release_admission_hold(self, actor: str, attested: Attestation) -> HoldView:
        """Let new runs in; Refused ``recovery.not-attested`` or ``recovery.hold-active``."""
        ...

    async def retain(self, actor: str, before: datetime, limit: int) -> int:
        """Erase runs that ended before an instant, give how many; Refused ``retention.invalid``."""
        ...
