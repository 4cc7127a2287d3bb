"""Tests that no problem repeats what was sent, wherever in a request it stood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.adapter.access.deployed import Deployed
from tests.adapter.access.test_roles import BODIES, operations

CANARY = "canary7"


def marked(value: Any) -> list[Any]:
    """Bodies like a sound one, with the canary as a value, as a name and in the place of all."""
    if not isinstance(value, dict):
        return [CANARY]
    changed = [value | {name: CANARY} for name in value]
    return [*changed, value | {CANARY: 1}, {CANARY: {CANARY: [CANARY]}}, [CANARY], CANARY]


@pytest.mark.parametrize("caller", ["nobody", "every-operator"])
async def test_a_problem_never_repeats_what_was_sent(site: Deployed, caller: str) -> None:
    run = await site.start(site.token("plain"), "k")
    headers = {"Idempotency-Key": CANARY * 50, "X-Canary": CANARY}
    known = {} if caller == "nobody" else site.key(caller)
    refused = 0
    async with site.client(known) as client:
        for operation in operations(site.app.openapi()):
            sound = site.start_body() if operation.id == "startRun" else BODIES.get(operation.id)
            for path in (operation.address(run), operation.address(CANARY)):
                for body in marked(sound):
                    answer = await client.request(
                        operation.method,
                        f"{path}?{CANARY}={CANARY}" if operation.method == "get" else path,
                        content=None if operation.method == "get" else json.dumps(body),
                        headers={"Content-Type": "application/json", **headers},
                    )
                    if answer.status_code >= 400:
                        refused += 1
                        told = answer.text + str(answer.headers.multi_items())
                        assert CANARY not in told, (operation, body, answer.text)
    assert refused > 100


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", f"Bearer {CANARY}"),
        ("Authorization", CANARY),
        ("X-API-Key", CANARY),
        ("Content-Type", f"application/{CANARY}"),
        ("webhook-id", CANARY),
        ("webhook-signature", CANARY),
    ],
)
async def test_a_header_is_never_repeated(site: Deployed, header: tuple[str, str]) -> None:
    known = {} if header[0] in ("Authorization", "X-API-Key") else site.key("every-operator")
    async with site.client(known) as client:
        for path in ("/v1/runs", "/v1/review-completions"):
            answer = await client.post(path, content=b"{}", headers=dict([header]))
            assert answer.status_code >= 400
            assert CANARY not in answer.text + str(answer.headers.multi_items())
