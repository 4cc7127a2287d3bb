"""A scenario as data: what is given, what the world does and when, and what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from interpreter.contract.values import JsonValue

DEFAULT_RUN_ID = "00000000-0000-4000-8000-000000000000"


class Dialect(StrEnum):
    """Whose semantics a case has.

    ``FULL`` follows production: attempts and back-off by policy, calls that take time, people who
    act. ``PUBLIC`` is the older public format, in which calls take no time and every reply after
    the first stands for an operator's act.
    """

    FULL = "full"
    PUBLIC = "public"


class ReplyType(StrEnum):
    """What a product answers to one attempt."""

    SUCCESS = "success"
    RETRYABLE = "retryable"
    REFUSED = "refused"
    DECLARED_REFUSAL = "declared-refusal"
    UNCERTAIN = "uncertain"
    RECEIPT_EXPIRED = "receipt-expired"


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer: a ``value`` for success, a short ``code`` for the others.

    ``takes_ms`` is how long the attempt lasts, ``retry_after_ms`` what a retryable answer asks for
    in place of the policy's delay.
    """

    type: ReplyType
    value: JsonValue = None
    code: str = ""
    takes_ms: int = 0
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """Either an instant (epoch milliseconds), or a time after what the moment belongs to."""

    at_ms: int | None = None
    after_ms: int = 0

    def due(self, anchor_ms: int) -> int:
        """The moment as epoch milliseconds, given when what it belongs to came up."""
        return anchor_ms + self.after_ms if self.at_ms is None else self.at_ms


@dataclass(frozen=True, slots=True)
class Completion:
    """The coordinator learns the result that wait ``step`` waits for, or that it never comes."""

    step: str
    moment: Moment
    value: JsonValue = None
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal arrives; counted from when the run came to ``step``, or from admission."""

    name: str
    payload: JsonValue
    moment: Moment
    step: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """A person approves or rejects the plan of ``step``.

    With ``plan_given`` the person saw exactly ``plan``, and the case fails if that is not the one
    that is open; otherwise they decide about whatever is open.
    """

    step: str
    approved: bool
    moment: Moment
    plan: JsonValue = None
    plan_given: bool = False


@dataclass(frozen=True, slots=True)
class Cancel:
    """Somebody cancels the run; counted from when it came to ``step``, or from admission."""

    moment: Moment
    step: str = ""


class ActKind(StrEnum):
    """What an operator may do about an unknown effect."""

    RETRY_SAME = "retry-same"
    RECONCILE = "reconcile"


@dataclass(frozen=True, slots=True)
class Act:
    """An operator settles the unknown effect of ``step``, which consumes its next reply."""

    kind: ActKind
    step: str
    moment: Moment


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario.

    ``admitted_ms`` is epoch milliseconds. ``recovery`` (step -> act) belongs to the public dialect
    alone. ``expected`` holds only what the author wrote, by member: ``path``, ``state``,
    ``outcome``, ``output``, ``elapsedSeconds`` (public: ``workflowElapsedSeconds``), ``effects``,
    ``failureCode``. ``stop`` ends the case before the run ends.
    """

    id: str
    admitted_ms: int
    input: JsonValue
    expected: Mapping[str, JsonValue]
    dialect: Dialect = Dialect.FULL
    replies: Mapping[str, tuple[Reply, ...]] = field(default_factory=dict)
    recovery: Mapping[str, ActKind] = field(default_factory=dict)
    completions: tuple[Completion, ...] = ()
    signals: tuple[Signal, ...] = ()
    decisions: tuple[Decision, ...] = ()
    acts: tuple[Act, ...] = ()
    cancel: Cancel | None = None
    stop: Moment | None = None
    run_id: str = DEFAULT_RUN_ID
