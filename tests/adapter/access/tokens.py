"""Keys and access tokens made for tests, right where nothing else is said."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any

import jwt

from adapter.config.callers import IssuerPart
from adapter.crypto.web_keys import SigningAlgorithm, new_signing_key, public_half

ISSUER = "https://issuer.example/realm"
AUDIENCE = "https://coordinator.example"
NOW = 1_800_000_000.0


def issuer_part(**facts: Any) -> IssuerPart:
    """The issuer, with one client that may ask how runs stand."""
    desk = {"requiredScopes": ["runs"], "workflows": ["*"], "actions": ["status"]}
    written = {"issuer": ISSUER, "audience": AUDIENCE, "clients": {"desk": desk}}
    return IssuerPart.model_validate(written | facts)


@dataclass
class Mint:
    """Makes tokens with its newest key."""

    algorithm: SigningAlgorithm = "ES256"
    keys: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rotate()

    def rotate(self) -> None:
        """Sign with a new key."""
        self.keys.insert(0, new_signing_key(self.algorithm))

    def published(self, keys: int | None = None) -> bytes:
        """The key set, whole or its newest keys."""
        return json.dumps({"keys": [public_half(key) for key in self.keys[:keys]]}).encode()

    def token(
        self, header: dict[str, Any] | None = None, *, now: float = NOW, **claims: Any
    ) -> str:
        """A token of the desk about ann; a claim that is None is left out."""
        stated: dict[str, Any] = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "ann",
            "client_id": "desk",
            "scope": "runs other",
            "iat": int(now),
            "exp": int(now) + 300,
            "jti": "1",
        }
        stated |= claims
        key = self.keys[0]
        return jwt.encode(
            {name: value for name, value in stated.items() if value is not None},
            jwt.PyJWK(dict(key)).key,
            algorithm=key["alg"],
            headers={"typ": "at+jwt", "kid": key["kid"], **(header or {})},
        )


def encoded(text: str | bytes) -> str:
    """A part of a compact token."""
    data = text.encode() if isinstance(text, str) else text
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
