"""An access token (RFC 9068) taken apart strictly and judged by the rules of its issuer."""

from __future__ import annotations

import base64
import binascii
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapter.config.json_text import strict_json

LONGEST_TOKEN = 16_384
SKEW_SECONDS = 30
"""How far the issuer's clock may be from ours."""

_LONGEST_SUBJECT = 512
_LONGEST_KID = 256
_PART = re.compile(r"[A-Za-z0-9_-]+")
_TYPES = frozenset({"at+jwt", "application/at+jwt"})


class TokenRefused(Exception):
    """A token that proves nothing here; the text says why and holds nothing of the token."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a token states, before anybody has verified it."""

    algorithm: str
    kid: str | None
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Rules:
    """What an issuer's tokens must be like to count here; lifetimes in seconds."""

    issuer: str
    audience: str
    algorithms: frozenset[str]
    scope_claim: str
    longest_lifetime: int
    clients: frozenset[str]


@dataclass(frozen=True, slots=True)
class Proof:
    """Who a verified token is about, through which client, and with which scopes."""

    subject: str
    client: str
    scopes: frozenset[str]


def take_apart(token: str) -> Statement:
    """Header and claims of a compact JWS; nothing in them is verified yet.

    Raises TokenRefused for what is no access token: another type, duplicate members, ``crit``
    (RFC 7515 section 4.1.11: nothing critical is understood here). Keys and addresses of keys in
    the header (``jwk``, ``jku``, ``x5c``, ``x5u``) are not looked at.
    """
    parts = token.split(".")
    if len(token) > LONGEST_TOKEN or len(parts) != 3:
        raise TokenRefused("it is no signed token in compact form")
    header_bytes, payload, signature = (_decoded(part) for part in parts)
    header, claims = _members(header_bytes), _members(payload)
    algorithm, kid, kind = (header.get(name) for name in ("alg", "kid", "typ"))
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise TokenRefused("it is no access token: its type is not at+jwt")
    if "crit" in header:
        raise TokenRefused("its header asks for an extension")
    if not isinstance(algorithm, str):
        raise TokenRefused("its header names no algorithm")
    if kid is not None and not (isinstance(kid, str) and len(kid) <= _LONGEST_KID):
        raise TokenRefused("its header names no usable key")
    signed = token.rpartition(".")[0].encode("ascii")
    return Statement(algorithm, kid, claims, signed, signature)


def judge(claims: Mapping[str, Any], rules: Rules, now: float) -> Proof:
    """Who a token with a good signature is about; ``now`` is in seconds since 1970.

    Raises TokenRefused (RFC 9068 section 4, and the longest lifetime).
    """
    if claims.get("iss") != rules.issuer:
        raise TokenRefused("it is of an issuer that is not known here")
    audience = claims.get("aud")
    if rules.audience not in (audience if isinstance(audience, list) else [audience]):
        raise TokenRefused("it is meant for another audience")
    _require_time(claims, rules.longest_lifetime, now)
    client = claims.get("client_id", claims.get("azp"))
    if not isinstance(client, str) or client not in rules.clients:
        raise TokenRefused("its client may not call here")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= _LONGEST_SUBJECT:
        raise TokenRefused("it has no subject of 1 to 512 characters")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in subject):
        raise TokenRefused("its subject has control characters")
    return Proof(subject, client, _scopes(claims.get(rules.scope_claim)))


def _require_time(claims: Mapping[str, Any], longest: int, now: float) -> None:
    expires, issued = _instant(claims.get("exp")), _instant(claims.get("iat"))
    if expires is None or issued is None:
        raise TokenRefused("it does not say when it was issued and when it expires")
    if expires <= now - SKEW_SECONDS:
        raise TokenRefused("it has expired")
    if issued > now + SKEW_SECONDS:
        raise TokenRefused("it was issued in the future")
    if not 0 < expires - issued <= longest:
        raise TokenRefused("it lives longer than is allowed here")
    if "nbf" in claims:
        begins = _instant(claims["nbf"])
        if begins is None or begins > now + SKEW_SECONDS:
            raise TokenRefused("it is not valid yet")


def _instant(value: Any) -> float | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # An integer too large for a float is no instant either.
    if not number or not -1e12 < value < 1e12 or not math.isfinite(value):
        return None
    return float(value)


def _scopes(value: Any) -> frozenset[str]:
    """Scopes as one text with blanks (RFC 6749 section 3.3) or, as some issuers do, as a list."""
    items = value.split(" ") if isinstance(value, str) else value
    if not isinstance(items, list):
        return frozenset()
    return frozenset(item for item in items if isinstance(item, str) and item)


def _decoded(part: str) -> bytes:
    if _PART.fullmatch(part) is None:
        raise TokenRefused("it is no signed token in compact form")
    try:
        data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error as error:
        raise TokenRefused("it is no signed token in compact form") from error
    # Unused bits set would make many spellings of one token.
    if base64.urlsafe_b64encode(data).rstrip(b"=") != part.encode("ascii"):
        raise TokenRefused("it is no signed token in compact form")
    return data


def _members(data: bytes) -> dict[str, Any]:
    try:
        value = strict_json(data)
    except ValueError as error:
        raise TokenRefused("its header or its claims are no JSON with unique members") from error
    if not isinstance(value, dict):
        raise TokenRefused("its header or its claims are no JSON object")
    return value
