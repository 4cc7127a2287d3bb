"""Who may call: the static bearer, or tokens issued for client credentials."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from base64 import b64decode
from typing import Any
from urllib.parse import parse_qs, unquote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.assertions import AssertionRefused, verified_claims
from examples.products.issued import IssuedTokens, TokenRefused
from examples.products.problems import Problem
from examples.products.settings import OAuthClient, OAuthSettings
from examples.products.store import Store

_JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class _OAuthError(Exception):
    def __init__(self, status: int, error: str, description: str) -> None:
        super().__init__(error)
        self.response = JSONResponse(
            {"error": error, "error_description": description},
            status,
            headers={"cache-control": "no-store"},
        )


class TokenDesk:
    """Issues and checks bearer tokens.

    Without OAuth settings it only knows the static bearer, and the tokens of an issuer if it is
    told of one.
    """

    def __init__(
        self,
        store: Store,
        oauth: OAuthSettings | None,
        bearer: str | None,
        issued: IssuedTokens | None = None,
    ) -> None:
        self._store = store
        self._oauth = oauth
        self._bearer = bearer
        self._issued = issued

    def routes(self) -> APIRouter:
        """The token endpoint."""
        router = APIRouter()
        router.add_api_route("/token", self.issue, methods=["POST"])
        return router

    async def require(self, request: Request) -> None:
        """Let a caller pass with a good bearer, else raise ``Problem`` 401."""
        header = request.headers.get("authorization")
        if self._oauth is None and self._bearer is None:
            return
        if header is None:
            raise _unauthorised("credentials-missing", "Send an Authorization header.")
        await self._check(request, header)

    async def allow_anonymous(self, request: Request) -> None:
        """As ``require``, but a caller without any credential passes too."""
        header = request.headers.get("authorization")
        if header is not None and (self._oauth is not None or self._bearer is not None):
            await self._check(request, header)

    async def issue(self, request: Request) -> Response:
        """A token for ``client_credentials`` (RFC 6749, RFC 7523): assertion or secret."""
        if self._oauth is None:
            raise Problem(404, "oauth-not-configured", "Start with OAuth clients, or use a bearer.")
        try:
            form = _form(await request.body())
            if form.get("grant_type") != "client_credentials":
                raise _OAuthError(400, "unsupported_grant_type", "Use client_credentials.")
            client = self._authenticate(form, request, self._oauth)
        except _OAuthError as error:
            return error.response
        token = secrets.token_urlsafe(32)
        scope = form.get("scope", "")
        seconds = self._oauth.token_seconds
        self._store.run(
            "INSERT INTO tokens VALUES (?, ?, ?, ?)",
            _digest(token),
            client.client_id,
            scope,
            time.time() + seconds,
        )
        body = {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": int(seconds),
            "scope": scope,
        }
        return JSONResponse(body, headers={"cache-control": "no-store"})

    def revoke(self) -> int:
        """Make every issued token worthless; the number of tokens."""
        return self._store.run("DELETE FROM tokens")

    async def _check(self, request: Request, header: str) -> None:
        scheme, _, token = header.partition(" ")
        if self._issued is not None and scheme.lower() == "bearer" and token.count(".") == 2:
            product = request.url.path.split("/")[1]
            try:
                request.state.claims = await self._issued.claims(token, product)
            except TokenRefused as error:
                raise _unauthorised("credentials-rejected", str(error)) from error
            return
        if scheme.lower() != "bearer" or not self._knows(token):
            raise _unauthorised("credentials-rejected", "Send a valid bearer token.")

    def _knows(self, token: str) -> bool:
        if self._oauth is None:
            return hmac.compare_digest(token.encode(), (self._bearer or "").encode())
        row = self._store.one(
            "SELECT expires_at FROM tokens WHERE token_digest = ?", _digest(token)
        )
        return row is not None and row["expires_at"] > time.time()

    def _authenticate(
        self, form: dict[str, str], request: Request, oauth: OAuthSettings
    ) -> OAuthClient:
        clients = {client.client_id: client for client in oauth.clients}
        if form.get("client_assertion_type") == _JWT_BEARER:
            return self._by_assertion(form.get("client_assertion", ""), clients, request, oauth)
        client_id, secret = _basic(request) or (
            form.get("client_id", ""),
            form.get("client_secret", ""),
        )
        client = clients.get(client_id)
        if client is None or client.secret is None:
            raise _OAuthError(401, "invalid_client", "The client has no secret here.")
        if not hmac.compare_digest(secret.encode(), client.secret.encode()):
            raise _OAuthError(401, "invalid_client", "The secret is not the client's.")
        return client

    def _by_assertion(
        self,
        assertion: str,
        clients: dict[str, OAuthClient],
        request: Request,
        oauth: OAuthSettings,
    ) -> OAuthClient:
        audience = oauth.audience or str(request.url.replace(query=""))
        keys = {name: client.jwk for name, client in clients.items() if client.jwk is not None}
        try:
            claims = verified_claims(assertion, keys, audience, time.time())
        except AssertionRefused as error:
            raise _OAuthError(401, "invalid_client", str(error)) from error
        self._spend(claims)
        return clients[claims["sub"]]

    def _spend(self, claims: dict[str, Any]) -> None:
        self._store.run("DELETE FROM assertions WHERE expires_at < ?", time.time())
        spent = self._store.run(
            "INSERT OR IGNORE INTO assertions VALUES (?, ?, ?)",
            claims["sub"],
            claims["jti"],
            claims["exp"],
        )
        if not spent:
            raise _OAuthError(401, "invalid_client", "This assertion was used before.")


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
    except ValueError as error:
        raise _OAuthError(400, "invalid_request", "Send a form.") from error
    if any(len(values) > 1 for values in fields.values()):
        raise _OAuthError(400, "invalid_request", "Give every parameter once.")
    return {name: values[0] for name, values in fields.items()}


def _basic(request: Request) -> tuple[str, str] | None:
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, secret = b64decode(encoded, validate=True).decode().partition(":")
    except ValueError as error:
        raise _OAuthError(401, "invalid_client", "The Basic credentials are malformed.") from error
    return unquote(name), unquote(secret)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _unauthorised(code: str, detail: str) -> Problem:
    return Problem(401, code, detail, {"www-authenticate": "Bearer"})
