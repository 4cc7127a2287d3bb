"""Request bodies: strict JSON, and the models of what callers send and get."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from adapter.api.problems import refused
from interpreter.contract.values import DEEPEST_JSON, JsonValue, nested_deeper

_Model = TypeVar("_Model", bound=BaseModel)


WORKFLOW_ID = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"


class Body(BaseModel):
    """A message of the service: camelCase names, no coercion, unknown members refused."""

    model_config = ConfigDict(
        strict=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class StartRequest(Body):
    """The wish to start a run of a workflow's expected revision."""

    workflow: str = Field(pattern=WORKFLOW_ID, description="Id of an active workflow")
    revision: str = Field(
        pattern=r"^sha256:[0-9a-f]{64}$", description="The revision that the caller expects"
    )
    input: Any = Field(description="Fits the input schema of the workflow")


class CancelRequest(Body):
    """The wish to cancel a run; the reason is kept in the run's record."""

    reason: str = Field(description="1 to 256 bytes without control characters")


class ActRequest(CancelRequest):
    """The wish to do something about an unknown effect."""

    effect: str | None = Field(
        None,
        pattern=r"^[^\x00-\x1f\x7f]{0,256}$",
        description="Id of the effect; the only unknown one without it",
    )


class Control(Body):
    """Something that may be done about the run now."""

    name: str
    method: str
    href: str


class Links(Body):
    """Addresses below this service."""

    self: str
    inspect: str
    events: str


class RunSummary(Body):
    """How a run stands, without any value of it."""

    run_id: str
    workflow: str
    version: str
    revision: str
    state: str = Field(description="The state, in full detail; see docs/states.md")
    status: str = Field(description="The state in the words of the workflow's own format")
    start: str = Field(description="start_pending, started or start_failed")
    outcome: str | None = None
    failure_code: str | None = None
    failure_place: str | None = None
    admitted_at: datetime
    deadline_at: datetime
    closed_at: datetime | None = None
    under_review: bool = Field(False, description="held after a restore until somebody has looked")
    erased_at: datetime | None = Field(None, description="when retention took the payloads")
    links: Links
    controls: list[Control]


class RunStatus(RunSummary):
    """How a run stands; ``output`` is what the workflow published at its finish."""

    output: Any = None


class StartedRun(RunStatus):
    """A run as a start answers it; ``created`` is false when an earlier request made it."""

    created: bool


class Act(Body):
    """What an operator did about a run; ``outcome`` is null while it is not known."""

    id: str
    kind: str
    effect: str | None = None
    actor: str
    reason: str
    state: str = Field(description="recorded, delivered, done or refused")
    outcome: str | None = None
    code: str | None = None
    recorded_at: datetime
    concluded_at: datetime | None = None
    href: str


class RunAct(RunStatus):
    """A run after an act, as far as it has come."""

    act: Act


class Workflow(Body):
    """A workflow that may be started, with the revision a start has to expect."""

    workflow: str
    version: str
    revision: str
    package: str


class WorkflowList(Body):
    """The active workflows that the caller may know of."""

    workflows: list[Workflow]


class RunList(Body):
    """Runs, newest admission first; pass ``next`` as ``cursor`` for the following page."""

    runs: list[RunSummary]
    next: str | None = None


class Step(Body):
    """One visit of a node."""

    id: str
    node: str
    kind: str
    state: str
    outlet: str | None = None
    code: str | None = None
    at: datetime | None = None


class Effect(Body):
    """One call: ``pending``, ``accepted``, ``unknown`` or ``not-applied``."""

    id: str
    node: str
    operation: str
    connection: str
    state: str
    code: str | None = None
    attempts: int
    dispatched_at: datetime | None = None
    settled_at: datetime | None = None
    receipt: str | None = Field(None, description="Digest of the product's own proof")


class Wait(Body):
    """One wait: its timing and how often its source was read."""

    id: str
    node: str
    kind: str
    opened_at: datetime | None = None
    due_at: datetime | None = None
    observations: int
    observed_at: datetime | None = None
    resolution: str | None = None


class Signal(Body):
    """A signal as it stands; what it carries stays sealed."""

    id: str
    name: str
    outcome: str | None = Field(
        None, description="completed, kept, late or too-many; null while it is not known"
    )
    wait: str | None = Field(None, description="The wait that took it, once the ledger knows")
    recorded_at: datetime
    concluded_at: datetime | None = None


class Execution(Body):
    """Where the run is found in Temporal."""

    workflow_id: str
    run_id: str | None = None


class RunInspection(Body):
    """A run in detail; inputs, replies, commands and what signals carry stay sealed."""

    run: RunStatus
    steps: list[Step]
    effects: list[Effect]
    waits: list[Wait]
    acts: list[Act]
    signals: list[Signal]
    execution: Execution


class Event(Body):
    """One event of a run."""

    sequence: int
    type: str
    at: datetime
    data: dict[str, Any]


class EventList(Body):
    """Events of a run in order; pass ``next`` as ``after`` to go on from here."""

    events: list[Event]
    next: int


class CompletionNotice(Body):
    """A completion event was taken; whether anybody waits for it is not told."""

    repeated: bool = Field(description="The event was taken before, and changes nothing")


class EventAnswer(Body):
    """The run of an event."""

    run_id: str
    created: bool = Field(description="False when the event has admitted this run before")


class SignalAnswer(Signal):
    """A signal as its sender is told of it."""

    key: str = Field(description="The signal's id as its sender knows it")


async def read_body(request: Request, model: type[_Model]) -> _Model:
    """The request's JSON body as a model.

    Raises Refused ``request.content-type`` or ``request.invalid`` with the pointer of what is
    wrong, never its value.
    """
    value = await read_json(request)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise refused(
            "request.invalid",
            _complaint(first["type"]),
            place="".join(f"/{part}" for part in _known_part(first["type"], first["loc"])),
            remedy="see /openapi.json for the form of this body",
        ) from error


async def read_json(request: Request) -> JsonValue:
    """The request's JSON body; Refused ``request.content-type`` or ``request.invalid``."""
    require_json(request)
    return strict_json(await request.body())


def require_json(request: Request) -> None:
    """Refuse a body whose type is no JSON: Refused ``request.content-type``."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    subtype = media_type.removeprefix("application/")
    if subtype == media_type or not (subtype == "json" or subtype.endswith("+json")):
        raise refused(
            "request.content-type",
            "the body's content type is not JSON",
            place="Content-Type",
            remedy="send application/json",
        )


def _known_part(kind: str, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Where an error is, in names of ours: that of an unknown member is the sender's."""
    return location[:-1] if kind == "extra_forbidden" else location


def _complaint(kind: str) -> str:
    if kind == "missing":
        return "a required member of the body is missing"
    if kind == "extra_forbidden":
        return "the body has a member that is not known here"
    return "a member of the body does not have the form that is asked for"


def strict_json(data: bytes) -> JsonValue:
    """A JSON text by the letter of RFC 8259, with unique keys, finite numbers, at most 256 levels.

    Raises Refused ``request.invalid``.
    """
    try:
        value = json.loads(
            data.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant
        )
        # Lone surrogates pass the parser, and no text that leaves this process may hold one.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        if nested_deeper(data, value, DEEPEST_JSON):
            raise ValueError("nested too deep")
    except (ValueError, RecursionError) as error:
        raise refused(
            "request.invalid",
            "the body is not one JSON value with unique keys",
            remedy="send UTF-8 JSON, every key once, numbers finite, 256 levels at most",
        ) from error
    return value


def _unique(pairs: Sequence[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError("not a JSON number")
