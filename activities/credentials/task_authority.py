"""Calls for a task: a grant is asserted by its authority and exchanged, anew at every attempt.

The order is contract 5.2's: a token that may only ask for assertions, the assertion of the grant,
a check that it is about this grant, client and resource, the exchange. The standing identity
never stands in for it, and nothing of it outlives the attempt.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import jwt

from activities.credentials.attempt import Attempt, Grant
from activities.credentials.authorization import bearer
from activities.credentials.client_credentials import ClientCredentials, json_answer, refused
from activities.credentials.masking import Secret

ASSERT_SCOPE = "casework:grants:assert"
LONGEST_ASSERTION_SECONDS = 60
_LEEWAY_SECONDS = 5
_LARGEST_ASSERTION = 32_768
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_JWT = "urn:ietf:params:oauth:token-type:jwt"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


@dataclass(frozen=True, slots=True)
class TaskAuthority:
    """Who asserts grants: its address, the ``iss`` and ``sub`` of its assertions, their audience.

    ``bootstrap_resource`` is the resource of the token that may ask for an assertion.
    """

    base_url: str
    issuer: str
    subject: str
    exchange_audience: str
    bootstrap_resource: str


@dataclass(frozen=True, slots=True)
class TaskBound:
    """The identity of a connection whose every call is done for a task."""

    client: ClientCredentials
    authority: TaskAuthority

    @property
    def for_tasks(self) -> bool:
        """True."""
        return True

    @property
    def loopback_only(self) -> bool:
        """False."""
        return False

    async def header(self, attempt: Attempt) -> Secret | None:
        """``Bearer`` and a token that holds what the grant allows, and no longer than it."""
        grant = attempt.grant
        if grant is None or grant.expires_at <= time.time():
            raise self._refused("the grant has expired")
        assertion = await self._assertion(attempt, grant)
        fields = {
            "grant_type": _EXCHANGE,
            "subject_token": assertion.reveal(),
            "subject_token_type": _JWT,
            "requested_token_type": _ACCESS_TOKEN,
            "resource": self.client.resource,
        }
        token = await self.client.issued(attempt, fields, self.client.scopes)
        return bearer(token, self.client.connection)

    async def rehearse(self) -> None:
        """Read the client's key; CredentialUnavailable or CredentialUnusable."""
        await self.client.rehearse()

    async def _assertion(self, attempt: Attempt, grant: Grant) -> Secret:
        """The authority's assertion of the grant; CredentialRefused unless it is about it."""
        resource = self.authority.bootstrap_resource
        token = await self.client.token(attempt, resource, (ASSERT_SCOPE,))
        url = f"{self.authority.base_url.rstrip('/')}/v1/task-grants/{grant.id.lower()}/assertion"
        header = ("Authorization", bearer(token, self.client.connection).reveal())
        answer = await attempt.post(url, b"", (header, ("Accept", "application/json")))
        body = json_answer(answer, self.client.connection, "task authority")
        if set(body) != {"assertion", "expiresAt", "grantExpiresAt"}:
            raise self._refused("the answer of the task authority is no assertion")
        if body["grantExpiresAt"] != grant.expires_at:
            raise self._refused("the grant ends at another time than the input says")
        return self._checked(body["assertion"], body["expiresAt"], grant)

    def _checked(self, assertion: Any, expires_at: Any, grant: Grant) -> Secret:
        """The assertion, if its own claims are those of the grant.

        The signature is the issuer's to verify: it knows the authority's keys.
        """
        if not isinstance(assertion, str) or len(assertion) > _LARGEST_ASSERTION:
            raise self._refused("the assertion is no signed token")
        try:
            claims = jwt.decode(assertion, options={"verify_signature": False})
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise self._refused("the assertion is no signed token") from None
        expected = {
            "iss": self.authority.issuer,
            "sub": self.authority.subject,
            "aud": self.authority.exchange_audience,
            "exp": expires_at,
            "registry_grant_id": grant.id.lower(),
            "registry_grant_exp": grant.expires_at,
            "registry_grant_client": self.client.client_id,
            "registry_grant_resource": self.client.resource,
        }
        for name, value in expected.items():
            if claims.get(name) != value:
                raise self._refused(f"the assertion has another {name}")
        if set(str(claims.get("scope", "")).split()) != set(self.client.scopes):
            raise self._refused("the assertion has other scopes")
        now = time.time()
        latest = min(now + LONGEST_ASSERTION_SECONDS + _LEEWAY_SECONDS, grant.expires_at)
        if not isinstance(expires_at, int) or not now < expires_at <= latest:
            raise self._refused("the assertion has expired, or lives too long")
        return Secret(assertion)

    def _refused(self, message: str) -> Exception:
        return refused(self.client.connection, message)
