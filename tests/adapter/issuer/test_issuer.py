"""The development issuer: who gets a token, what it says, and who gets none."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from adapter.crypto.web_keys import SigningAlgorithm, new_signing_key, public_half
from adapter.issuer import TOKEN_EXCHANGE, Client
from tests.adapter.issuer.conftest import RESOURCE, RunningIssuer, proof


def test_a_client_gets_a_token_that_its_resource_can_verify(issuer: RunningIssuer) -> None:
    body = issuer.ask(scope="read").json()
    claims = issuer.claims(body["access_token"])
    assert jwt.get_unverified_header(body["access_token"])["typ"] == "at+jwt"
    assert claims["iss"] == issuer.url
    assert (claims["sub"], claims["client_id"], claims["scope"]) == ("worker", "worker", "read")
    assert claims["exp"] - claims["iat"] == body["expires_in"] == 300


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "RS256"])
def test_every_kind_of_key_proves_its_client(
    issuer: RunningIssuer, algorithm: SigningAlgorithm
) -> None:
    key = new_signing_key(algorithm)
    issuer.folder.admit(Client("other", (public_half(key),), (RESOURCE,)))
    assert issuer.ask(proof(issuer, key, "other")).status_code == 200


def test_no_token_lives_longer_than_an_hour(issuer: RunningIssuer) -> None:
    known = issuer.folder.clients()["worker"]
    issuer.folder.admit(Client("worker", known.keys, known.resources, (), 86_400))
    assert issuer.ask().json()["expires_in"] == 3_600


def test_discovery_names_the_endpoint_and_the_keys(issuer: RunningIssuer) -> None:
    metadata = httpx.get(f"{issuer.url}/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == issuer.url
    assert metadata["token_endpoint"] == f"{issuer.url}/token"
    keys = httpx.get(metadata["jwks_uri"]).json()["keys"]
    assert keys
    assert all("d" not in key for key in keys)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "somebody"},
        {"sub": "somebody"},
        {"aud": "https://elsewhere.example/token"},
        {"exp": 1_000_000},
        {"exp": int(time.time()) + 86_400},
        {"jti": None},
        {"jti": ""},
    ],
)
def test_an_unsound_assertion_gets_no_token(issuer: RunningIssuer, changes: dict[str, Any]) -> None:
    answer = issuer.ask(issuer.assertion(**changes))
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_an_assertion_is_good_for_one_request(issuer: RunningIssuer) -> None:
    assertion = issuer.assertion()
    assert issuer.ask(assertion).status_code == 200
    again = issuer.ask(assertion)
    assert (again.status_code, again.json()["error"]) == (401, "invalid_client")


def test_another_key_proves_nothing(issuer: RunningIssuer) -> None:
    answer = issuer.ask(proof(issuer, new_signing_key("ES256"), "worker"))
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"scope": "read admin"}, "invalid_scope"),
        ({"resource": "urn:example:other"}, "invalid_target"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"client_assertion_type": None}, "invalid_client"),
        ({"client_id": "somebody"}, "invalid_client"),
        ({"scope": ["read", "write"]}, "invalid_request"),
        ({"grant_type": TOKEN_EXCHANGE}, "invalid_request"),
    ],
)
def test_a_request_beyond_what_is_allowed_names_its_error(
    issuer: RunningIssuer, form: dict[str, Any], error: str
) -> None:
    answer = issuer.ask(**form)
    assert answer.json()["error"] == error


def test_a_rotated_key_signs_at_once_and_the_old_one_still_verifies(
    issuer: RunningIssuer, tmp_path: Path
) -> None:
    before = issuer.ask().json()["access_token"]
    command = [sys.executable, "-m", "adapter.issuer", "--rotate", "--folder"]
    said = subprocess.run([*command, str(tmp_path / "issuer")], capture_output=True, text=True)
    after = issuer.ask().json()["access_token"]
    assert jwt.get_unverified_header(after)["kid"] == said.stdout.strip()
    assert issuer.claims(before)["sub"] == issuer.claims(after)["sub"] == "worker"


def test_what_the_issuer_keeps_is_for_its_owner_alone(
    tmp_path: Path, issuer: RunningIssuer
) -> None:
    kept = list((tmp_path / "issuer").iterdir())
    assert kept
    assert {file.stat().st_mode & 0o777 for file in kept} == {0o600}


def test_a_request_that_is_no_form_is_refused_whole(issuer: RunningIssuer) -> None:
    assert httpx.post(f"{issuer.url}/token", content=b"\xff\xfe").status_code == 400
    assert httpx.post(f"{issuer.url}/token", content=b"a=" + b"x" * 200_000).status_code == 413
    assert httpx.get(f"{issuer.url}/nothing").status_code == 404
