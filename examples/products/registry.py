"""The registry: records, its own description, and actions that change records."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.idempotency import Applied, Command, KeyBook
from examples.products.problems import Problem
from examples.products.registry_actions import ACTIONS, ENTITIES, Action
from examples.products.store import Store, timestamp
from examples.products.wire import (
    access_profile,
    digest_of,
    idempotency_key,
    read_object,
    refuse_unknown,
)

_INVALID = "action-input-invalid"


class Registry:
    """Records by collection and id. Each change makes a new revision, which is also its etag."""

    def __init__(self, store: Store, keys: KeyBook) -> None:
        self._store = store
        self._keys = keys
        self._handlers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "record-outcome": self._record_outcome,
            "open-case": self._open_case,
        }

    def routes(self) -> APIRouter:
        """The routes under ``/v1``."""
        router = APIRouter()
        router.add_api_route("/v1/records/{collection}/{record_id}", self.read, methods=["GET"])
        router.add_api_route("/v1/registry", self.describe, methods=["GET"])
        router.add_api_route(
            "/v1/actions/{name}/target-conditions", self.conditions, methods=["POST"]
        )
        router.add_api_route("/v1/actions/{name}", self.invoke, methods=["POST"])
        return router

    async def read(self, request: Request, collection: str, record_id: str) -> Response:
        """One record with its fields under ``data.domainData``."""
        profile = quote(access_profile(request), safe="")
        row = self._row(collection, record_id)
        here = f"/registry/v1/records/{quote(collection)}/{quote(record_id)}"
        document = {
            "recordId": record_id,
            "collection": collection,
            "entity": ENTITIES.get(collection, collection),
            "revision": row["revision"],
            "createdAt": row["created_at"],
            "updatedAt": row["updated_at"],
            "data": {"domainData": json.loads(row["fields"])},
        }
        link = (
            f'<{here}?accessProfile={profile}>; rel="self",'
            f' </registry/v1/registry?accessProfile={profile}>; rel="describedby"'
        )
        return JSONResponse(document, headers={"etag": f'"{row["revision"]}"', "link": link})

    async def describe(self, request: Request) -> Response:
        """What this registry offers a profile: collections and actions, revision, fingerprint."""
        profile = access_profile(request)
        return JSONResponse(self._description(profile))

    async def conditions(self, request: Request, name: str) -> Response:
        """The present revisions that an action would change, as preconditions by key."""
        action = _action(name)
        access_profile(request)
        body = await read_object(request)
        refuse_unknown(body, ("input",), _INVALID)
        inputs = _inputs(action, body)
        preconditions = {
            key: {"ifMatch": f'"{self._target(action, inputs)["revision"]}"'}
            for key in action.condition_keys
        }
        return JSONResponse({"preconditions": preconditions})

    async def invoke(self, request: Request, name: str) -> Response:
        """Run an immediate action once for a key: what it changed, by effect."""
        action = _action(name)
        profile = access_profile(request)
        key = idempotency_key(request)
        body = await read_object(request)
        refuse_unknown(body, ("input", "preconditions"), _INVALID)
        inputs = _inputs(action, body)
        if action.kind == "proposal":
            raise Problem(422, "action-is-proposal", "A proposal is driven by the applicant.")
        digest = digest_of({"action": name, "accessProfile": profile, "body": body})
        command = Command("breg.invoke-action", key, digest)
        return self._keys.accept(command, lambda: self._apply(name, action, inputs, body))

    def put(self, collection: str, record_id: str, fields: dict[str, Any]) -> int:
        """Write the fields of a record, new or known; its revision."""
        now = timestamp()
        self._store.run(
            "INSERT INTO records VALUES (?, ?, 1, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET revision = revision + 1, fields = excluded.fields,"
            " updated_at = excluded.updated_at",
            collection,
            record_id,
            json.dumps(fields),
            now,
            now,
        )
        revision: int = self._row(collection, record_id)["revision"]
        return revision

    def remove(self, collection: str, record_id: str) -> None:
        """Delete a record; ``Problem`` 404 if there is none."""
        self._row(collection, record_id)
        self._store.run(
            "DELETE FROM records WHERE collection = ? AND record_id = ?", collection, record_id
        )

    def publish(self) -> int:
        """Give the registry's description a new revision and fingerprint; the revision."""
        self._store.run(
            "INSERT INTO marks VALUES ('registry-revision', 2)"
            " ON CONFLICT DO UPDATE SET value = value + 1"
        )
        return self._revision()

    def _description(self, profile: str) -> dict[str, Any]:
        revision = self._revision()
        offered = {
            "collections": {name: {"entity": entity} for name, entity in ENTITIES.items()},
            "actions": {name: action.document(profile) for name, action in ACTIONS.items()},
        }
        fingerprint = digest_of({"revision": revision, **offered})
        return {
            "registryId": "pretend-registry",
            "accessProfile": profile,
            "revision": revision,
            "fingerprint": fingerprint,
            **offered,
        }

    def _revision(self) -> int:
        row = self._store.one("SELECT value FROM marks WHERE name = 'registry-revision'")
        return 1 if row is None else int(row["value"])

    def _apply(
        self, name: str, action: Action, inputs: dict[str, Any], body: dict[str, Any]
    ) -> Applied:
        preconditions = body.get("preconditions") or {}
        if not isinstance(preconditions, dict) or set(preconditions) != set(action.condition_keys):
            raise Problem(422, _INVALID, "Give exactly the preconditions that the action names.")
        for condition in preconditions.values():
            current = f'"{self._target(action, inputs)["revision"]}"'
            if not isinstance(condition, dict) or condition.get("ifMatch") != current:
                raise Problem(412, "precondition-failed", "The record has changed; read it again.")
        results = self._handlers[name](inputs)
        application_id = str(uuid.uuid4())
        answer = {"action": name, "applicationId": application_id, "results": results}
        return Applied(200, answer, application_id)

    def _record_outcome(self, inputs: dict[str, Any]) -> dict[str, Any]:
        record_id = inputs["applicationId"]
        fields = json.loads(self._target(ACTIONS["record-outcome"], inputs)["fields"])
        if fields.get("status") in ("approved", "rejected"):
            raise Problem(409, "application-already-decided", "This application has an outcome.")
        fields |= {"status": inputs["outcome"], "note": inputs.get("note")}
        revision = self.put("applications", record_id, fields)
        changed = {"entity": "application", "recordId": record_id, "revision": revision}
        return {"application": changed}

    def _open_case(self, inputs: dict[str, Any]) -> dict[str, Any]:
        record_id = inputs.get("caseId") or f"CASE-{uuid.uuid4().hex[:12]}"
        known = self._store.one(
            "SELECT 1 FROM records WHERE collection = 'cases' AND record_id = ?", record_id
        )
        if known is not None:
            raise Problem(409, "case-already-open", "A case with this id exists.")
        fields = {"title": inputs["title"], "applicationId": inputs.get("applicationId")}
        revision = self.put("cases", record_id, {**fields, "status": "open"})
        return {"case": {"entity": "case", "recordId": record_id, "revision": revision}}

    def _target(self, action: Action, inputs: dict[str, Any]) -> sqlite3.Row:
        row = self._store.one(
            "SELECT * FROM records WHERE collection = ? AND record_id = ?",
            action.target_collection,
            inputs[action.target_input],
        )
        if row is None:
            raise Problem(409, "application-not-found", "There is no application with this id.")
        return row

    def _row(self, collection: str, record_id: str) -> sqlite3.Row:
        row = self._store.one(
            "SELECT * FROM records WHERE collection = ? AND record_id = ?", collection, record_id
        )
        if row is None:
            raise Problem(404, "record-not-found", "Use a collection and record that exist.")
        return row


def _action(name: str) -> Action:
    action = ACTIONS.get(name)
    if action is None:
        raise Problem(404, "action-unavailable", "Use an action that the registry describes.")
    return action


def _inputs(action: Action, body: dict[str, Any]) -> dict[str, Any]:
    inputs = body.get("input")
    if not isinstance(inputs, dict):
        raise Problem(422, _INVALID, "input must be an object.")
    refuse_unknown(inputs, action.fields, _INVALID)
    for name, field in action.fields.items():
        if name not in inputs:
            if field.required:
                raise Problem(422, _INVALID, f"input.{name} is required.")
            continue
        if not field.accepts(inputs[name]):
            raise Problem(422, _INVALID, f"input.{name} is not what the action declares.")
    return inputs
