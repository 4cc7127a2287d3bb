"""Signed assertions that the issuer takes: of clients themselves, of authorities for tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jwt

ALGORITHMS = ("ES256", "EdDSA", "RS256")
LONGEST_LIFE_SECONDS = 300
_LEEWAY_SECONDS = 5
_LONGEST_ASSERTION = 32_768


class AssertionRefused(Exception):
    """An assertion that proves nothing; the text says why and holds nothing of it."""


class SpentAssertions:
    """The assertions that were used, until they expire: each is good for one request.

    It forgets with its process; an assertion lives minutes at most.
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str], float] = {}

    def spend(self, claims: Mapping[str, Any], now: float) -> None:
        """Use an assertion up; AssertionRefused if it was used before."""
        self._spent = {one: until for one, until in self._spent.items() if until > now}
        identity = (str(claims["iss"]), str(claims["jti"]))
        if identity in self._spent:
            raise AssertionRefused("the assertion was used before")
        self._spent[identity] = float(claims["exp"]) + _LEEWAY_SECONDS


def claims_of(
    assertion: str, keys: Iterable[Mapping[str, Any]], audiences: Iterable[str], now: float
) -> dict[str, Any]:
    """The claims of an assertion that one of the public JWKs verifies, for one of the audiences.

    ``iss``, ``sub``, ``aud``, ``exp`` and ``jti`` must be there. Raises AssertionRefused for a
    signature of nobody, another audience, or an expiry that is past or too far away.
    """
    claims = _verified(assertion, keys, list(audiences))
    if claims["exp"] <= now - _LEEWAY_SECONDS:
        raise AssertionRefused("the assertion has expired")
    if claims["exp"] > now + LONGEST_LIFE_SECONDS:
        raise AssertionRefused("the assertion lives too long")
    if not isinstance(claims["jti"], str) or not claims["jti"]:
        raise AssertionRefused("the assertion has no jti")
    return claims


def stated_issuer(assertion: str) -> str:
    """Whom an assertion says it is of, before anything is verified."""
    if len(assertion) > _LONGEST_ASSERTION:
        raise AssertionRefused("the assertion is too large")
    try:
        claims = jwt.decode(assertion, options={"verify_signature": False})
    except (jwt.InvalidTokenError, RecursionError) as error:
        raise AssertionRefused("the assertion is no signed token") from error
    return str(claims.get("iss", ""))


def _verified(
    assertion: str, keys: Iterable[Mapping[str, Any]], audiences: list[str]
) -> dict[str, Any]:
    for key in keys:
        try:
            return jwt.decode(
                assertion,
                jwt.PyJWK(dict(key)),
                algorithms=[key.get("alg", "ES256")],
                audience=audiences,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["iss", "sub", "aud", "exp", "jti"]},
            )
        except jwt.InvalidSignatureError:
            continue
        except (jwt.PyJWTError, ValueError) as error:
            raise AssertionRefused(_REASONS.get(type(error), "the assertion is refused")) from error
    raise AssertionRefused("no key of its issuer verifies the assertion")


_REASONS: dict[type[Exception], str] = {
    jwt.ExpiredSignatureError: "the assertion has expired",
    jwt.InvalidAudienceError: "the assertion is for another audience",
    jwt.MissingRequiredClaimError: "the assertion lacks a claim",
    jwt.InvalidAlgorithmError: "the assertion is signed in another way than its key allows",
}
