"""A fresh token of the deployment's own issuer for every attempt (RFC 6749, 7523, 8707)."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from activities.credentials.assertions import SigningKey, UnusableKey, client_assertion
from activities.credentials.attempt import (
    Attempt,
    PostAnswer,
    ReadSecret,
    read_or_unavailable,
)
from activities.credentials.authorization import bearer
from activities.credentials.faults import (
    CredentialRefused,
    CredentialUnavailable,
    CredentialUnusable,
)
from activities.credentials.masking import Secret

_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_FORM = (("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"))
_PASSING = frozenset({408, 429})


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """A client of a token endpoint that proves itself with a signed assertion.

    ``audience`` is what the assertion is addressed to, the endpoint by default. Nothing is kept:
    a token serves the attempt it was issued for.
    """

    connection: str
    endpoint: str
    client_id: str
    resource: str
    scopes: tuple[str, ...]
    read_key: ReadSecret = field(repr=False)
    audience: str | None = None

    @property
    def for_tasks(self) -> bool:
        """False: the standing identity."""
        return False

    @property
    def loopback_only(self) -> bool:
        """False."""
        return False

    async def header(self, attempt: Attempt) -> Secret | None:
        """``Bearer`` and a new token for the connection's resource and scopes."""
        return bearer(await self.token(attempt, self.resource, self.scopes), self.connection)

    async def token(self, attempt: Attempt, resource: str, scopes: tuple[str, ...]) -> Secret:
        """A new token of the client's standing identity for a resource."""
        grant = {"grant_type": "client_credentials", "resource": resource}
        return await self.issued(attempt, grant, scopes)

    async def issued(
        self, attempt: Attempt, grant: dict[str, str], scopes: tuple[str, ...]
    ) -> Secret:
        """The token that the endpoint issues for these fields.

        Raises CredentialUnavailable when it does not answer or answers 408, 429 or 5xx,
        CredentialRefused for any other answer without a usable token, and CredentialUnusable for
        a key that can not sign (contract 5.2).
        """
        assertion = await self._assertion()
        fields = {
            **grant,
            "scope": " ".join(scopes),
            "client_id": self.client_id,
            "client_assertion_type": _ASSERTION_TYPE,
            "client_assertion": assertion.reveal(),
        }
        answer = await attempt.post(self.endpoint, urlencode(fields).encode("ascii"), _FORM)
        return self._token(json_answer(answer, self.connection, "token endpoint"), scopes)

    async def rehearse(self) -> None:
        """Read the key; CredentialUnavailable or CredentialUnusable."""
        await self._key()

    async def _assertion(self) -> Secret:
        audience = self.endpoint if self.audience is None else self.audience
        return client_assertion(await self._key(), self.client_id, audience, time.time())

    async def _key(self) -> SigningKey:
        written = await read_or_unavailable(self.read_key, self.connection)
        try:
            return SigningKey(written)
        except UnusableKey as error:
            raise CredentialUnusable(
                "connection.signing-key",
                str(error),
                place=self.connection,
                remedy="keep the client's private JWK (RSA, P-256 or Ed25519) under signingKeyRef",
            ) from error

    def _token(self, answer: dict[str, Any], scopes: tuple[str, ...]) -> Secret:
        token, kind = answer.get("access_token"), answer.get("token_type")
        if not isinstance(token, str) or str(kind).lower() != "bearer":
            raise refused(self.connection, "the token endpoint gave no bearer token")
        # An issuer may grant less than was asked for; then the call would fail at the product.
        granted = answer.get("scope")
        if isinstance(granted, str) and not set(scopes) <= set(granted.split()):
            raise refused(self.connection, "the token endpoint granted fewer scopes")
        return Secret(token)


def json_answer(answer: PostAnswer | None, connection: str, whose: str) -> dict[str, Any]:
    """The JSON object of a 200 answer, classified otherwise as a credential that is missing."""
    if answer is None or answer.status in _PASSING or answer.status >= 500:
        unavailable = CredentialUnavailable(
            "connection.credential",
            f"the {whose} does not answer",
            place=connection,
            remedy="it is asked again; see that it is up and can be reached",
        )
        unavailable.retry_after = None if answer is None else answer.retry_after
        raise unavailable
    if answer.status != 200 or answer.body is None:
        raise refused(connection, f"the {whose} refuses")
    try:
        body = json.loads(answer.body)
    # Its cause would carry the answer, perhaps with a token in it.
    except (ValueError, RecursionError):
        raise refused(connection, f"the answer of the {whose} is no JSON") from None
    if not isinstance(body, dict) or not answer.content_type.startswith("application/json"):
        raise refused(connection, f"the answer of the {whose} is no JSON object")
    return body


def refused(connection: str, message: str) -> CredentialRefused:
    """The fault of a credential that trying again does not bring."""
    return CredentialRefused(
        "connection.credential-refused",
        message,
        place=connection,
        remedy="compare the connection's authorization in runtime.yaml with what the issuer knows",
    )
