"""What the machine may ask of the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from interpreter.contract.operations import EffectClass
from interpreter.contract.records import Closing, StepRecord
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class PerformCall:
    """One effect: call ``operation`` on ``connection`` with ``input``.

    ``sequence`` numbers the call's own projection (``sequence + 1`` its settled form); ``steps``
    are earlier projections that ride along. One that is ``passed`` is not waited for, and its input
    is that of the command on record.
    """

    branch: str
    node: str
    visit: int
    generation: int
    operation: str
    connection: str
    effect: EffectClass
    input: JsonValue
    sequence: int
    steps: tuple[StepRecord, ...] = ()
    after_cancel: bool = False
    passed: bool = False


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Wait until ``until_ms`` (or for ever): an instant, a duration, a signal, an approval.

    ``plan`` is what a person is asked to approve and ``plan_digest`` its digest, which the decision
    has to name; both are empty for every other kind.
    """

    branch: str
    node: str
    visit: int
    kind: str
    until_ms: int | None
    sequence: int
    steps: tuple[StepRecord, ...] = ()
    plan: JsonValue = None
    plan_digest: str = ""


@dataclass(frozen=True, slots=True)
class Observe:
    """Read a completion's source until it is there or ``until_ms`` has come."""

    branch: str
    node: str
    visit: int
    operation: str
    connection: str
    input: JsonValue
    until_ms: int
    sequence: int
    steps: tuple[StepRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class StopWaiting:
    """Nobody waits at this visit any more: its timer or poll may end."""

    branch: str
    node: str
    visit: int
    resolution: str


@dataclass(frozen=True, slots=True)
class Attend:
    """A person is needed for this effect; nothing is sent until one acts."""

    branch: str
    node: str
    visit: int
    code: str


@dataclass(frozen=True, slots=True)
class Close:
    """End the execution; the answer comes back as ``ClosedAs``."""

    closing: Closing


Command: TypeAlias = PerformCall | StartTimer | Observe | StopWaiting | Attend | Close
