"""Casework: review requests that a person decides, their withdrawal and their reading."""

from __future__ import annotations

import json
import sqlite3
import uuid
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.idempotency import Applied, Command, KeyBook
from examples.products.problems import Problem
from examples.products.store import Store, timestamp
from examples.products.webhooks import EventWebhook
from examples.products.wire import (
    digest_of,
    idempotency_key,
    optional_text,
    read_object,
    refuse_unknown,
    text,
)

_INVALID = "review-request-invalid"
_MEMBERS = (
    "title",
    "template",
    "instructions",
    "subject",
    "assignees",
    "scope",
    "data",
    "correlationId",
)


class Casework:
    """Review requests. A request is pending until a decision or a withdrawal closes it, once."""

    def __init__(self, store: Store, keys: KeyBook, webhook: EventWebhook) -> None:
        self._store = store
        self._keys = keys
        self._webhook = webhook

    def routes(self) -> APIRouter:
        """The routes under ``/v1`` that an operation calls."""
        router = APIRouter()
        router.add_api_route("/v1/review-requests", self.submit, methods=["POST"])
        router.add_api_route("/v1/review-requests/{review_id}", self.read, methods=["GET"])
        router.add_api_route(
            "/v1/review-requests/{review_id}/withdraw", self.withdraw, methods=["POST"]
        )
        return router

    async def submit(self, request: Request) -> Response:
        """Open a review: 201 with the pending request, addressed by ``location``."""
        key = idempotency_key(request)
        body = await read_object(request)
        _check_request(body)
        command = Command("casework.submit-review-request", key, digest_of(body))
        response = self._keys.accept(command, lambda: self._open(body))
        review_id = json.loads(bytes(response.body))["reviewRequestId"]
        response.headers["location"] = f"/casework/v1/review-requests/{review_id}"
        return response

    async def read(self, review_id: str) -> Response:
        """The request as it stands, with its result once there is one."""
        row = self._row(review_id)
        return JSONResponse(_document(row), headers={"etag": f'"{row["revision"]}"'})

    async def withdraw(self, request: Request, review_id: str) -> Response:
        """Close a pending review without a decision; 409 when a decision came first."""
        key = idempotency_key(request)
        body = await read_object(request)
        refuse_unknown(body, ("reason",), _INVALID)
        text(body, "reason", _INVALID, limit=500)
        digest = digest_of({"reviewRequestId": review_id, "body": body})
        command = Command("casework.withdraw-review-request", key, digest)
        return self._keys.accept(command, lambda: self._withdraw(review_id))

    def decide(
        self, review_id: str, decision: str, decided_by: str, comment: str | None
    ) -> dict[str, Any]:
        """Record a person's decision and announce it; the closed request.

        Raises ``Problem`` 404 for an unknown review, 409 ``review-already-completed`` or
        ``review-already-withdrawn`` for a closed one.
        """
        if decision not in ("approved", "rejected"):
            raise Problem(422, "decision-invalid", "decision must be approved or rejected.")
        with self._store.transaction():
            row = self._row(review_id)
            if row["state"] != "pending":
                raise Problem(
                    409, f"review-already-{row['state']}", "This review is closed; reload it."
                )
            self._store.run(
                "UPDATE reviews SET state = 'completed', revision = revision + 1, closed_at = ?,"
                " decision = ?, decided_by = ?, comment = ? WHERE review_id = ?",
                timestamp(),
                decision,
                decided_by,
                comment,
                review_id,
            )
            self._webhook.announce(review_id)
        self._webhook.wake()
        return _document(self._row(review_id))

    def reviews(self, state: str | None = None, limit: int = 200) -> list[dict[str, Any]]:
        """Reviews with the instructions and data of what was asked, newest first."""
        rows = self._store.all(
            "SELECT * FROM reviews WHERE ? IN ('*', state) ORDER BY created_at DESC LIMIT ?",
            state or "*",
            limit,
        )
        return [_document(row) | _asked(row) for row in rows]

    def _open(self, body: dict[str, Any]) -> Applied:
        if str(body.get("template", "")).startswith("unknown-"):
            raise Problem(409, "review-template-unknown", "Use a review template that exists.")
        if body.get("scope") == "closed":
            raise Problem(409, "review-scope-closed", "This scope takes no reviews now.")
        review_id = str(uuid.uuid4())
        self._store.run(
            "INSERT INTO reviews (review_id, state, revision, request, created_at)"
            " VALUES (?, 'pending', 1, ?, ?)",
            review_id,
            json.dumps(body),
            timestamp(),
        )
        return Applied(201, _document(self._row(review_id)), review_id)

    def _withdraw(self, review_id: str) -> Applied:
        row = self._row(review_id)
        if row["state"] == "completed":
            raise Problem(
                409, "review-already-completed", "A decision came first; read the review request."
            )
        changed = row["state"] == "pending"
        if changed:
            self._store.run(
                "UPDATE reviews SET state = 'withdrawn', revision = revision + 1, closed_at = ?"
                " WHERE review_id = ?",
                timestamp(),
                review_id,
            )
        return Applied(200, _document(self._row(review_id)), review_id, changed)

    def _row(self, review_id: str) -> sqlite3.Row:
        row = self._store.one("SELECT * FROM reviews WHERE review_id = ?", review_id)
        if row is None:
            raise Problem(404, "review-request-not-found", "Use the id of a submitted review.")
        return row


def _check_request(body: dict[str, Any]) -> None:
    refuse_unknown(body, _MEMBERS, _INVALID)
    subject = body.get("subject")
    if not isinstance(subject, dict) or not subject:
        raise Problem(422, _INVALID, "subject must be an object that says what is reviewed.")
    for name in ("title", "template", "scope", "correlationId"):
        optional_text(body, name, _INVALID)
    optional_text(body, "instructions", _INVALID, limit=4_000)
    assignees = body.get("assignees", [])
    if not isinstance(assignees, list) or not all(isinstance(name, str) for name in assignees):
        raise Problem(422, _INVALID, "assignees must be a list of names.")
    if not isinstance(body.get("data", {}), dict):
        raise Problem(422, _INVALID, "data must be an object.")


def _asked(row: sqlite3.Row) -> dict[str, Any]:
    """What the reviewer has to see and a caller that reads the review does not."""
    request = json.loads(row["request"])
    return {"instructions": request.get("instructions"), "data": request.get("data")}


def _document(row: sqlite3.Row) -> dict[str, Any]:
    request = json.loads(row["request"])
    result = None
    if row["state"] == "completed":
        result = {
            "decision": row["decision"],
            "decidedBy": row["decided_by"],
            "decidedAt": row["closed_at"],
        }
        if row["comment"]:
            result["comment"] = row["comment"]
    return {
        "reviewRequestId": row["review_id"],
        "state": row["state"],
        "result": result,
        "revision": row["revision"],
        "createdAt": row["created_at"],
        "closedAt": row["closed_at"],
        "title": request.get("title"),
        "template": request.get("template"),
        "subject": request["subject"],
        "assignees": request.get("assignees", []),
        "scope": request.get("scope"),
        "correlationId": request.get("correlationId"),
    }
