"""Access tokens of an issuer and the grants of tasks at the pretend products."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from activities.credentials import Secret
from activities.credentials.assertions import SigningKey, client_assertion
from adapter.issuer import CLIENT_ASSERTION, CLIENT_CREDENTIALS
from tests.fixtures.town import CALENDAR, Town, opened_town


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with opened_town(tmp_path_factory.mktemp("issuer")) as town:
        yield town


def _token(town: Town, resource: str, scope: str) -> str:
    endpoint = f"{town.issuer}/token"
    assertion = client_assertion(SigningKey(Secret(town.key)), "worker", endpoint, time.time())
    form = {
        "grant_type": CLIENT_CREDENTIALS,
        "client_assertion_type": CLIENT_ASSERTION,
        "client_assertion": assertion.reveal(),
        "resource": resource,
        "scope": scope,
    }
    token: str = httpx.post(endpoint, data=form).json()["access_token"]
    return token


def _called(town: Town, method: str, path: str, token: str, **more: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}", "idempotency-key": "key"}
    return httpx.request(method, town.products.base_url + path, headers=headers, **more)


def test_a_token_opens_the_product_that_it_is_for(town: Town) -> None:
    path = "/registry/v1/records/applications/APP-1001?accessProfile=reviewer"
    assert _called(town, "GET", path, _token(town, "urn:pretend:registry", "read")).is_success
    other = _called(town, "GET", path, _token(town, CALENDAR, "read"))
    assert (other.status_code, other.json()["code"]) == (401, "credentials-rejected")


def test_a_token_of_another_issuer_opens_nothing(town: Town, tmp_path: Path) -> None:
    with opened_town(tmp_path) as other:
        token = _token(other, CALENDAR, "read")
    assert _called(town, "GET", "/scheduling/v1/scheduling", token).status_code == 401
    assert _called(town, "GET", "/scheduling/v1/scheduling", "no.token.atall").status_code == 401


def test_an_appointment_needs_the_token_of_a_grant(town: Town) -> None:
    body = {"admission": {"offering": "counter", "start": "2030-01-07T09:00:00Z", "party": {}}}
    answer = _called(
        town, "POST", "/scheduling/v1/appointments", _token(town, CALENDAR, "book"), json=body
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "task-grant-required")


def test_an_assertion_lives_a_minute_and_not_longer_than_its_grant(town: Town) -> None:
    grant = town.grant(seconds=20)
    token = _token(town, "urn:pretend:casework", "casework:grants:assert")
    path = f"/casework/v1/task-grants/{grant['id']}/assertion"
    answer = _called(town, "POST", path, token).json()
    claims = jwt.decode(answer["assertion"], options={"verify_signature": False})
    assert answer["grantExpiresAt"] == grant["expiresAt"] == answer["expiresAt"] == claims["exp"]
    assert (claims["registry_grant_id"], claims["registry_grant_client"]) == (grant["id"], "worker")


def test_only_the_client_of_a_grant_with_the_right_scope_has_it_asserted(town: Town) -> None:
    mine, other = town.grant(), town.grant(client_id="somebody")
    assertion = "/casework/v1/task-grants/{}/assertion"
    standing = _token(town, "urn:pretend:casework", "read")
    assert _called(town, "POST", assertion.format(mine["id"]), standing).status_code == 403
    asking = _token(town, "urn:pretend:casework", "casework:grants:assert")
    assert _called(town, "POST", assertion.format(other["id"]), asking).status_code == 404
    assert (
        _called(town, "POST", assertion.format(mine["id"]), "pretend-products").status_code == 403
    )
    body = _called(town, "POST", assertion.format(mine["id"]), asking, json={"scope": "more"})
    assert body.status_code == 422


def test_a_grant_that_was_taken_back_is_not_asserted(town: Town) -> None:
    grant = town.grant()
    town.products.revoke_grant(grant["id"])
    asking = _token(town, "urn:pretend:casework", "casework:grants:assert")
    answer = _called(town, "POST", f"/casework/v1/task-grants/{grant['id']}/assertion", asking)
    assert (answer.status_code, answer.json()["code"]) == (403, "grant-inactive")
