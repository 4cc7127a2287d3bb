"""What the world may tell the machine; ``now_ms`` is the driver's time in epoch milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from interpreter.contract.calls import OnRecord
from interpreter.contract.effects import Reply
from interpreter.contract.records import Closed
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class Started:
    """The run begins."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A call has a classified reply, from its activity, a resolve or a reconcile."""

    branch: str
    node: str
    visit: int
    generation: int
    reply: Reply
    now_ms: int


@dataclass(frozen=True, slots=True)
class RetriedSame:
    """An operator asked for the saved command to be sent again, as a new generation.

    ``act`` is the act's id, by which one that is told again is known.
    """

    branch: str
    node: str
    visit: int
    generation: int
    now_ms: int
    act: str = ""


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A wait's time is over: its instant, duration or timeout."""

    branch: str
    node: str
    visit: int
    now_ms: int


@dataclass(frozen=True, slots=True)
class Completed:
    """A named completion was observed; ``gone`` means that it can never come."""

    branch: str
    node: str
    visit: int
    value: JsonValue
    now_ms: int
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Signalled:
    """A signal arrived; a repeated ``id`` is the same signal."""

    name: str
    id: str
    payload: JsonValue
    now_ms: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A person decided about a plan; one of another digest than the open plan's is ignored."""

    branch: str
    node: str
    visit: int
    approved: bool
    plan_digest: str
    now_ms: int


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """Somebody asked for the run to stop; ``ahead`` is what is on record beyond where it is."""

    now_ms: int
    ahead: dict[str, OnRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeadlineReached:
    """The run's deadline is over."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class ClosedAs:
    """The ledger closed this execution, now or earlier; its record is adopted."""

    closed: Closed


@dataclass(frozen=True, slots=True)
class DoubtLifted:
    """An unknown effect that kept the run from ending may be settled: ask for the end again.

    ``effect`` is one whose command, passed by the run, was sent again and has its answer.
    """

    now_ms: int
    effect: tuple[str, str, int] | None = None


Event: TypeAlias = (
    Started
    | Answered
    | RetriedSame
    | Elapsed
    | Completed
    | Signalled
    | Decided
    | CancelRequested
    | DeadlineReached
    | ClosedAs
    | DoubtLifted
)
