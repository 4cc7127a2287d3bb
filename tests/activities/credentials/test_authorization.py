"""How connections authorise one attempt: nobody, a kept token, a token of an issuer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from activities.credentials import (
    Anonymous,
    BearerToken,
    ClientCredentials,
    CredentialRefused,
    CredentialUnavailable,
    CredentialUnusable,
    PostAnswer,
    Secret,
)
from activities.errors import ConnectionFault
from adapter.crypto.web_keys import SigningAlgorithm, new_signing_key, public_half
from tests.activities.issuers import (
    NO_ATTEMPT,
    SIGNING_JWK,
    Posts,
    answered,
    claims_of,
    reader,
    token,
)

_ENDPOINT = "https://issuer.example/token"


def client(key: str = json.dumps(SIGNING_JWK), **changes: Any) -> ClientCredentials:
    """A client of an issuer."""
    settings: dict[str, Any] = {
        "connection": "crm",
        "endpoint": _ENDPOINT,
        "client_id": "worker",
        "resource": "urn:example:crm",
        "scopes": ("read", "write"),
        "read_key": reader(key),
    }
    return ClientCredentials(**settings | changes)


async def test_a_bearer_is_read_at_every_attempt() -> None:
    bearer = BearerToken("crm", reader("one", "two"))
    headers = [await bearer.header(NO_ATTEMPT), await bearer.header(NO_ATTEMPT)]
    assert headers == [Secret("Bearer one"), Secret("Bearer two")]


async def test_an_anonymous_connection_has_no_header() -> None:
    assert await Anonymous().header(NO_ATTEMPT) is None
    assert (Anonymous().loopback_only, Anonymous(public=True).loopback_only) == (True, False)


@pytest.mark.parametrize("text", ["", "two words", "line\n", "ä"])
async def test_a_token_that_no_header_can_carry_is_unavailable(text: str) -> None:
    with pytest.raises(CredentialUnavailable) as caught:
        await BearerToken("crm", reader(text)).header(NO_ATTEMPT)
    assert (caught.value.code, caught.value.place) == ("connection.credential", "crm")


async def test_a_token_that_can_not_be_read_is_unavailable() -> None:
    async def absent() -> Secret:
        raise ConnectionFault("secret.absent", "no", remedy="set it")

    with pytest.raises(CredentialUnavailable) as caught:
        await BearerToken("crm", absent).header(NO_ATTEMPT)
    assert caught.value.remedy == "set it"


async def test_every_attempt_gets_a_token_of_its_own_for_a_new_assertion() -> None:
    tokens = iter(["one", "two"])
    posts = Posts(lambda _url, _form: token(next(tokens)))
    headers = [await client().header(posts.attempt()) for _ in range(2)]
    assert headers == [Secret("Bearer one"), Secret("Bearer two")]
    ids = {claims_of(form["client_assertion"], _ENDPOINT)["jti"] for _, form, _ in posts.seen}
    assert len(ids) == 2


async def test_the_request_names_client_resource_and_scopes() -> None:
    posts = Posts()
    await client(audience="https://issuer.example").header(posts.attempt())
    (url, form, _), *_ = posts.seen
    claims = claims_of(form.pop("client_assertion"), "https://issuer.example")
    assert (claims["iss"], claims["sub"]) == ("worker", "worker")
    assert 0 < claims["exp"] - claims["iat"] <= 60
    assert url == _ENDPOINT
    assert form == {
        "grant_type": "client_credentials",
        "resource": "urn:example:crm",
        "scope": "read write",
        "client_id": "worker",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "RS256"])
async def test_the_key_decides_how_it_signs(algorithm: SigningAlgorithm) -> None:
    key = {name: one for name, one in new_signing_key(algorithm).items() if name != "alg"}
    posts = Posts()
    assert await client(json.dumps(key)).header(posts.attempt()) == Secret("Bearer token-1")


@pytest.mark.parametrize(
    "answer",
    [None, answered(408, {}), answered(429, {}), answered(500, {}), answered(503, {})],
)
async def test_an_issuer_that_does_not_answer_is_asked_again(answer: PostAnswer | None) -> None:
    with pytest.raises(CredentialUnavailable):
        await client().header(Posts(lambda _url, _form: answer).attempt())


@pytest.mark.parametrize(
    "answer",
    [
        answered(302, {}),
        answered(400, {"error": "invalid_scope"}),
        answered(401, {"error": "invalid_client"}),
        answered(200, {"access_token": "t", "token_type": "mac"}),
        answered(200, {"token_type": "Bearer"}),
        answered(200, ["token"]),
        token(scope="read"),
        PostAnswer(200, "application/json", b"{"),
        PostAnswer(200, "text/html", b"{}"),
        PostAnswer(200, "application/json", None),
    ],
)
async def test_any_other_answer_without_a_token_refuses(answer: PostAnswer) -> None:
    with pytest.raises(CredentialRefused) as caught:
        await client().header(Posts(lambda _url, _form: answer).attempt())
    assert caught.value.place == "crm"


@pytest.mark.parametrize(
    "key",
    [
        "no json",
        "[]",
        "{}",
        json.dumps(public_half(SIGNING_JWK)),
        json.dumps(SIGNING_JWK | {"alg": "none"}),
        json.dumps({"kty": "oct", "k": "c2VjcmV0"}),
        json.dumps({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "d": "AA"}),
    ],
)
async def test_what_is_no_private_key_is_said_to_be_unusable(key: str) -> None:
    posts = Posts()
    with pytest.raises(CredentialUnusable) as caught:
        await client(key).header(posts.attempt())
    assert caught.value.code == "connection.signing-key"
    assert posts.seen == []


async def test_an_rsa_key_that_is_too_short_signs_nothing() -> None:
    private = rsa.generate_private_key(public_exponent=65_537, key_size=1_024)
    jwk = json.dumps(RSAAlgorithm.to_jwk(private, as_dict=True))
    posts = Posts()
    with pytest.raises(CredentialUnusable):
        await client(jwk).header(posts.attempt())
    assert posts.seen == []


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ('{"d": "hunter2", ', token()),
        ('{"kty": "hunter2", "d": "hunter2"}', token()),
        (
            json.dumps(SIGNING_JWK),
            PostAnswer(200, "application/json", b'{"access_token":"hunter2"'),
        ),
        (json.dumps(SIGNING_JWK), token("hunter2\n")),
        (json.dumps(SIGNING_JWK), answered(400, {"error_description": "hunter2"})),
    ],
)
async def test_no_fault_and_no_cause_of_one_holds_a_secret(key: str, answer: PostAnswer) -> None:
    with pytest.raises(ConnectionFault) as caught:
        await client(key).header(Posts(lambda _url, _form: answer).attempt())
    fault: BaseException | None = caught.value
    while fault is not None:
        assert "hunter2" not in f"{fault!r} {fault} {vars(fault)}"
        fault = fault.__cause__
