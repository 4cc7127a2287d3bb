"""The token endpoint of the pretend products: private_key_jwt, secrets, and what tokens open."""

from __future__ import annotations

import base64
import json
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from examples.products.client import PretendProducts
from examples.products.server import ProductsServer
from examples.products.settings import OAuthClient, OAuthSettings, ProductsSettings

RECORD = "/registry/v1/records/applications/APP-1001?accessProfile=reviewer"
JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
Signer = Callable[[bytes], bytes]


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return b64(value.to_bytes((value.bit_length() + 7) // 8))


def ed25519_key() -> tuple[dict[str, Any], Signer]:
    key = ed25519.Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes_raw()
    return {"kty": "OKP", "crv": "Ed25519", "x": b64(public)}, key.sign


def p256_key() -> tuple[dict[str, Any], Signer]:
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_numbers()

    def sign(data: bytes) -> bytes:
        r, s = decode_dss_signature(key.sign(data, ec.ECDSA(SHA256())))
        return r.to_bytes(32) + s.to_bytes(32)

    jwk = {"kty": "EC", "crv": "P-256", "x": number(point.x), "y": number(point.y)}
    return jwk, sign


def rsa_key() -> tuple[dict[str, Any], Signer]:
    key = rsa.generate_private_key(65_537, 2_048)
    public = key.public_key().public_numbers()
    jwk = {"kty": "RSA", "n": number(public.n), "e": number(public.e)}
    return jwk, lambda data: key.sign(data, padding.PKCS1v15(), SHA256())


KEYS = {"EdDSA": ed25519_key(), "ES256": p256_key(), "RS256": rsa_key()}


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """Products that take issued tokens only; the address of their process."""
    clients = (
        *(OAuthClient(algorithm, jwk=jwk) for algorithm, (jwk, _) in KEYS.items()),
        OAuthClient("secretive", secret="test secret"),
    )
    settings = ProductsSettings(oauth=OAuthSettings(clients, token_seconds=60))
    with ProductsServer(settings) as server:
        yield server.base_url


def assertion(address: str, algorithm: str = "EdDSA", **changes: Any) -> str:
    now = int(time.time())
    claims = {
        "iss": algorithm,
        "sub": algorithm,
        "aud": f"{address}/oauth/token",
        "exp": now + 60,
        "jti": uuid.uuid4().hex,
        **changes,
    }
    parts = [b64(json.dumps(part).encode()) for part in ({"alg": algorithm}, claims)]
    signed = ".".join(parts)
    return f"{signed}.{b64(KEYS[algorithm][1](signed.encode()))}"


def ask(address: str, signed: str, **more: str) -> httpx.Response:
    form = {
        "grant_type": "client_credentials",
        "client_assertion_type": JWT_BEARER,
        "client_assertion": signed,
        "scope": "records:read",
        **more,
    }
    return httpx.post(f"{address}/oauth/token", data=form)


def read_with(address: str, token: str) -> int:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.get(f"{address}{RECORD}", headers=headers).status_code


@pytest.mark.parametrize("algorithm", list(KEYS))
def test_a_signed_assertion_gets_a_token_that_opens(guarded: str, algorithm: str) -> None:
    answer = ask(guarded, assertion(guarded, algorithm))
    token = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert (token["token_type"], token["expires_in"]) == ("Bearer", 60)
    assert token["scope"] == "records:read"
    assert read_with(guarded, token["access_token"]) == 200


def test_an_assertion_is_good_for_one_token(guarded: str) -> None:
    signed = assertion(guarded)
    assert ask(guarded, signed).status_code == 200
    again = ask(guarded, signed)
    assert (again.status_code, again.json()["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "https://elsewhere.example/token"},
        {"exp": 1},
        {"exp": 2**40},
        {"iss": "another"},
        {"sub": "another"},
        {"jti": ""},
    ],
)
def test_a_wrong_claim_gets_no_token(guarded: str, changes: dict[str, Any]) -> None:
    answer = ask(guarded, assertion(guarded, **changes))
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_a_changed_signature_gets_no_token(guarded: str) -> None:
    head, claims, _ = assertion(guarded).split(".")
    for signed in (f"{head}.{claims}.{b64(b'x' * 64)}", f"{head}.{claims}.", "nonsense"):
        assert ask(guarded, signed).json()["error"] == "invalid_client"


def test_a_secret_gets_a_token_in_the_form_or_as_basic(guarded: str) -> None:
    url, grant = f"{guarded}/oauth/token", {"grant_type": "client_credentials"}
    form = {**grant, "client_id": "secretive", "client_secret": "test secret"}
    assert httpx.post(url, data=form).status_code == 200
    assert httpx.post(url, data=grant, auth=("secretive", "test secret")).status_code == 200
    assert httpx.post(url, data=grant, auth=("secretive", "wrong")).status_code == 401


def test_another_grant_is_not_supported(guarded: str) -> None:
    answer = ask(guarded, assertion(guarded), grant_type="password")
    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


def test_a_revoked_token_opens_nothing(guarded: str) -> None:
    token = ask(guarded, assertion(guarded)).json()["access_token"]
    with PretendProducts(guarded) as control:
        control.revoke_tokens()
    assert read_with(guarded, token) == 401


def test_the_static_bearer_opens_nothing_where_tokens_are_issued(guarded: str) -> None:
    assert read_with(guarded, "pretend-products") == 401


def test_without_clients_there_is_no_token_endpoint(products: PretendProducts) -> None:
    answer = ask(products.base_url, "x.y.z")
    assert (answer.status_code, answer.json()["code"]) == (404, "oauth-not-configured")


def test_the_token_endpoint_can_fail(guarded: str) -> None:
    with PretendProducts(guarded) as control:
        control.fault("oauth.token", "status-5xx")
    assert ask(guarded, assertion(guarded)).status_code == 503
