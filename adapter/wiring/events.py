"""Admission by an event: the trigger of the active definition says what the run gets."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import lru_cache

from adapter import api
from adapter.errors import Refused
from adapter.ledger import Admission, Admitted, Ledger
from adapter.wiring.inputs import ByRevision, input_check
from interpreter.contract.runs import Binding
from interpreter.contract.values import JsonValue, canonical_bytes
from interpreter.definition.document import Definition, Trigger
from interpreter.errors import MappingError
from interpreter.machine import Program, prepare
from interpreter.machine.triggers import trigger_input

_ISSUER = "event-source"
_SCOPE = ""
_ROUNDS = 3


async def admit_event(ledger: Ledger, binding: Binding, wish: api.EventRequest) -> Admitted:
    """The run of an event, admitted now if the event is new.

    A known event is looked up before anything else, so that it finds its run whatever was
    activated since. Raises Refused ``event.id-reused`` (409) where another event had its id, what
    `Admissions.admit` raises, ``trigger.unknown`` (404), ``event.type-unexpected`` or
    ``event.invalid`` (422), ``event.source-denied`` (403), ``event.unmapped`` (422).
    """
    admission = _admission(ledger, binding, wish)
    try:
        for _ in range(_ROUNDS):
            known = await ledger.admissions.find(admission)
            if known is not None:
                return known
            asked, value = await _asked(ledger, admission, wish)
            try:
                return await ledger.admissions.admit(asked, input_check(value))
            except Refused as error:
                # Another revision may have been activated meanwhile: then its trigger counts.
                if error.code != "revision.not-active" or not asked.expected_revision:
                    raise
    except Refused as error:
        if error.code == "idempotency.key-reused":
            raise _id_reused() from error
        raise
    raise Refused(
        "revision.not-active",
        "other revisions were activated while the event was being admitted",
        place=wish.workflow,
        remedy="send the event again",
    )


def _admission(ledger: Ledger, binding: Binding, wish: api.EventRequest) -> Admission:
    event = wish.event
    identity = canonical_bytes([wish.trigger, event.source, event.id]).decode()
    return Admission(
        # By what the events call themselves: the sender's name here, and its secret, may change.
        owner=ledger.keyed.owner(_ISSUER, event.source),
        scope=_SCOPE,
        workflow=wish.workflow,
        idempotency_key=identity,
        expected_revision="",
        input=None,
        binding=binding,
        content={"type": event.type, "subject": event.subject, "data": event.data},
        trigger=wish.trigger,
    )


async def _asked(
    ledger: Ledger, admission: Admission, wish: api.EventRequest
) -> tuple[Admission, JsonValue]:
    """The admission with the input that the active definition's trigger makes of the event."""
    active = await ledger.packages.active(wish.workflow)
    if active is None:
        # The ledger says which it is: unknown, held or inactive.
        return admission, None
    definition = await ledger.definitions.get(active.revision)
    trigger = _fitting(definition, wish)
    value = await asyncio.to_thread(_mapped, definition, wish, trigger)
    return replace(admission, expected_revision=active.revision, input=value), value


def _fitting(definition: Definition, wish: api.EventRequest) -> Trigger:
    trigger = definition.triggers.get(wish.trigger)
    if trigger is None:
        raise Refused(
            "trigger.unknown",
            "the workflow's active revision declares no such trigger",
            place="path/trigger",
            remedy="check the address that events are sent to",
            status=404,
        )
    if wish.event.type != trigger.event:
        raise Refused(
            "event.type-unexpected",
            "the trigger takes events of another type",
            place="/type",
            remedy="send this event to the trigger that declares its type",
            status=422,
        )
    if trigger.source is not None and wish.event.source != trigger.source:
        raise Refused(
            "event.source-denied",
            "the trigger takes events of another source",
            place="/source",
            remedy="send the event where its source is declared",
            status=403,
        )
    return trigger


def _mapped(definition: Definition, wish: api.EventRequest, trigger: Trigger) -> JsonValue:
    program = _prepared(ByRevision(definition))
    # The cached program's own schema, since compiled schemas are kept by identity.
    schema = program.definition.triggers[wish.trigger].event_schema
    misfit = program.schemas.broken(schema, wish.event.data)
    if misfit is not None:
        raise Refused(
            "event.invalid",
            f"the event's data does not fit what the trigger declares: {misfit.rule}",
            place=f"/data{misfit.pointer}",
            remedy="see the trigger's schema in the workflow's project",
            status=422,
        )
    try:
        return trigger_input(program, wish.trigger, trigger, wish.event.data)
    except MappingError as error:
        raise Refused(
            "event.unmapped",
            f"the trigger's mapping makes no input of this event ({error.code})",
            place=error.place,
            remedy="correct the trigger's mapping; it reads what the schema does not promise",
            status=422,
        ) from error


@lru_cache(maxsize=64)
def _prepared(key: ByRevision) -> Program:
    return prepare(key.definition)


def _id_reused() -> Refused:
    return Refused(
        "event.id-reused",
        "an earlier event with this source and id had another content",
        place="/id",
        remedy="give every event an id of its own; repeat one unchanged",
    )
