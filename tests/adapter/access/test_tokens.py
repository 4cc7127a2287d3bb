"""Tests of access tokens: each way in which one can be wrong is refused by its own reason."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from adapter.access import CallRefused, Credentials
from adapter.access.gate import Gate
from adapter.access.key_sets import KeyLoader
from adapter.config.callers import ALGORITHMS, Authentication
from adapter.crypto.web_keys import new_signing_key, public_half
from tests.adapter.access.tokens import AUDIENCE, ISSUER, NOW, Mint, encoded, issuer_part
from tests.fixtures.access import no_web

MINT = Mint()


def gate(mint: Mint = MINT, **facts: Any) -> Gate:
    """A gate that knows the issuer and its keys."""
    part = issuer_part(keySet={"type": "static", "documentRef": "secret:file/keys"}, **facts)
    policies = Authentication(issuers={"staff": part})
    return Gate(policies, KeyLoader(no_web, lambda _: mint.published()), now=lambda: NOW)


async def refusal(token: str, at: Gate | None = None) -> CallRefused:
    """How a token is refused."""
    with pytest.raises(CallRefused) as raised:
        await (at or gate()).identify(Credentials([f"Bearer {token}"], []))
    return raised.value


def parts(token: str) -> list[str]:
    """The three parts."""
    return token.split(".")


def resigned(header: dict[str, Any] | str, claims: dict[str, Any] | str | None = None) -> str:
    """A token of texts of one's own, signed well."""
    good = jwt.decode(MINT.token(), options={"verify_signature": False})
    texts = [
        one if isinstance(one, str) else json.dumps(one)
        for one in (header, good if claims is None else claims)
    ]
    signed = ".".join(encoded(text) for text in texts)
    key: Any = jwt.PyJWK(dict(MINT.keys[0])).key
    signature = jwt.get_algorithm_by_name("ES256").sign(signed.encode(), key)
    return f"{signed}.{encoded(signature)}"


HEADER = {"alg": "ES256", "typ": "at+jwt", "kid": MINT.keys[0]["kid"]}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_tells_owner_actor_and_what_may_be_done(algorithm: Any) -> None:
    mint = Mint(algorithm)
    caller = await gate(mint).identify(Credentials([f"bearer {mint.token()}"], []))
    assert (caller.owner.issuer, caller.owner.subject) == (ISSUER, "ann")
    assert (caller.actor, set(caller.actions), caller.operator) == ("staff:ann", {"status"}, False)
    assert caller.scope.owner == caller.owner


async def test_the_client_may_stand_in_azp_and_scopes_in_a_claim_of_their_own() -> None:
    token = MINT.token(client_id=None, azp="desk", scope=None, roles=["runs"])
    caller = await gate(scopeClaim="roles").identify(Credentials([f"Bearer {token}"], []))
    assert caller.actor == "staff:ann"


WRONG_CLAIMS: dict[str, tuple[dict[str, Any], str]] = {
    "issuer absent": ({"iss": None}, "issuer that is not known"),
    "issuer unknown": ({"iss": "https://other.example"}, "issuer that is not known"),
    "issuer with a slash": ({"iss": ISSUER + "/"}, "issuer that is not known"),
    "issuer a list": ({"iss": [ISSUER]}, "issuer that is not known"),
    "audience absent": ({"aud": None}, "another audience"),
    "audience foreign": ({"aud": "https://other.example"}, "another audience"),
    "audience longer": ({"aud": AUDIENCE + "/"}, "another audience"),
    "audiences foreign": ({"aud": ["https://other.example", 7]}, "another audience"),
    "expiry absent": ({"exp": None}, "does not say when"),
    "expiry a text": ({"exp": str(int(NOW) + 60)}, "does not say when"),
    "expiry true": ({"exp": True}, "does not say when"),
    "expiry huge": ({"exp": 10**400}, "does not say when"),
    "issue absent": ({"iat": None}, "does not say when"),
    "expired": ({"iat": int(NOW) - 400, "exp": int(NOW) - 31}, "has expired"),
    "issued in the future": ({"iat": int(NOW) + 31, "exp": int(NOW) + 60}, "in the future"),
    "lives too long": ({"exp": int(NOW) + 3_601}, "lives longer"),
    "ends before it began": ({"exp": int(NOW) - 1}, "lives longer"),
    "not valid yet": ({"nbf": int(NOW) + 31}, "not valid yet"),
    "not before a text": ({"nbf": "now"}, "not valid yet"),
    "client absent": ({"client_id": None}, "its client"),
    "client foreign": ({"client_id": "other"}, "its client"),
    "client foreign, azp known": ({"client_id": "other", "azp": "desk"}, "its client"),
    "client a list": ({"client_id": ["desk"]}, "its client"),
    "subject absent": ({"sub": None}, "no subject"),
    "subject empty": ({"sub": ""}, "no subject"),
    "subject a number": ({"sub": 7}, "no subject"),
    "subject long": ({"sub": "x" * 513}, "no subject"),
    "subject with a line": ({"sub": "ann\nroot"}, "control characters"),
}


@pytest.mark.parametrize("name", WRONG_CLAIMS)
async def test_a_wrong_claim_is_refused(name: str) -> None:
    claims, reason = WRONG_CLAIMS[name]
    # PyJWT itself refuses to sign some of these.
    good = jwt.decode(MINT.token(), options={"verify_signature": False})
    stated = {key: value for key, value in (good | claims).items() if value is not None}
    error = await refusal(resigned(HEADER, stated))
    assert (error.status, error.code) == (401, "access.unauthenticated")
    assert reason in error.message


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": int(NOW) + 3_600},
        {"iat": int(NOW) - 200, "exp": int(NOW) - 29},
        {"iat": int(NOW) + 29, "nbf": int(NOW) + 29},
        {"aud": ["https://other.example", AUDIENCE]},
        {"sub": "x" * 512},
        {"exp": NOW + 60.5},
    ],
)
async def test_what_is_just_within_the_rules_is_taken(claims: dict[str, Any]) -> None:
    caller = await gate().identify(Credentials([f"Bearer {MINT.token(**claims)}"], []))
    assert caller.actions == {"status"}


WRONG_HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "type absent": ({"typ": None}, "type is not at+jwt"),
    "type JWT": ({"typ": "JWT"}, "type is not at+jwt"),
    "type of a log-out": ({"typ": "logout+jwt"}, "type is not at+jwt"),
    "algorithm absent": ({"alg": None}, "names no algorithm"),
    "none": ({"alg": "none"}, "algorithm that is not allowed"),
    "None": ({"alg": "None"}, "algorithm that is not allowed"),
    "HS256": ({"alg": "HS256"}, "algorithm that is not allowed"),
    "ES384": ({"alg": "ES384"}, "algorithm that is not allowed"),
    "RS256 with a key of another kind": ({"alg": "RS256"}, "not signed with a key"),
    "kid unknown": ({"kid": "other"}, "not signed with a key"),
    "kid a number": ({"kid": 7}, "no usable key"),
    "kid long": ({"kid": "k" * 257}, "no usable key"),
    "critical": ({"crit": ["exp"]}, "an extension"),
    "critical and empty": ({"crit": []}, "an extension"),
    "unencoded": ({"crit": ["b64"], "b64": False}, "an extension"),
}


@pytest.mark.parametrize("name", WRONG_HEADERS)
async def test_a_wrong_header_is_refused(name: str) -> None:
    change, reason = WRONG_HEADERS[name]
    header = {key: value for key, value in (HEADER | change).items() if value is not None}
    assert reason in (await refusal(resigned(header))).message


async def test_the_public_key_is_no_secret_to_sign_with() -> None:
    header, claims, _ = parts(MINT.token())
    header = encoded(json.dumps(HEADER | {"alg": "HS256"}))
    for secret in (MINT.published(), json.dumps(public_half(MINT.keys[0])).encode()):
        signature = hmac.digest(secret, f"{header}.{claims}".encode(), "sha256")
        error = await refusal(f"{header}.{claims}.{encoded(signature)}")
        assert "algorithm that is not allowed" in error.message


async def test_a_key_that_the_token_brings_along_is_not_looked_at() -> None:
    mint = Mint()
    own = {"jwk": public_half(mint.keys[0]), "jku": "https://issuer.example/jwks"}
    for header in (own, own | {"kid": MINT.keys[0]["kid"]}, own | {"x5u": "https://a.example"}):
        assert "not signed with a key" in (await refusal(mint.token(header))).message


async def test_an_algorithm_counts_only_where_the_issuer_is_allowed_it() -> None:
    error = await refusal(MINT.token(), gate(algorithms=["RS256", "EdDSA"]))
    assert "algorithm that is not allowed" in error.message


MALFORMED: dict[str, Callable[[list[str]], str]] = {
    "two parts": lambda p: ".".join(p[:2]),
    "four parts": lambda p: ".".join([*p, p[0]]),
    "five parts, as encrypted ones have": lambda p: ".".join([*p, p[0], p[1]]),
    "no signature": lambda p: f"{p[0]}.{p[1]}.",
    "padding": lambda p: f"{p[0]}.{p[1]}.{p[2]}==",
    "plain base64": lambda p: f"{p[0]}.{p[1]}.{p[2][:-2]}+/",
    "a bit more": lambda p: f"{p[0]}.{p[1]}.{p[2]}A",
    "too large": lambda p: f"{p[0]}.{p[1]}{'A' * 16_384}.{p[2]}",
    "no JSON": lambda p: ".".join([encoded("{"), *p[1:]]),
    "no object": lambda p: ".".join([encoded("[]"), *p[1:]]),
    "too deep": lambda p: ".".join([encoded("[" * 9_000), *p[1:]]),
    "a number of many digits": lambda p: ".".join([encoded("1" * 5_000), *p[1:]]),
    "no text": lambda p: ".".join([encoded(b"\xff\xfe"), *p[1:]]),
    "not ASCII": lambda p: f"{p[0]}.{p[1]}.é",
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_compact_token_is_refused(name: str) -> None:
    error = await refusal(MALFORMED[name](parts(MINT.token())))
    assert error.code == "access.unauthenticated"


async def test_a_member_that_stands_twice_is_refused() -> None:
    header = json.dumps(HEADER)[:-1] + ', "alg": "ES256"}'
    claims = jwt.decode(MINT.token(), options={"verify_signature": False})
    doubled = json.dumps(claims)[:-1] + ', "sub": "root"}'
    for token in (resigned(header), resigned(HEADER, doubled)):
        assert "unique members" in (await refusal(token)).message


async def test_a_changed_claim_breaks_the_signature() -> None:
    header, claims, signature = parts(MINT.token())
    stated = json.loads(base64.urlsafe_b64decode(claims + "=="))
    forged = encoded(json.dumps(stated | {"sub": "root"}))
    error = await refusal(f"{header}.{forged}.{signature}")
    assert "not signed with a key" in error.message


@pytest.mark.parametrize("scope", ["", "run", "runs2 other", "runs\tother", None])
async def test_a_missing_scope_is_403_and_named_in_the_challenge(scope: str | None) -> None:
    error = await refusal(MINT.token(scope=scope))
    assert (error.status, error.code) == (403, "access.denied")
    [(name, challenge)] = error.headers
    assert name == "WWW-Authenticate"
    assert 'error="insufficient_scope", scope="runs"' in challenge


@pytest.mark.parametrize(
    ("authorization", "keys"),
    [
        ([], []),
        (["Basic YTpi"], []),
        (["Bearer"], []),
        (["Bearer "], []),
        ([f"Bearer {MINT.token()}"], ["key"]),
        ([f"Bearer {MINT.token()}"] * 2, []),
        ([f"Bearer {MINT.token()}, Bearer x"], []),
    ],
)
async def test_a_request_says_once_who_calls(authorization: list[str], keys: list[str]) -> None:
    with pytest.raises(CallRefused) as raised:
        await gate().identify(Credentials(authorization, keys))
    assert (raised.value.status, raised.value.headers[0][0]) == (401, "WWW-Authenticate")


async def test_no_refusal_holds_anything_of_the_token() -> None:
    token = MINT.token(sub="canary\x00", client_id="canary", iss="https://canary.example")
    error = await refusal(token)
    assert "canary" not in str(error) + repr(error.headers)
    assert token not in str(error)


async def test_keys_that_may_not_verify_are_passed_over() -> None:
    good = MINT.keys[0]
    for change in ({"use": "enc"}, {"alg": "ES384"}, {"key_ops": ["sign"]}, {"d": good["d"]}):
        key: dict[str, Any] = public_half(good) | change
        mint = Mint()
        mint.keys = [good]
        mint.published = lambda *_, k=key: json.dumps(  # type: ignore[method-assign]
            {"keys": [k, public_half(new_signing_key("ES256"))]}
        ).encode()
        assert "not signed with a key" in (await refusal(mint.token(), gate(mint))).message
