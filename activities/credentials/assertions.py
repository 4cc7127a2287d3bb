"""Signed assertions by which a client proves itself at a token endpoint (RFC 7523)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

import jwt

from activities.credentials.masking import Secret

ASSERTION_SECONDS = 60
"""Long enough for one request and clocks that differ a little; each is used once."""

LEAST_RSA_BITS = 2_048

# Which algorithms a key may sign with; the first is taken where the key does not say.
_ALGORITHMS = {
    ("EC", "P-256"): ("ES256",),
    ("OKP", "Ed25519"): ("EdDSA",),
    ("RSA", None): ("RS256",),
}


class UnusableKey(Exception):
    """The text is no private JWK that can sign here; nothing of it is in the message."""


class SigningKey:
    """A client's private JWK: RS256, ES256 or EdDSA, by its own type."""

    def __init__(self, written: Secret) -> None:
        try:
            jwk = json.loads(written.reveal())
            self.algorithm = _algorithm(jwk)
            self._key: Any = jwt.PyJWK(jwk, self.algorithm).key
            self._kid = jwk.get("kid")
        # Its cause would carry the text that could not be read.
        except (ValueError, TypeError, KeyError, AttributeError, jwt.PyJWTError):
            raise UnusableKey("the key is no private JWK of type EC, OKP or RSA") from None
        if "d" not in jwk:
            raise UnusableKey("the key is public: it can not sign")
        if self.algorithm == "RS256" and self._key.key_size < LEAST_RSA_BITS:
            raise UnusableKey(f"the RSA key has fewer than {LEAST_RSA_BITS} bits")

    def sign(self, claims: dict[str, Any]) -> Secret:
        """The claims as a signed token that names its key."""
        headers = {} if self._kid is None else {"kid": self._kid}
        return Secret(jwt.encode(claims, self._key, algorithm=self.algorithm, headers=headers))


def client_assertion(
    key: SigningKey,
    client_id: str,
    audience: str,
    now: float,
    fresh: Callable[[], str] = lambda: secrets.token_urlsafe(24),
) -> Secret:
    """A proof for one request: issuer and subject are the client, ``jti`` never comes twice."""
    return key.sign(
        {
            "iss": client_id,
            "sub": client_id,
            "aud": audience,
            "iat": int(now),
            "exp": int(now) + ASSERTION_SECONDS,
            "jti": fresh(),
        }
    )


def _algorithm(jwk: dict[str, Any]) -> str:
    allowed = _ALGORITHMS[jwk["kty"], jwk.get("crv")]
    algorithm: str = jwk.get("alg", allowed[0])
    if algorithm not in allowed:
        raise KeyError("alg")
    return algorithm
