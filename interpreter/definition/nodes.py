"""The node kinds of a definition, one frozen model each, and their ways out."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from interpreter.contract.values import Document, JsonValue
from interpreter.definition.mappings import Mapping

REFUSAL_OUTLET = "refused:"
"""A declared refusal leaves a call through ``refused:<code>``."""


class Policy(Document):
    """How often and how long a node is tried; absent members fall back to the contract's."""

    attempts: int | None = Field(default=None, ge=1)
    attempt_timeout_seconds: float | None = Field(default=None, gt=0)
    retry_delay_seconds: float | None = Field(default=None, gt=0)
    retry_growth: float | None = Field(default=None, ge=1)
    most_visits: int = Field(default=1, ge=1)


class Compensation(Document):
    """The call that undoes an accepted effect."""

    operation: str
    input: Mapping


class Node(Document):
    """What every node has: its outlets (name -> node id) and an optional policy."""

    outlets: dict[str, str] = Field(default_factory=dict)
    policy: Policy = Policy()


class CallNode(Node):
    """One operation with a mapped input: ``next``, ``refused:<code>``, ``failed``, ``fallback``."""

    kind: Literal["call"] = "call"
    operation: str
    input: Mapping
    compensation: Compensation | None = None


class Case(Document):
    """An ordered condition of a choose node: the outlet is taken when ``when`` is true."""

    when: Mapping
    outlet: str


class ChooseNode(Node):
    """A mapping that gives an outlet's name, or ordered cases with an ``otherwise``.

    With ``failed_is_case`` the outlet ``failed`` is an authored label like any other, so a mapping
    that gives no value fails the run. Absent and false are one, and absent leaves no trace in the
    revision.
    """

    kind: Literal["choose"] = "choose"
    choose: Mapping | None = None
    cases: tuple[Case, ...] = ()
    otherwise: str | None = None
    failed_is_case: bool | None = None


class MapNode(Node):
    """A mapping whose value becomes the step's output: ``next``, ``failed``."""

    kind: Literal["map"] = "map"
    value: Mapping


class UntilInstant(Document):
    """Until an RFC 3339 instant with offset: ``elapsed``."""

    type: Literal["instant"] = "instant"
    at: Mapping


class ForDuration(Document):
    """For a number of seconds since the wait opened: ``elapsed``."""

    type: Literal["duration"] = "duration"
    seconds: int = Field(ge=0)


class ForCompletion(Document):
    """For a named completion of an earlier call: ``completed``, ``expired``, ``cancelled``."""

    type: Literal["completion"] = "completion"
    call: str
    completion: str
    timeout_seconds: int = Field(gt=0)


class ForSignal(Document):
    """For a signal with a schema: ``resumed``, ``expired``, ``cancelled``."""

    type: Literal["signal"] = "signal"
    signal: str
    signal_schema: JsonValue = Field(alias="schema")
    timeout_seconds: int = Field(gt=0)


class ForApproval(Document):
    """For a person's approval of exactly this plan: ``approved``, ``rejected``, ``expired``."""

    type: Literal["approval"] = "approval"
    plan: Mapping
    timeout_seconds: int = Field(gt=0)


WaitSource: TypeAlias = Annotated[
    UntilInstant | ForDuration | ForCompletion | ForSignal | ForApproval,
    Field(discriminator="type"),
]


class WaitNode(Node):
    """Durable waiting; a timeout without an ``expired`` outlet fails the run (``wait-timeout``)."""

    kind: Literal["wait"] = "wait"
    wait: WaitSource


class EachNode(Node):
    """Fans out over a list, or over fixed branches, with bounded parallelism: ``each``."""

    kind: Literal["each"] = "each"
    items: Mapping | None = None
    branches: tuple[str, ...] = ()
    key: str | None = None
    parallelism: int = Field(default=1, ge=1)


class JoinNode(Node):
    """Gathers one each node: ``completed``, ``partial``."""

    kind: Literal["join"] = "join"
    each: str
    mode: Literal["all", "any", "at-least"] = "all"
    threshold: int | None = Field(default=None, ge=1)


class FinishNode(Node):
    """Ends the run with an outcome and the output that it publishes (null without a mapping)."""

    kind: Literal["finish"] = "finish"
    outcome: str
    output: Mapping | None = None


AnyNode: TypeAlias = Annotated[
    CallNode | ChooseNode | MapNode | WaitNode | EachNode | JoinNode | FinishNode,
    Field(discriminator="kind"),
]
