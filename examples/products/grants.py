"""Task grants of casework: given for one client and resource, asserted anew for every use."""

from __future__ import annotations

import time
import uuid
from typing import Any

import jwt
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.problems import Problem
from examples.products.settings import GrantAuthority
from examples.products.store import Store
from examples.products.wire import optional_text, read_object, refuse_unknown, text

ASSERT_SCOPE = "casework:grants:assert"
ASSERTION_SECONDS = 60
_LONGEST_SECONDS = 604_800
_INVALID = "grant-invalid"
_NO_STORE = {"cache-control": "no-store"}


class TaskGrants:
    """Which grants were given, and the signed assertions of those that are still good."""

    def __init__(self, store: Store, authority: GrantAuthority | None) -> None:
        self._store = store
        self._authority = authority

    def routes(self) -> APIRouter:
        """Where a client has its grant asserted."""
        router = APIRouter()
        router.add_api_route("/v1/task-grants/{grant_id}/assertion", self.affirm, methods=["POST"])
        return router

    def control(self) -> APIRouter:
        """Where a person gives a grant and takes it back."""
        router = APIRouter()
        router.add_api_route("/grants", self.give, methods=["POST"])
        router.add_api_route("/grants/{grant_id}", self.revoke, methods=["DELETE"])
        return router

    async def give(self, request: Request) -> Response:
        """``{"clientId", "resource", "scopes", "subject"?, "seconds"?}``: 201 with the grant."""
        asked = await read_object(request)
        refuse_unknown(asked, ("clientId", "resource", "scopes", "subject", "seconds"), _INVALID)
        scopes, seconds = asked.get("scopes"), asked.get("seconds", 900)
        if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
            raise Problem(422, _INVALID, "scopes must be a list of texts.")
        if not isinstance(seconds, int) or not 1 <= seconds <= _LONGEST_SECONDS:
            raise Problem(422, _INVALID, f"seconds must be from 1 to {_LONGEST_SECONDS}.")
        grant = {"id": str(uuid.uuid4()), "expiresAt": int(time.time()) + seconds}
        self._store.run(
            "INSERT INTO grants VALUES (?, ?, ?, ?, ?, ?, 0)",
            grant["id"],
            text(asked, "clientId", _INVALID),
            text(asked, "resource", _INVALID),
            " ".join(scopes),
            optional_text(asked, "subject", _INVALID) or "coordinator",
            grant["expiresAt"],
        )
        return JSONResponse(grant, 201)

    async def revoke(self, grant_id: str) -> Response:
        """Take a grant back: from now on nobody gets an assertion of it."""
        if not self._store.run("UPDATE grants SET revoked = 1 WHERE grant_id = ?", grant_id):
            raise Problem(404, "grant-not-found", "Use the id of a grant.")
        return JSONResponse({"revoked": True})

    async def affirm(self, request: Request, grant_id: str) -> Response:
        """A short-lived assertion of a grant, for its own client, with an empty body."""
        caller: dict[str, Any] = getattr(request.state, "claims", {})
        if ASSERT_SCOPE not in str(caller.get("scope", "")).split():
            raise Problem(403, "assertion-forbidden", f"Ask with the scope {ASSERT_SCOPE}.")
        if await request.body():
            raise Problem(422, _INVALID, "Send an empty body.")
        row = self._store.one("SELECT * FROM grants WHERE grant_id = ?", grant_id)
        now = int(time.time())
        if row is None or row["client_id"] != caller.get("client_id") or self._authority is None:
            raise Problem(404, "grant-not-found", "Use a grant of this client.")
        if row["revoked"] or row["expires_at"] <= now:
            raise Problem(403, "grant-inactive", "The grant is over, or was taken back.")
        expires = min(now + ASSERTION_SECONDS, row["expires_at"])
        claims = {
            "iss": self._authority.issuer,
            "sub": row["subject"],
            "aud": self._authority.exchange_audience,
            "iat": now,
            "exp": expires,
            "jti": str(uuid.uuid4()),
            "scope": row["scopes"],
            "registry_actor_kind": "agent",
            "registry_grant_id": grant_id,
            "registry_grant_client": row["client_id"],
            "registry_grant_resource": row["resource"],
            "registry_grant_exp": row["expires_at"],
        }
        answer = {
            "assertion": _signed(claims, self._authority.signing_key),
            "expiresAt": expires,
            "grantExpiresAt": row["expires_at"],
        }
        return JSONResponse(answer, headers=_NO_STORE)


def _signed(claims: dict[str, Any], key: dict[str, Any]) -> str:
    signing = jwt.PyJWK(key)
    headers = {"kid": key.get("kid", "authority")}
    return jwt.encode(claims, signing.key, algorithm=signing.algorithm_name, headers=headers)
