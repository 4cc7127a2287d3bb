"""Checking the signed assertion by which a client proves itself (``private_key_jwt``, RFC 7523)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

_LONGEST_LIFE_SECONDS = 600
_CLOCK_SKEW_SECONDS = 30


class AssertionRefused(Exception):
    """An assertion that does not prove the client; the message says why and holds no value."""


def verified_claims(
    assertion: str, keys: Mapping[str, dict[str, Any]], audience: str, now: float
) -> dict[str, Any]:
    """The claims of an assertion signed by the client that it names.

    ``keys`` are public JWKs by client id (Ed25519, P-256 or RSA). Raises ``AssertionRefused`` for
    a bad signature, another audience, a past or too distant expiry, or a missing ``jti``.
    """
    try:
        header_part, claims_part, signature_part = assertion.split(".")
        header = json.loads(_decode(header_part))
        claims = json.loads(_decode(claims_part))
        signature = _decode(signature_part)
        client_id = claims["sub"]
        jwk = keys[client_id]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AssertionRefused("The assertion is malformed or of an unknown client.") from error
    signed = f"{header_part}.{claims_part}".encode()
    try:
        _verify(str(header.get("alg")), jwk, signed, signature)
    except (InvalidSignature, ValueError, KeyError, AttributeError) as error:
        raise AssertionRefused("The signature is not the client's.") from error
    _check_claims(claims, client_id, audience, now)
    return dict(claims)


def _check_claims(claims: dict[str, Any], client_id: str, audience: str, now: float) -> None:
    audiences = claims.get("aud")
    if audience not in (audiences if isinstance(audiences, list) else [audiences]):
        raise AssertionRefused("The audience is not this token endpoint.")
    if claims.get("iss") != client_id:
        raise AssertionRefused("The issuer must be the client itself.")
    expires = claims.get("exp")
    if not isinstance(expires, int | float) or expires < now - _CLOCK_SKEW_SECONDS:
        raise AssertionRefused("The assertion has expired.")
    if expires > now + _LONGEST_LIFE_SECONDS:
        raise AssertionRefused("The assertion lives too long.")
    if not isinstance(claims.get("jti"), str) or not claims["jti"]:
        raise AssertionRefused("The assertion needs a jti.")


def _verify(algorithm: str, jwk: dict[str, Any], signed: bytes, signature: bytes) -> None:
    if algorithm == "EdDSA" and jwk["kty"] == "OKP":
        ed25519.Ed25519PublicKey.from_public_bytes(_decode(jwk["x"])).verify(signature, signed)
    elif algorithm == "ES256" and jwk["kty"] == "EC":
        numbers = ec.EllipticCurvePublicNumbers(
            _number(jwk["x"]), _number(jwk["y"]), ec.SECP256R1()
        )
        half = len(signature) // 2
        pair = int.from_bytes(signature[:half]), int.from_bytes(signature[half:])
        numbers.public_key().verify(encode_dss_signature(*pair), signed, ec.ECDSA(SHA256()))
    elif algorithm in ("RS256", "PS256") and jwk["kty"] == "RSA":
        key = rsa.RSAPublicNumbers(_number(jwk["e"]), _number(jwk["n"])).public_key()
        salted = padding.PSS(padding.MGF1(SHA256()), padding.PSS.DIGEST_LENGTH)
        scheme = padding.PKCS1v15() if algorithm == "RS256" else salted
        key.verify(signature, signed, scheme, SHA256())
    else:
        raise InvalidSignature


def _decode(part: str) -> bytes:
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _number(part: str) -> int:
    return int.from_bytes(_decode(part))
