"""Tests of what bounds a request: sizes, time, methods, and who fails or asks too often."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from adapter.access import Caller, Credentials, too_many
from tests.adapter.api.conftest import MAIL_SECRET, Running
from tests.adapter.api.test_signatures import signed
from tests.fixtures.access import FixedAccess


async def answer(
    service: Running, method: str = "GET", path: str = "/v1/runs", **sent: Any
) -> httpx.Response:
    """One request of the desk."""
    async with service.client() as client:
        return await client.request(method, path, **sent)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/problems/" + "a" * 4_080, 404),
        ("/problems/" + "a" * 4_090, 414),
        ("/v1/runs?cursor=" + "a" * 4_090, 414),
    ],
)
async def test_an_address_has_four_kibibytes(service: Running, path: str, status: int) -> None:
    found = await answer(service, path=path)
    assert found.status_code == status
    if status == 414:
        assert found.json()["code"] == "request.address-too-long"


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Large": "a" * 33_000},
        {f"X-{number}": "a" for number in range(101)},
        {"Authorization": "Bearer " + "a" * 40_000},
    ],
)
async def test_headers_are_bounded_before_anybody_reads_them(
    service: Running, headers: dict[str, str]
) -> None:
    found = await answer(service, headers=headers)
    assert (found.status_code, found.json()["code"]) == (431, "request.headers-too-large")
    assert found.headers["coordinator-api"] == "1"


async def test_a_large_body_is_refused_before_its_sender_is_asked_who_it_is(
    service: Running,
) -> None:
    async with httpx.AsyncClient(base_url=service.url) as client:
        found = await client.post("/v1/runs", content=b"x" * 65_537)
    assert (found.status_code, found.json()["code"]) == (413, "request.too-large")


async def test_a_body_that_does_not_come_is_408(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapter.api.limits._BODY_SECONDS", 0.1)
    parts = urlsplit(service.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(b"POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{")
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    writer.close()
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in head


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/runs", "GET, POST"),
        ("/v1/runs/abc", "GET"),
        ("/v1/runs/abc/cancel", "POST"),
        ("/health", "GET"),
        ("/openapi.json", "GET, HEAD"),
    ],
)
async def test_allow_names_every_method_of_a_path(
    service: Running, path: str, allowed: str
) -> None:
    found = await answer(service, "DELETE", path)
    assert (found.status_code, found.headers["allow"]) == (405, allowed)


async def test_a_caller_that_asks_too_often_is_told_when_to_come_again(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: FixedAccess, given: Credentials) -> Caller:
        raise too_many(2.3, "too often")

    monkeypatch.setattr(FixedAccess, "identify", refuse)
    found = await answer(service)
    assert (found.status_code, found.json()["code"]) == (429, "access.too-many-requests")
    assert found.headers["retry-after"] == "3"


async def test_an_address_that_fails_too_often_gets_429_in_the_place_of_401(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FixedAccess, "count_failure", lambda *_: 12.0)
    event = json.dumps({"id": "e"})
    async with httpx.AsyncClient(base_url=service.url) as stranger:
        guessed = await stranger.get("/v1/runs", headers={"X-API-Key": "guess"})
        forged = await stranger.post(
            "/v1/review-completions", content=event, headers=signed(event, MAIL_SECRET)
        )
    for found in (guessed, forged):
        assert (found.status_code, found.headers["retry-after"]) == (429, "12")
        assert "www-authenticate" not in found.headers
    assert (await answer(service)).status_code == 200


async def test_a_signature_that_does_not_hold_has_a_challenge_of_its_own(service: Running) -> None:
    async with httpx.AsyncClient(base_url=service.url) as stranger:
        found = await stranger.post("/v1/review-completions", content=b"{}")
    assert found.headers["www-authenticate"].startswith("Webhook-Signature ")
