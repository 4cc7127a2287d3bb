"""An operator's act as it is asked for and as it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from activities.errors import ActivityError
from adapter.errors import Refused
from adapter.ledger.act_rules import ActKind, Subject
from adapter.ledger.entry import RunRow
from interpreter.contract.effects import VisitRef, visit_ref
from interpreter.contract.runs import workflow_id
from interpreter.contract.values import JsonValue, canonical_bytes


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants done; ``effect`` is ``branch/node:visit``, empty for the only one.

    ``request_id`` makes it repeatable: one id is one act of its kind on its run.
    """

    kind: ActKind
    actor: str
    reason: str
    request_id: str
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """An act as it stands; ``outcome`` is empty while it is not known."""

    id: str
    run_id: str
    workflow: str
    execution: int
    kind: str
    visit: str
    generation: int
    sequence: int
    actor: str
    request_digest: str
    sealed_reason: bytes
    preconditions: dict[str, JsonValue]
    state: str
    outcome: str
    code: str
    recorded_at: datetime
    delivered_at: datetime | None
    concluded_at: datetime | None
    wrapped_key: bytes | None

    @property
    def workflow_id(self) -> str:
        """The Temporal workflow id of the run's latest execution."""
        return workflow_id(self.workflow, self.run_id, self.execution)

    @property
    def effect(self) -> VisitRef:
        """The effect that a retry-same or reconcile is about."""
        return visit_ref(self.run_id, f"{self.visit}:{self.generation}")[0]


@dataclass(frozen=True, slots=True)
class LateAnswer:
    """An effect whose answer came late, in a run that still stands in attention."""

    run_id: str
    visit: str
    generation: int


def snapshot(run: RunRow, subject: Subject | None) -> str:
    """What an act was judged by: states, codes and counts, never a value."""
    seen: dict[str, JsonValue] = {
        "state": run.state,
        "held": run.held,
        "cancelRequested": run.cancel_requested_at is not None,
    }
    if subject is not None:
        facts = subject.facts
        seen |= {
            "outcome": facts.outcome,
            "code": facts.code,
            "uncertain": facts.uncertain,
            "generation": subject.candidate.generation,
            "attempts": facts.attempts,
            "unresolved": facts.unresolved,
        }
    return canonical_bytes(seen).decode()


def act_key(act_id: str) -> str:
    try:
        return str(UUID(act_id))
    except ValueError as error:
        raise unknown_act() from error


def unknown_act() -> ActivityError:
    return ActivityError(
        "act.unknown",
        "the ledger has no act with this id",
        place="act",
        remedy="list the acts of the run with inspect",
    )


def reused() -> Refused:
    return Refused(
        "idempotency.key-reused",
        "the request id belongs to another act on this run",
        place="Idempotency-Key",
        remedy="use a fresh request id for another reason, effect or actor",
    )
