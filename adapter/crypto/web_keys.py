"""Keys that sign tokens, as JSON Web Keys."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Literal

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

SigningAlgorithm = Literal["ES256", "EdDSA", "RS256"]

_RSA_BITS = 3_072
_EC_BYTES = 32
# The members that RFC 7638 takes a thumbprint of, and RFC 7517 calls public.
_PUBLIC = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x"), "RSA": ("e", "kty", "n")}


def new_signing_key(algorithm: SigningAlgorithm) -> dict[str, str]:
    """A fresh private JWK; ``kid`` is its thumbprint (RFC 7638), ``alg`` says how it signs."""
    members = _NEW[algorithm]()
    public = {name: members[name] for name in _PUBLIC[members["kty"]]}
    thumbprint = hashlib.sha256(json.dumps(public, separators=(",", ":")).encode()).digest()
    return {**members, "alg": algorithm, "use": "sig", "kid": _text(thumbprint)}


def public_half(key: dict[str, str]) -> dict[str, str]:
    """The members of a JWK that everybody may know."""
    named = (*_PUBLIC[key["kty"]], "alg", "use", "kid")
    return {name: key[name] for name in named if name in key}


def _new_ec() -> dict[str, str]:
    numbers = ec.generate_private_key(ec.SECP256R1()).private_numbers()
    public = numbers.public_numbers
    parts = {"x": public.x, "y": public.y, "d": numbers.private_value}
    return {"kty": "EC", "crv": "P-256", **{name: _padded(n) for name, n in parts.items()}}


def _new_ed25519() -> dict[str, str]:
    key = ed25519.Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes_raw()
    return {"kty": "OKP", "crv": "Ed25519", "x": _text(public), "d": _text(key.private_bytes_raw())}


def _new_rsa() -> dict[str, str]:
    numbers = rsa.generate_private_key(public_exponent=65_537, key_size=_RSA_BITS).private_numbers()
    parts = {
        "n": numbers.public_numbers.n,
        "e": numbers.public_numbers.e,
        "d": numbers.d,
        "p": numbers.p,
        "q": numbers.q,
        "dp": numbers.dmp1,
        "dq": numbers.dmq1,
        "qi": numbers.iqmp,
    }
    return {"kty": "RSA", **{name: _number(part) for name, part in parts.items()}}


_NEW = {"ES256": _new_ec, "EdDSA": _new_ed25519, "RS256": _new_rsa}


def _padded(number: int) -> str:
    return _text(number.to_bytes(_EC_BYTES))


def _number(number: int) -> str:
    return _text(number.to_bytes((number.bit_length() + 7) // 8))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
