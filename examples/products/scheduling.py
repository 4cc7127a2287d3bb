"""Scheduling: the policy in force, free slots, and appointments with their receipts."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.idempotency import Applied, Command, KeyBook
from examples.products.problems import Problem
from examples.products.store import Store, timestamp
from examples.products.wire import (
    digest_of,
    idempotency_key,
    instant,
    optional_text,
    read_object,
    refuse_unknown,
    text,
)

POLICY_REVISION = 3
SLOTS_AT_ONCE = 20
_INVALID = "appointment-invalid"
_SLOT = timedelta(minutes=30)
_OPENING_HOURS = range(9, 17)
_ADMISSION = (
    "offering",
    "start",
    "party",
    "channel",
    "duplicateKey",
    "policyRevision",
    "windowRevision",
    "capabilities",
    "prerequisites",
    "externalReferences",
)


class Scheduling:
    """A calendar of half-hour slots on weekdays from nine to five, in UTC."""

    def __init__(self, store: Store, keys: KeyBook) -> None:
        self._store = store
        self._keys = keys

    def routes(self) -> APIRouter:
        """The routes under ``/v1``."""
        router = APIRouter()
        router.add_api_route("/v1/scheduling", self.read_scheduling, methods=["GET"])
        router.add_api_route("/v1/availability", self.read_availability, methods=["GET"])
        router.add_api_route("/v1/appointments", self.create, methods=["POST"])
        router.add_api_route("/v1/appointments/receipt", self.receipt, methods=["POST"])
        return router

    async def read_scheduling(self) -> Response:
        """The id of the calendar and the revision and digest of its policy."""
        policy = {"slotMinutes": 30, "slotsAtOnce": SLOTS_AT_ONCE, "revision": POLICY_REVISION}
        return JSONResponse(
            {
                "schedulingId": "pretend-scheduling",
                "policyRevision": POLICY_REVISION,
                "policyDigest": digest_of(policy),
            }
        )

    async def read_availability(self, request: Request) -> Response:
        """Slots of one offering between two instants, at most 31 days apart, at most 100."""
        offering, start, end, limit = _window(request)
        taken = {
            row["starts_at"]: row["taken"]
            for row in self._store.all(
                "SELECT starts_at, count(*) AS taken FROM appointments WHERE offering = ?"
                " GROUP BY starts_at",
                offering,
            )
        }
        items: list[dict[str, Any]] = []
        cursor = None
        for slot in _slots(start, end):
            if len(items) == limit:
                cursor = timestamp(slot)
                break
            free = max(0, SLOTS_AT_ONCE - taken.get(timestamp(slot), 0))
            items.append(
                {
                    "kind": "slot",
                    "start": timestamp(slot),
                    "end": timestamp(slot + _SLOT),
                    "free": free,
                }
            )
        return JSONResponse({"items": items, "nextCursor": cursor})

    async def create(self, request: Request) -> Response:
        """Book a slot: 201 with the appointment."""
        _require_task(request)
        command, admission = await _command(request)
        return self._keys.accept(command, lambda: self._book(admission))

    async def receipt(self, request: Request) -> Response:
        """The appointment that the same key and the same body made."""
        command, _ = await _command(request)
        return self._keys.receipt(command)

    def _book(self, admission: dict[str, Any]) -> Applied:
        start = instant(admission["start"], "start", _INVALID)
        if admission.get("policyRevision") not in (None, POLICY_REVISION):
            raise Problem(409, "policy-changed", "Read the scheduling policy again.")
        self._refuse_taken(admission["offering"], start, admission.get("duplicateKey"))
        appointment_id = str(uuid.uuid4())
        self._store.run(
            "INSERT INTO appointments VALUES (?, ?, ?, ?)",
            appointment_id,
            admission["offering"],
            timestamp(start),
            admission.get("duplicateKey"),
        )
        appointment = {
            "appointmentId": appointment_id,
            "offering": admission["offering"],
            "start": timestamp(start),
            "end": timestamp(start + _SLOT),
            "resource": "desk-1",
            "units": 1,
            "channel": admission.get("channel"),
            "revision": 1,
            "state": "booked",
            "policyRevision": POLICY_REVISION,
            "createdAt": timestamp(),
            "cancelledAt": None,
            "externalReferences": admission.get("externalReferences") or [],
        }
        return Applied(201, appointment, appointment_id)

    def _refuse_taken(self, offering: str, start: datetime, duplicate_key: str | None) -> None:
        row = self._store.one(
            "SELECT count(*) AS taken, coalesce(max(duplicate_key = ?), 0) AS again"
            " FROM appointments WHERE (offering = ? AND starts_at = ?) OR duplicate_key = ?",
            duplicate_key,
            offering,
            timestamp(start),
            duplicate_key,
        )
        if row is not None and row["again"]:
            raise Problem(409, "duplicate-appointment", "This party has such an appointment.")
        if row is not None and row["taken"] >= SLOTS_AT_ONCE:
            raise Problem(409, "slot-unavailable", "This slot is full; choose another one.")


def _require_task(request: Request) -> None:
    """A token that an issuer gave is for a task, or books nothing."""
    claims = getattr(request.state, "claims", None)
    if claims is not None and "registry_grant_id" not in claims:
        raise Problem(403, "task-grant-required", "Book with the token of a task's grant.")


def _window(request: Request) -> tuple[str, datetime, datetime, int]:
    query = request.query_params
    code = "availability-invalid"
    offering = text(dict(query), "offering", code)
    start = instant(query.get("start"), "start", code)
    end = instant(query.get("end"), "end", code)
    if not start < end or end - start > timedelta(days=31):
        raise Problem(422, code, "end must be after start and at most 31 days later.")
    limit = query.get("limit", "")
    if not limit.isascii() or not limit.isdigit() or not 1 <= int(limit[:4]) <= 100:
        raise Problem(422, code, "limit must be a number from 1 to 100.")
    return offering, start, end, int(limit)


def _slots(start: datetime, end: datetime) -> list[datetime]:
    slot = datetime(start.year, start.month, start.day, tzinfo=UTC)
    slots = []
    while slot + _SLOT <= end:
        if slot >= start and slot.weekday() < 5 and slot.hour in _OPENING_HOURS:
            slots.append(slot)
        slot += _SLOT
    return slots


async def _command(request: Request) -> tuple[Command, dict[str, Any]]:
    key = idempotency_key(request)
    body = await read_object(request)
    refuse_unknown(body, ("hold", "admission"), _INVALID)
    if body.get("hold") is not None:
        raise Problem(422, _INVALID, "hold must be null.")
    admission = body.get("admission")
    if not isinstance(admission, dict):
        raise Problem(422, _INVALID, "admission must be an object.")
    refuse_unknown(admission, _ADMISSION, _INVALID)
    text(admission, "offering", _INVALID)
    instant(admission.get("start"), "start", _INVALID)
    optional_text(admission, "duplicateKey", _INVALID)
    if not isinstance(admission.get("party"), dict):
        raise Problem(422, _INVALID, "party must be an object with recipients and attendees.")
    return Command("scheduling.create-appointment", key, digest_of(body)), admission
