"""What runs carry is shown after its audit record, and not without one."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from adapter.api import ActWish
from tests.adapter.api.conftest import REVISION, Running

SECRETS = {"output": "output", "reason": "reasons", "receipt": "receipts"}
"""A member of an answer that holds what a run carries, and what the journal calls it."""

SHOWN = {
    "startRun": ("POST", "", {"output"}),
    "readRun": ("GET", "/{run}", {"output"}),
    "inspectRun": ("GET", "/{run}/inspect", {"output", "reasons", "receipts"}),
    "readAct": ("GET", "/{run}/acts/{act}", {"reasons"}),
    "retrySameRun": ("POST", "/{run}/retry-same", {"output", "reasons"}),
    "reconcileRun": ("POST", "/{run}/reconcile", {"output", "reasons"}),
    "cancelRun": ("POST", "/{run}/cancel", {"output", "reasons"}),
}
"""Every operation whose answer may hold one, by its own id."""


def members(document: dict[str, Any], schema: Any) -> set[str]:
    """The names of all members that a value of a schema may have, at any depth."""
    if isinstance(schema, list):
        return set().union(*(members(document, item) for item in schema))
    if not isinstance(schema, dict):
        return set()
    if name := schema.get("$ref", "").rpartition("/")[2]:
        return members(document, document["components"]["schemas"][name])
    return {*schema.get("properties", ()), *members(document, list(schema.values()))}


async def test_every_answer_that_may_show_what_a_run_carries_is_known(service: Running) -> None:
    async with service.client() as client:
        document = (await client.get("/openapi.json")).json()
    showing = {}
    for path in document["paths"].values():
        for operation in path.values():
            answers = [operation["responses"].get(status, {}) for status in ("200", "202")]
            if found := SECRETS.keys() & members(document, answers):
                showing[operation["operationId"]] = {SECRETS[name] for name in found}
    assert showing == {name: kinds for name, (_, _, kinds) in SHOWN.items()}


@pytest.mark.parametrize("operation", SHOWN)
async def test_who_is_shown_what_a_run_carries_is_noted_first(
    service: Running, operation: str
) -> None:
    method, tail, kinds = SHOWN[operation]
    run = (await service.start()).json()["runId"]
    act = (await service.desk.begin(run, ActWish("cancel", "boss", "ticket 81", "k", ""))).id
    service.book.change(run, output={"number": 7})
    body: dict[str, Any] = {"reason": "ticket 82"}
    if operation == "startRun":
        body = {"workflow": "notice", "revision": REVISION, "input": {"id": "a"}}

    async def ask() -> httpx.Response:
        caller = "desk" if operation == "startRun" else "boss"
        address = "/v1/runs" + tail.format(run=run, act=act)
        sent = None if method == "GET" else body
        async with service.client(caller) as client:
            key = {"Idempotency-Key": "k1"}
            return await client.request(method, address, headers=key, json=sent)

    assert (await ask()).status_code in (200, 202)
    assert {what for _, _, what in service.book.readers} == kinds
    service.book.journal = False
    refused = await ask()
    assert (refused.status_code, refused.json()["code"]) == (503, "ledger.unavailable")
    assert "ticket" not in refused.text


async def test_a_run_that_shows_nothing_leaves_no_record(service: Running) -> None:
    run = (await service.start()).json()["runId"]
    async with service.client("boss") as boss:
        for tail in ("", "/inspect", "/events"):
            assert (await boss.get(f"/v1/runs/{run}{tail}")).status_code == 200
        await boss.get("/v1/runs")
    assert service.book.readers == []


async def test_nothing_is_shown_when_no_record_can_be_written(service: Running) -> None:
    run = (await service.start()).json()["runId"]
    service.book.change(run, output={"number": 7})
    service.book.up = False
    async with service.client("desk") as desk:
        refused = await desk.get(f"/v1/runs/{run}")
    assert (refused.status_code, refused.json()["code"]) == (503, "ledger.unavailable")
    assert "7" not in refused.json()["detail"]
