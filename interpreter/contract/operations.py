"""What a host operation promises: the contract that a definition pins."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from interpreter.contract.values import Document, JsonValue

OperationId = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*/v[1-9][0-9]*$")
]
"""``product.operation/vN``; also the Temporal activity type of the call."""


class EffectClass(StrEnum):
    """What a call may change outside."""

    READ = "read"
    MUTATION = "mutation"
    EVALUATION = "evaluation"


class Recovery(StrEnum):
    """What may be done about a command that may have been sent (seed: "does not guess")."""

    READ_AGAIN = "read-again"
    SAME_COMMAND = "same-command"
    SAME_COMMAND_AND_RECEIPT = "same-command-and-receipt"
    HOLD_AFTER_DISPATCH = "hold-after-dispatch"


class Condition(Document):
    """True of a JSON value when the member at ``path`` equals one of ``values``."""

    path: str
    values: tuple[str, ...] = Field(alias="in")


class Completion(Document):
    """How a later result of an accepted call is observed.

    ``read`` is called with ``input`` (member -> JSON pointer into the accepted reply) every
    ``poll_seconds``; the wait completes with the value at ``value`` once ``done`` holds and fails
    once ``gone`` holds.
    """

    read: OperationId
    input: dict[str, str]
    done: Condition
    gone: Condition | None = None
    value: str
    value_schema: JsonValue = Field(alias="schema")
    poll_seconds: int = 900


class Attempts(Document):
    """Limits of one effect where the node's policy says nothing.

    ``limit`` attempts, each with a send budget of ``timeout_milliseconds``; the first pause is
    ``delay_seconds``, each further one ``growth`` times longer, at most ``longest_delay_seconds``.
    """

    limit: int = Field(default=3, ge=1)
    timeout_milliseconds: int = Field(default=10_000, ge=1)
    delay_seconds: float = Field(default=1.0, gt=0)
    growth: float = Field(default=2.0, ge=1)
    longest_delay_seconds: float = Field(default=300.0, gt=0)


class OperationContract(Document):
    """The facts about one versioned operation that shape how a run may use it.

    ``receipt_window_seconds`` counts from the first dispatch and bounds every resend (protocol
    rule 7); None means the product keeps keys for good. ``proposal`` marks an action that only
    proposes a change: a project can not call it.
    """

    id: OperationId
    product: str
    title: str = ""
    effect: EffectClass
    recovery: Recovery
    key: bool = False
    preparation: bool = False
    receipt: bool = False
    proposal: bool = False
    receipt_window_seconds: int | None = None
    refusals: tuple[str, ...] = ()
    completions: dict[str, Completion] = Field(default_factory=dict)
    attempts: Attempts = Attempts()
    request: JsonValue
    response: JsonValue
