"""What an admission asks for, and why it is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from adapter.errors import Refused
from interpreter.contract.runs import Binding
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class Admission:
    """A request to start a run.

    ``owner`` is the keyed reference of the verified caller, ``scope`` the caller's tenant;
    ``successor`` counts fresh runs of one key after a rollback. With ``content`` a repeated request
    is the same when its content is, whatever revision and input it would have today: an event,
    sent to ``trigger``.
    """

    owner: str
    scope: str
    workflow: str
    idempotency_key: str
    expected_revision: str
    input: JsonValue
    binding: Binding = field(default_factory=Binding)
    successor: int = 0
    content: JsonValue = None
    trigger: str = ""


@dataclass(frozen=True, slots=True)
class AdmissionFacts:
    """The active package of a workflow (None where there is none) and the admission's instant."""

    now: datetime
    held: bool
    revision: str | None
    package: str | None
    version: str | None
    deadline_seconds: int | None
    known_workflow: bool


@dataclass(frozen=True, slots=True)
class ActivePackage:
    """The package that a run is admitted with, and when."""

    now: datetime
    revision: str
    package: str
    version: str
    deadline_seconds: int


def require_active(admission: Admission, facts: AdmissionFacts | None) -> ActivePackage:
    """The package to admit with, which is the active one; Refused otherwise."""
    if facts is None or not facts.known_workflow:
        raise Refused(
            "workflow.unknown",
            "this deployment has no such workflow",
            place=admission.workflow[:64],
            remedy="apply its package, or check the name",
            status=404,
        )
    if facts.held:
        raise Refused(
            "admission.held",
            "a hold keeps new runs out",
            place=admission.workflow,
            remedy="repeat with the same key once the hold is released",
        )
    if facts.revision is None or facts.revision != admission.expected_revision:
        active = f"the active revision is {facts.revision}" if facts.revision else "none is active"
        raise Refused(
            "revision.not-active",
            "the expected revision is not the active one",
            place="/revision",
            remedy=f"{active}; use it once its changes are understood",
        )
    return ActivePackage(
        facts.now,
        facts.revision,
        facts.package or "",
        facts.version or "",
        facts.deadline_seconds or 0,
    )


def recovery_only_refusal() -> Refused:
    return Refused(
        "admission.recovery-only",
        "the service was started for recovery only and admits nothing",
        place="service",
        remedy="repeat with the same key once it serves as usual",
    )
