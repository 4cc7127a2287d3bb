"""Token exchange at the development issuer: a task's assertion becomes a token of its bounds."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from activities.credentials import Secret
from activities.credentials.assertions import SigningKey
from adapter.crypto.web_keys import new_signing_key, public_half
from adapter.issuer import TOKEN_EXCHANGE
from adapter.issuer.tokens import JWT
from tests.adapter.issuer.conftest import RESOURCE, RunningIssuer

AUTHORITY = "https://casework.example"
_KEY = new_signing_key("ES256")


def _task(issuer: RunningIssuer, **changes: Any) -> str:
    now = int(time.time())
    claims = {
        "iss": AUTHORITY,
        "sub": "clerk",
        "aud": issuer.url,
        "iat": now,
        "exp": now + 60,
        "jti": str(time.monotonic_ns()),
        "scope": "write",
        "registry_grant_id": "d3b7",
        "registry_grant_client": "worker",
        "registry_grant_resource": RESOURCE,
        "registry_grant_exp": now + 120,
    }
    return SigningKey(Secret(json.dumps(_KEY))).sign(claims | changes).reveal()


def _form(assertion: str, **changes: Any) -> dict[str, Any]:
    form = {"grant_type": TOKEN_EXCHANGE, "subject_token": assertion, "subject_token_type": JWT}
    return form | changes


@pytest.fixture(autouse=True)
def _trusted(issuer: RunningIssuer) -> None:
    issuer.folder.trust(AUTHORITY, [public_half(_KEY)])


def test_an_assertion_becomes_a_token_of_the_task_and_no_longer_than_it(
    issuer: RunningIssuer,
) -> None:
    body = issuer.ask(**_form(_task(issuer))).json()
    claims = issuer.claims(body["access_token"])
    assert body["issued_token_type"].endswith(":access_token")
    assert (claims["sub"], claims["client_id"], claims["scope"]) == ("clerk", "worker", "write")
    assert claims["registry_grant_id"] == "d3b7"
    assert claims["registry_grant_source_issuer"] == AUTHORITY
    assert claims["exp"] <= claims["registry_grant_exp"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"iss": "https://other.example"}, "invalid_grant"),
        ({"aud": "https://other.example"}, "invalid_grant"),
        ({"exp": 1_000_000}, "invalid_grant"),
        ({"registry_grant_client": "other"}, "invalid_grant"),
        ({"registry_grant_exp": 1_000_000}, "invalid_grant"),
        ({"registry_grant_resource": "urn:example:other"}, "invalid_target"),
        ({"scope": "read"}, "invalid_scope"),
    ],
)
def test_an_assertion_of_something_else_is_not_exchanged(
    issuer: RunningIssuer, changes: dict[str, Any], error: str
) -> None:
    answer = issuer.ask(**_form(_task(issuer, **changes), scope="write"))
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_an_assertion_is_exchanged_once(issuer: RunningIssuer) -> None:
    assertion = _task(issuer)
    assert issuer.ask(**_form(assertion)).status_code == 200
    assert issuer.ask(**_form(assertion)).json()["error"] == "invalid_grant"
