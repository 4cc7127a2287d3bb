"""A small definition, and short words for what the ledger is asked to write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from typing import Any

from activities.ports import Claim, Command, Dispatched, Limits, ReadOutcome, Settlement
from adapter.ledger import Admission, Ledger, Package
from interpreter.contract.effects import ROOT_BRANCH, Reply, ReplyKind, VisitRef
from interpreter.contract.operations import EffectClass, OperationContract, Recovery
from interpreter.definition.document import Definition, Labels, Operation

_tokens = count(1)
LIMITS = Limits(attempts=3, send_budget=10.0, delay=2.0, growth=3.0, longest_delay=60.0)


def contract(
    effect: EffectClass = EffectClass.MUTATION,
    recovery: Recovery = Recovery.SAME_COMMAND,
    **more: Any,
) -> OperationContract:
    """A contract of one class."""
    return OperationContract(
        id="messaging.submit-message/v1",
        product="messaging",
        effect=effect,
        recovery=recovery,
        request=True,
        response=True,
        **more,
    )


READ = contract(EffectClass.READ, Recovery.READ_AGAIN)
MUTATION = contract()
EVALUATION = contract(EffectClass.EVALUATION, Recovery.HOLD_AFTER_DISPATCH)

DEFINITION = Definition.model_validate(
    {
        "id": "reviewed-notice",
        "inputSchema": True,
        "outcomes": {"done": True},
        "deadlineSeconds": 3600,
        "operations": {"send": Operation(connection="post", contract=MUTATION).to_json()},
        "start": "send",
        "nodes": {
            "send": {
                "kind": "call",
                "operation": "send",
                "input": {"input": ""},
                "outlets": {"next": "end"},
                "policy": {"attempts": 7},
            },
            "end": {"kind": "finish", "outcome": "done"},
        },
    }
)
PACKAGE = Package("sha256:p1", DEFINITION, Labels(version="1.0.0", title="A notice"))


def admission(key: str = "key-1", **changes: Any) -> Admission:
    """A start of the active package."""
    asked = Admission(
        owner="owner-a",
        scope="tenant-a",
        workflow=DEFINITION.id,
        idempotency_key=key,
        expected_revision=DEFINITION.revision,
        input={"name": "Ada"},
    )
    return replace(asked, **changes)


def effect(run_id: str, node: str = "send", visit: int = 1) -> VisitRef:
    """One effect of a run."""
    return VisitRef(run_id, ROOT_BRANCH, node, visit)


def claim(reference: VisitRef, what: OperationContract = MUTATION, **changes: Any) -> Claim:
    """A fresh attempt's claim."""
    asked = Claim(
        effect=reference,
        generation=1,
        token=f"token-{next(_tokens)}",
        command=Command("post", what.id, {"to": "Ada"}),
        contract=what,
        limits=LIMITS,
        sequence=1,
    )
    return replace(asked, **changes)


def answer(claimed: Claim, reply: Reply, **changes: Any) -> Settlement:
    """The answer of a claimed attempt."""
    settlement = Settlement(
        claimed.effect,
        claimed.generation,
        claimed.token,
        claimed.contract,
        claimed.limits,
        reply,
        claimed.sequence + 1,
    )
    return replace(settlement, **changes)


def read(reference: VisitRef, output: Any = None, sequence: int = 1) -> ReadOutcome:
    """An accepted local read."""
    command = Command("registry", READ.id, {"id": "r1"})
    return ReadOutcome(reference, command, accepted(output), sequence)


def accepted(output: Any = None) -> Reply:
    """An accepted reply."""
    return Reply(ReplyKind.ACCEPTED, output)


def refused(code: str = "product-refused") -> Reply:
    """A refusal."""
    return Reply(ReplyKind.REFUSED, code=code)


def retryable(code: str = "rate-limited") -> Reply:
    """An answer that proves that nothing was applied."""
    return Reply(ReplyKind.RETRYABLE, code=code)


def unknown(code: str = "transport-uncertain") -> Reply:
    """The lack of an answer."""
    return Reply(ReplyKind.UNKNOWN, code=code)


async def dispatch(ledger: Ledger, claimed: Claim) -> Dispatched:
    """Claim, and insist on the permission to send."""
    permitted = await ledger.effects.claim(claimed)
    assert isinstance(permitted, Dispatched), permitted
    return permitted


async def lapse(sql: Callable[..., Awaitable[list[Any]]]) -> None:
    """Let every lease be over."""
    await sql("update coordinator.attempts set lease_until = clock_timestamp() - interval '1 s'")


async def pass_deadline(sql: Callable[..., Awaitable[list[Any]]]) -> None:
    """Let every deadline be over."""
    await sql("update coordinator.runs set deadline_at = clock_timestamp() - interval '1 s'")
