"""The token endpoint: who asks, what for, and the signed answer."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from adapter.issuer.assertions import AssertionRefused, SpentAssertions, claims_of, stated_issuer
from adapter.issuer.folder import Client, IssuerFolder

CLIENT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CLIENT_CREDENTIALS = "client_credentials"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
JWT = "urn:ietf:params:oauth:token-type:jwt"

Form = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class TokenAnswer:
    """Status and JSON body of an answer (RFC 6749 sections 5.1 and 5.2)."""

    status: int
    body: dict[str, Any]


class _Refused(Exception):
    """An OAuth error; the texts hold nothing of the request."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error)
        self.answer = TokenAnswer(status, {"error": error, "error_description": description})


class Tokens:
    """Issues tokens under the address ``issuer``; ``now`` gives seconds since 1970."""

    def __init__(self, folder: IssuerFolder, issuer: str, now: Callable[[], float]) -> None:
        self._folder = folder
        self._now = now
        self._spent = SpentAssertions()
        self.issuer = issuer

    @property
    def endpoint(self) -> str:
        """The address of the token endpoint."""
        return f"{self.issuer}/token"

    def issue(self, form: Form) -> TokenAnswer:
        """The answer to a request with these fields."""
        try:
            client = self._client(form)
            kind = _one(form, "grant_type")
            if kind == CLIENT_CREDENTIALS:
                return self._standing(client, form)
            if kind == TOKEN_EXCHANGE:
                return self._exchanged(client, form)
            raise _Refused("unsupported_grant_type", "use client credentials or token exchange")
        except _Refused as refused:
            return refused.answer

    def of_person(self, client_id: str, subject: str, resource: str) -> str:
        """A token as a person would have it who has signed in through a client."""
        client = self._folder.clients()[client_id]
        claims = {**client.claims, "sub": subject}
        answer = self._signed(client, claims, [resource], list(client.scopes), client.token_seconds)
        return str(answer.body["access_token"])

    def _client(self, form: Form) -> Client:
        """The client that the signed assertion proves (RFC 7523 section 2.2)."""
        if _one(form, "client_assertion_type") != CLIENT_ASSERTION:
            raise _Refused("invalid_client", "authenticate with a signed assertion", 401)
        assertion = _one(form, "client_assertion")
        try:
            client = self._folder.clients().get(stated_issuer(assertion))
            if client is None or _one(form, "client_id", client.client_id) != client.client_id:
                raise AssertionRefused("no such client")
            claims = claims_of(assertion, client.keys, (self.endpoint, self.issuer), self._now())
            if claims["sub"] != client.client_id:
                raise AssertionRefused("the assertion is about somebody else")
            self._spent.spend(claims, self._now())
        except AssertionRefused as refused:
            raise _Refused("invalid_client", str(refused), 401) from refused
        return client

    def _standing(self, client: Client, form: Form) -> TokenAnswer:
        resources = form.get("resource") or _only(client.resources)
        if not set(resources) <= set(client.resources):
            raise _Refused("invalid_target", "the client may not ask for this resource")
        scopes = _scopes(form, client.scopes)
        claims = {**client.claims, "sub": client.client_id}
        return self._signed(client, claims, resources, scopes, client.token_seconds)

    def _exchanged(self, client: Client, form: Form) -> TokenAnswer:
        """A token for a task: what the assertion allows, until the task's authority ends."""
        assertion = _one(form, "subject_token")
        if _one(form, "subject_token_type") != JWT:
            raise _Refused("invalid_request", "the subject token is a signed assertion")
        if _one(form, "requested_token_type", ACCESS_TOKEN) != ACCESS_TOKEN:
            raise _Refused("invalid_request", "only access tokens are issued")
        try:
            issuer = stated_issuer(assertion)
            keys = self._folder.authorities().get(issuer, [])
            task = claims_of(assertion, keys, (self.endpoint, self.issuer), self._now())
            self._spent.spend(task, self._now())
        except AssertionRefused as refused:
            raise _Refused("invalid_grant", str(refused)) from refused
        left = _seconds_left(task, self._now())
        if task.get("registry_grant_client") != client.client_id or left <= 0:
            raise _Refused("invalid_grant", "the grant is over, or another client's")
        resources = form.get("resource", [])
        if resources != [task.get("registry_grant_resource")]:
            raise _Refused("invalid_target", "the grant is for another resource")
        scopes = _scopes(form, tuple(str(task.get("scope", "")).split()))
        granted = {name: task[name] for name in task if name.startswith("registry_")}
        claims = {**granted, "registry_grant_source_issuer": issuer, "sub": task["sub"]}
        seconds = min(client.token_seconds, left)
        answer = self._signed(client, claims, resources, scopes, seconds)
        return TokenAnswer(answer.status, {**answer.body, "issued_token_type": ACCESS_TOKEN})

    def _signed(
        self,
        client: Client,
        claims: Mapping[str, Any],
        resources: list[str],
        scopes: list[str],
        seconds: int,
    ) -> TokenAnswer:
        now, key = int(self._now()), self._folder.signing_keys()[0]
        token = jwt.encode(
            {
                **claims,
                "iss": self.issuer,
                "aud": resources[0] if len(resources) == 1 else resources,
                "client_id": client.client_id,
                "scope": " ".join(scopes),
                "iat": now,
                "exp": now + seconds,
                "jti": secrets.token_urlsafe(16),
            },
            jwt.PyJWK(dict(key)).key,
            algorithm=key["alg"],
            headers={"typ": "at+jwt", "kid": key["kid"]},
        )
        body = {"access_token": token, "token_type": "Bearer", "expires_in": seconds}
        return TokenAnswer(200, {**body, "scope": " ".join(scopes)})


def _one(form: Form, name: str, absent: str = "") -> str:
    values = form.get(name, [absent])
    if len(values) != 1:
        raise _Refused("invalid_request", f"{name} is given more than once")
    return values[0]


def _only(resources: tuple[str, ...]) -> list[str]:
    if len(resources) != 1:
        raise _Refused("invalid_target", "name the resource that the token is for")
    return list(resources)


def _scopes(form: Form, allowed: tuple[str, ...]) -> list[str]:
    asked = _one(form, "scope").split() or list(allowed)
    if not set(asked) <= set(allowed):
        raise _Refused("invalid_scope", "a scope is beyond what is allowed")
    return list(dict.fromkeys(asked))


def _seconds_left(task: Mapping[str, Any], now: float) -> int:
    ends = task.get("registry_grant_exp")
    return int(ends - now) if isinstance(ends, int) else 0
