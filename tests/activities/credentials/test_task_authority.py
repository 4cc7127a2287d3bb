"""Calls for a task: asserted and exchanged at every attempt, and only for the very grant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from activities.credentials import (
    ClientCredentials,
    CredentialRefused,
    CredentialUnavailable,
    Grant,
    PostAnswer,
    Secret,
    TaskAuthority,
    TaskBound,
    read_grant,
)
from tests.activities.issuers import SIGNING_JWK, Posts, answered, in_seconds, reader, signed, token

_ID = "6f1c2a34-0b5d-4e6f-8a9b-0c1d2e3f4a5b"
_GRANT = Grant(_ID, in_seconds(6_000))
_CLIENT = ClientCredentials(
    "calendar",
    "https://issuer.example/token",
    "worker",
    "urn:example:calendar",
    ("book",),
    reader(json.dumps(SIGNING_JWK)),
)
_AUTHORITY = TaskAuthority(
    "https://casework.example/api",
    "https://casework.example",
    "clerk",
    "https://issuer.example",
    "urn:example:casework",
)
_BOUND = TaskBound(_CLIENT, _AUTHORITY)


def _assertion(grant: Grant, **changes: Any) -> PostAnswer:
    exp = in_seconds(30)
    claims = {
        "iss": "https://casework.example",
        "sub": "clerk",
        "aud": "https://issuer.example",
        "exp": exp,
        "jti": "one",
        "scope": "book",
        "registry_grant_id": grant.id,
        "registry_grant_exp": grant.expires_at,
        "registry_grant_client": "worker",
        "registry_grant_resource": "urn:example:calendar",
    } | changes
    body = {"assertion": signed(claims), "expiresAt": exp, "grantExpiresAt": grant.expires_at}
    return answered(200, body)


def _posts(assertion: PostAnswer | None) -> Posts:
    def answer(url: str, form: dict[str, str]) -> PostAnswer | None:
        if url.endswith("/assertion"):
            return assertion
        exchanging = form["grant_type"].endswith("token-exchange")
        return token("task-token" if exchanging else "bootstrap")

    return Posts(answer)


async def test_a_grant_is_asserted_and_exchanged_in_this_order() -> None:
    posts = _posts(_assertion(_GRANT))
    header = await _BOUND.header(posts.attempt(_GRANT))
    assert header == Secret("Bearer task-token")
    (_, bootstrap, _), (url, _, headers), (_, exchange, _) = posts.seen
    assert bootstrap["resource"] == "urn:example:casework"
    assert bootstrap["scope"] == "casework:grants:assert"
    assert url == f"https://casework.example/api/v1/task-grants/{_ID}/assertion"
    assert headers["Authorization"] == "Bearer bootstrap"
    assert exchange["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt"
    assert (exchange["resource"], exchange["scope"]) == ("urn:example:calendar", "book")


async def test_nothing_of_one_attempt_serves_the_next() -> None:
    posts = _posts(_assertion(_GRANT))
    for _ in range(2):
        await _BOUND.header(posts.attempt(_GRANT))
    assert len(posts.seen) == 6


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example"},
        {"sub": "somebody"},
        {"aud": "https://other.example"},
        {"exp": in_seconds(-30)},
        {"registry_grant_id": "7f1c2a34-0b5d-4e6f-8a9b-0c1d2e3f4a5b"},
        {"registry_grant_exp": in_seconds(60_000)},
        {"registry_grant_client": "somebody"},
        {"registry_grant_resource": "urn:example:other"},
        {"scope": "book cancel"},
    ],
)
async def test_an_assertion_of_something_else_is_never_exchanged(changes: dict[str, Any]) -> None:
    posts = _posts(_assertion(_GRANT, **changes))
    with pytest.raises(CredentialRefused):
        await _BOUND.header(posts.attempt(_GRANT))
    assert len(posts.seen) == 2


@pytest.mark.parametrize(
    "answer",
    [
        answered(200, {"assertion": "a.b.c"}),
        answered(200, {"assertion": "no token", "expiresAt": 1, "grantExpiresAt": 1}),
        answered(200, {"assertion": 7, "expiresAt": 1, "grantExpiresAt": _GRANT.expires_at}),
        answered(403, {"code": "task-grant-revoked"}),
        answered(404, {}),
        answered(410, {}),
    ],
)
async def test_an_authority_that_does_not_assert_refuses(answer: PostAnswer) -> None:
    posts = _posts(answer)
    with pytest.raises(CredentialRefused):
        await _BOUND.header(posts.attempt(_GRANT))
    assert len(posts.seen) == 2


async def test_a_grant_that_is_over_is_refused_before_anybody_is_asked() -> None:
    posts = _posts(None)
    with pytest.raises(CredentialRefused):
        await _BOUND.header(posts.attempt(Grant(_ID, in_seconds(-1))))
    assert posts.seen == []


async def test_an_authority_that_is_down_is_asked_again() -> None:
    with pytest.raises(CredentialUnavailable):
        await _BOUND.header(_posts(answered(503, {})).attempt(_GRANT))


@pytest.mark.parametrize(
    "written",
    [
        None,
        [],
        {},
        {"id": _ID},
        {"id": "short", "expiresAt": 1},
        {"id": _ID, "expiresAt": "1"},
        {"id": _ID, "expiresAt": True},
        {"id": _ID, "expiresAt": -1},
        {"id": _ID, "expiresAt": 1.5},
        {"id": _ID, "expiresAt": 1, "scopes": []},
    ],
)
def test_what_is_no_grant_is_read_as_none(written: Any) -> None:
    assert read_grant(written) is None
