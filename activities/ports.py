"""What this room needs from the ledger, the definitions and the deployment, as Protocols.

Every method is one transaction. All instants are aware UTC datetimes read from the database's own
clock; all durations are seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from activities.credentials import Authorization, ClientTls
from interpreter.contract.calls import EndedWait, OnRecord
from interpreter.contract.effects import Reply, VisitRef
from interpreter.contract.operations import Completion, OperationContract
from interpreter.contract.records import Closed, Closing, RunState, StepRecord
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class Command:
    """The frozen request of an effect: the mapped input and what preparation added."""

    connection: str
    operation: str
    input: JsonValue
    preparation: JsonValue = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Attempt limits of this effect, from the node's policy over the contract's."""

    attempts: int
    send_budget: float
    delay: float
    growth: float
    longest_delay: float


ONLY_ASKED: Final = "only-asked"
"""The code of the answer to a claim that only asks, where one that sends would be permitted."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One attempt that wants to send.

    ``token`` is fresh for every attempt. ``after_cancel`` is true for a call on an ``onCancel``
    route, which a recorded cancel does not refuse. ``sequence`` and ``steps`` are the machine's
    projections: the call's own step is written as ``running`` with ``sequence``. ``seen`` is the
    furthest position of the ledger that the workflow knows of, ``asked_at`` when it first asked for
    this call (protocol rule 9); None where nobody can tell. With ``keeps_pause`` it is made again
    in another activity, which knows nothing of the pause that is to be kept. One that ``only_asks``
    is never permitted: it learns whether another one would be, and has the ledger hear of an effect
    that a restore may have taken from it.
    """

    effect: VisitRef
    generation: int
    token: str
    command: Command
    contract: OperationContract
    limits: Limits
    sequence: int
    steps: tuple[StepRecord, ...] = ()
    after_cancel: bool = False
    seen: int = 0
    asked_at: datetime | None = None
    keeps_pause: bool = False
    only_asks: bool = False


@dataclass(frozen=True, slots=True)
class Dispatched:
    """Permission to send once, until the send budget is over.

    ``command`` is the one on record (the first attempt's), ``unresolved`` is true when an earlier
    token may have been sent and never settled, ``position`` is how far the ledger is with the run.
    """

    idempotency_key: str
    command: Command
    attempt: int
    unresolved: bool
    position: int


@dataclass(frozen=True, slots=True)
class Settled:
    """The effect has a final reply on record; nothing may be sent."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Busy:
    """Another attempt holds a live lease; ask again after ``retry_after`` seconds."""

    retry_after: float


ClaimAnswer = Dispatched | Settled | Busy


@dataclass(frozen=True, slots=True)
class Saved:
    """The command on record of an effect, the key it is sent with, and its latest attempt's token.

    ``token`` is empty when nothing was ever dispatched.
    """

    command: Command
    idempotency_key: str
    token: str


@dataclass(frozen=True, slots=True)
class Retry:
    """The attempt failed without effect; the next one is due after ``delay`` seconds.

    ``position`` is how far the ledger is with the run, where that was asked for.
    """

    delay: float
    code: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class NotSent:
    """The ledger, as far as it is, has no attempt of this effect that may have been applied.

    ``position`` is how far it is with the run.
    """

    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Settlement:
    """The classified answer of one dispatched attempt.

    ``retry_after`` is the product's own delay for a retryable answer. ``receipt`` is the
    product's proof (sealed by the ledger).
    """

    effect: VisitRef
    generation: int
    token: str
    contract: OperationContract
    limits: Limits
    reply: Reply
    sequence: int
    receipt: JsonValue = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """A local read, written in one transaction after it was answered (protocol rule 6)."""

    effect: VisitRef
    command: Command
    reply: Reply
    sequence: int
    steps: tuple[StepRecord, ...] = ()
    after_cancel: bool = False
    seen: int = 0


@dataclass(frozen=True, slots=True)
class OpenedWait:
    """A wait as it opens: written before the run goes idle.

    ``source`` is the input of a completion's read; the ledger keeps a keyed digest of it, by which
    a completion event finds the waits that it is about.
    """

    wait: VisitRef
    kind: str
    sequence: int
    due_at: datetime | None
    state: RunState = RunState.WAITING
    steps: tuple[StepRecord, ...] = ()
    source: JsonValue = None


@dataclass(frozen=True, slots=True)
class ObservationDue:
    """Whether a poll may read now (``delay`` 0) or in how many seconds.

    ``remaining`` is the time until the wait expires, ``resolution`` how it ended if it did
    (``closed`` when its run ended first), ``hints`` how many hints there were so far, ``over``
    whether the run's deadline is.
    """

    delay: float
    observations: int
    remaining: float
    resolution: str | None = None
    hints: int = 0
    over: bool = False


class EffectLedger(Protocol):
    """The effect protocol's writes (design section 5, protocol rules 1 to 7)."""

    async def saved(self, effect: VisitRef) -> Saved | None:
        """The command on record, or None before the first claim; a read without a lock."""
        ...

    async def claim(self, claim: Claim) -> ClaimAnswer:
        """Store the command once, check permission under the run's lock, and dispatch.

        A lapsed dispatch that never settled is dispatched again or settled as ``unknown`` by the
        contract's recovery class. ``not-permitted`` comes back as a settled reply, with the code
        ``only-asked`` for a claim that only asks and would be permitted. A preparation that is
        missing in the command on record is added to it.
        """
        ...

    async def withdraw(self, effect: VisitRef, token: str) -> None:
        """Undo a dispatch whose commit has an unknown fate, before anything was sent."""
        ...

    async def settle(self, settlement: Settlement) -> Reply | Retry:
        """Write the answer under the fencing rules and give the reply now on record."""
        ...

    async def resolve(
        self, effect: VisitRef, contract: OperationContract
    ) -> Reply | Busy | NotSent | Retry:
        """What the ledger knows of an effect whose activity ended without a reply (rule 3)."""
        ...

    async def read_outcome(self, outcome: ReadOutcome) -> Reply:
        """Check permission and write a read's accepted or refused reply in one transaction."""
        ...


class RunLedger(Protocol):
    """Projections, waits and the end of a run."""

    async def open_wait(self, opened: OpenedWait) -> None:
        """Write an opened wait (idempotent) and the run's state."""
        ...

    async def record(self, run_id: str, state: RunState, steps: Sequence[StepRecord]) -> None:
        """Write projections and the run's state (idempotent by sequence)."""
        ...

    async def observation_due(
        self, opened: OpenedWait, interval: float, floor: float, hinted: bool, at: datetime
    ) -> ObservationDue:
        """Open the wait if it is not, and say when its source may be read next.

        The first observation comes ``interval`` after opening or at the first hint; a hint never
        brings one sooner than ``floor`` after the last. Now is the later of the database's clock
        and ``at``, Temporal's time of the attempt, which runs ahead where a test skips time.
        """
        ...

    async def observed(self, wait: VisitRef, at: datetime, hints: int) -> bool:
        """Count one observation, which took in ``hints`` hints; gives whether more have come."""
        ...

    async def end_wait(self, wait: VisitRef, *, after_cancel: bool = False) -> EndedWait:
        """End a signal wait whose time is over; a signal that is on record by now came first.

        ``after_cancel`` is true where the wait follows ``onCancel``: the cancel does not stop it.
        """
        ...

    async def note_signal(self, run_id: str, name: str, verdict: str) -> None:
        """Journal that a signal from Temporal's own tools was of no use."""
        ...

    async def resolve_wait(self, wait: VisitRef, resolution: str) -> str:
        """Record how a wait ended, first writer wins; gives the resolution on record."""
        ...

    async def request_cancel(self, run_id: str, reason: str) -> None:
        """Record a cancel that came from Temporal itself; a no-op once recorded or closed."""
        ...

    async def ahead(self, run_id: str, after: int) -> dict[str, OnRecord]:
        """The calls and ended waits, by visit, that are on record beyond a sequence number.

        There are none unless the execution went back to an earlier point.
        """
        ...

    async def close(self, run_id: str, execution: int, closing: Closing) -> Closed:
        """End an execution, insert-once; gives the outcome on record."""
        ...


@dataclass(frozen=True, slots=True)
class ActUnderWay:
    """A reconcile act: the effect it is about, and where a settled projection belongs.

    ``sequence`` numbers the projection that an accepted reply writes; ``concluded`` is true once
    the act has its outcome.
    """

    effect: VisitRef
    generation: int
    sequence: int
    concluded: bool


class ActLedger(Protocol):
    """Operators' acts, as far as an activity carries them out."""

    async def under_way(self, act_id: str) -> ActUnderWay:
        """The act; ActivityError ``act.unknown`` for one that is not on record."""
        ...

    async def conclude(self, act_id: str, outcome: str, code: str) -> None:
        """Write an act's outcome, insert-once, with its second audit record."""
        ...


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What a call node's definition pins: contract, logical connection and attempt limits."""

    contract: OperationContract
    connection: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class ObservationFacts:
    """What a completion wait's definition pins: how the source is read, and on which connection."""

    completion: Completion
    read: OperationContract
    connection: str


class CallBook(Protocol):
    """Facts about nodes of the definition that a run was admitted with; cached per process."""

    async def call(self, run_id: str, node: str) -> CallFacts:
        """Facts of a call node; ActivityError ``run.unknown`` for a run never admitted."""
        ...

    async def observation(self, run_id: str, node: str) -> ObservationFacts:
        """Facts of a completion wait node; the same error."""
        ...


class Connections(Protocol):
    """The deployment's logical connections, opened only at the moment of a call."""

    def settings(self, connection: str) -> JsonValue:
        """Base URL and product settings; ConnectionFault ``connection.unknown``."""
        ...

    def authorization(self, connection: str, *, observing: bool = False) -> Authorization:
        """How its calls are authorised; with ``observing``, how the receipts of calls are read."""
        ...

    async def tls(self, connection: str) -> ClientTls | None:
        """The certificates of the connection as they are now; None for the system's trust alone.

        Raises CredentialUnavailable when one can not be read.
        """
        ...


__all__ = [
    "ActLedger",
    "ActUnderWay",
    "Busy",
    "CallBook",
    "CallFacts",
    "Claim",
    "ClaimAnswer",
    "Command",
    "Connections",
    "Dispatched",
    "EffectLedger",
    "Limits",
    "NotSent",
    "ObservationDue",
    "ObservationFacts",
    "OpenedWait",
    "ReadOutcome",
    "Retry",
    "RunLedger",
    "Saved",
    "Settled",
    "Settlement",
]
