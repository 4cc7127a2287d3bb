"""Tests of an issuer's keys over time: rotation, outage, discovery, and what is no key set."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from adapter.access import ABSENT, Credentials
from adapter.access.gate import Gate
from adapter.access.key_sets import KeyLoader, metadata_addresses
from adapter.config.callers import Authentication
from adapter.errors import Unavailable
from tests.adapter.access.tokens import ISSUER, NOW, Mint, issuer_part

KEYS_AT = "https://keys.example/jwks"


@dataclass
class Web:
    """Documents by address, and what was asked for; ``up`` is whether anything answers."""

    documents: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    up: bool = True
    missing: str = ABSENT

    async def __call__(self, address: str, most_bytes: int) -> bytes:
        """A document."""
        self.asked.append(address)
        await asyncio.sleep(0)
        if not self.up:
            raise Unavailable("document.unavailable", "not there")
        if address not in self.documents:
            raise Unavailable(self.missing, "not there")
        return self.documents[address]


@dataclass
class Place:
    """An issuer whose keys are at an address, a clock, and the gate that uses both."""

    mint: Mint = field(default_factory=Mint)
    web: Web = field(default_factory=Web)
    ticks: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.web.documents[KEYS_AT] = self.mint.published()
        part = issuer_part(**({"keySet": {"type": "uri", "uri": KEYS_AT}} | self.facts))
        loader = KeyLoader(self.web, lambda _: b"")
        self.gate = Gate(
            Authentication(issuers={"staff": part}),
            loader,
            now=lambda: NOW,
            ticks=lambda: self.ticks,
        )

    async def refused(self, token: str | None = None) -> str | None:
        """The code by which a token is refused, None where it is taken."""
        given = Credentials([f"Bearer {token or self.mint.token()}"], [])
        try:
            await self.gate.identify(given)
        except Exception as error:
            return str(getattr(error, "code", error))
        return None

    def rotate(self, kept: int | None = None) -> None:
        """A new key, published with ``kept`` of them in all."""
        self.mint.rotate()
        self.web.documents[KEYS_AT] = self.mint.published(kept)


async def test_keys_are_fetched_once_for_many_requests() -> None:
    place = Place()
    answers = await asyncio.gather(*(place.refused() for _ in range(20)))
    assert (set(answers), place.web.asked) == ({None}, [KEYS_AT])


async def test_a_rotated_key_is_found_at_its_first_token() -> None:
    place = Place()
    assert await place.refused() is None
    place.rotate()
    place.ticks = 11
    assert await place.refused() is None
    assert len(place.web.asked) == 2


async def test_unknown_keys_are_looked_for_once_in_ten_seconds() -> None:
    place, stranger = Place(), Mint()
    assert await place.refused() is None
    place.ticks = 11
    for _ in range(50):
        assert await place.refused(stranger.token()) == "access.unauthenticated"
    assert len(place.web.asked) == 2
    place.ticks = 22
    await place.refused(stranger.token())
    assert len(place.web.asked) == 3


async def test_a_withdrawn_key_counts_no_longer_than_until_the_next_fetch() -> None:
    place = Place()
    old = place.mint.token()
    assert await place.refused(old) is None
    place.rotate(kept=1)
    place.ticks = 301
    for keys in place.gate.key_sets:
        await keys.keep_fresh()
    assert await place.refused(old) == "access.unauthenticated"
    assert await place.refused() is None


async def test_known_keys_serve_through_an_outage_of_an_hour() -> None:
    place = Place()
    assert await place.refused() is None
    place.web.up = False
    for place.ticks in (400.0, 3_599.0):
        for keys in place.gate.key_sets:
            await keys.keep_fresh()
        assert await place.refused() is None
    place.ticks = 3_600.0
    assert await place.refused() == "access.unavailable"
    place.web.up, place.ticks = True, 3_620.0
    assert await place.refused() is None


async def test_in_an_outage_nobody_can_tell_an_unknown_key_from_a_new_one() -> None:
    place = Place()
    assert await place.refused() is None
    place.web.up, place.ticks = False, 20.0
    place.mint.rotate()
    assert await place.refused() == "access.unavailable"


async def test_without_any_keys_the_answer_is_unavailable_and_the_issuer_is_not_hammered() -> None:
    place = Place()
    place.web.up = False
    assert {await place.refused() for _ in range(30)} == {"access.unavailable"}
    assert len(place.web.asked) == 1


async def test_the_issuers_metadata_says_where_its_keys_are() -> None:
    place = Place(facts={"keySet": {"type": "discovery"}})
    metadata = {"issuer": ISSUER, "jwks_uri": KEYS_AT}
    address = f"{ISSUER}/.well-known/openid-configuration"
    place.web.documents[address] = json.dumps(metadata).encode()
    assert await place.refused() is None
    assert place.web.asked == [address, KEYS_AT]


@pytest.mark.parametrize(
    ("issuer", "addresses"),
    [
        (
            "https://login.example",
            (
                "https://login.example/.well-known/openid-configuration",
                "https://login.example/.well-known/oauth-authorization-server",
            ),
        ),
        (
            "https://login.example:8443/realms/town/",
            (
                "https://login.example:8443/realms/town/.well-known/openid-configuration",
                "https://login.example:8443/.well-known/oauth-authorization-server/realms/town",
            ),
        ),
    ],
)
async def test_an_issuer_without_openid_connect_has_its_metadata_where_rfc_8414_says(
    issuer: str, addresses: tuple[str, str]
) -> None:
    place = Place(facts={"issuer": issuer, "keySet": {"type": "discovery"}})
    metadata = json.dumps({"issuer": issuer, "jwks_uri": KEYS_AT}).encode()
    place.web.documents[addresses[1]] = metadata
    assert await place.refused(place.mint.token(iss=issuer)) is None
    assert place.web.asked == [*addresses, KEYS_AT]


@pytest.mark.parametrize("first", ["document.unavailable", "document.refused"])
async def test_an_outage_is_no_reason_to_ask_elsewhere(first: str) -> None:
    place = Place(facts={"keySet": {"type": "discovery"}})
    place.web.missing = first
    assert await place.refused() == "access.unavailable"
    assert len(place.web.asked) == 1


async def test_metadata_of_another_issuer_is_not_looked_for_elsewhere() -> None:
    place = Place(facts={"keySet": {"type": "discovery"}})
    first, second = metadata_addresses(ISSUER)
    place.web.documents[first] = b'{"issuer": "https://other.example"}'
    place.web.documents[second] = json.dumps({"issuer": ISSUER, "jwks_uri": KEYS_AT}).encode()
    assert await place.refused() == "access.unavailable"
    assert place.web.asked == [first]


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": f"{ISSUER}/", "jwks_uri": KEYS_AT},
        {"issuer": "https://other.example", "jwks_uri": KEYS_AT},
        {"jwks_uri": KEYS_AT},
        {"issuer": ISSUER},
        {"issuer": ISSUER, "jwks_uri": "http://keys.example/jwks"},
        {"issuer": ISSUER, "jwks_uri": "file:///etc/keys"},
        {"issuer": ISSUER, "jwks_uri": [KEYS_AT]},
        [ISSUER],
    ],
)
async def test_metadata_that_is_not_the_issuers_own_gives_no_keys(metadata: Any) -> None:
    place = Place(facts={"keySet": {"type": "discovery"}})
    address = f"{ISSUER}/.well-known/openid-configuration"
    place.web.documents[address] = json.dumps(metadata).encode()
    assert await place.refused() == "access.unavailable"
    assert KEYS_AT not in place.web.asked


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{",
        b"[]",
        b'{"keys": {}}',
        b'{"keys": []}',
        b'{"keys": [], "keys": []}',
        json.dumps({"keys": [{"kty": "EC", "crv": "P-256"}] * 65}).encode(),
        json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}).encode(),
        json.dumps({"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}).encode(),
        json.dumps({"keys": [{"kty": "EC", "crv": "P-256", "x": 1, "y": []}]}).encode(),
        json.dumps({"keys": [{"kty": ["EC"], "crv": {}}, 7, None]}).encode(),
    ],
)
async def test_what_is_no_key_set_gives_no_keys(document: bytes) -> None:
    place = Place()
    place.web.documents[KEYS_AT] = document
    assert await place.refused() == "access.unavailable"
