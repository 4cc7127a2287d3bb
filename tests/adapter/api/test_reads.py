"""Tests of the reads, of who may see what, and of the open resources."""

from __future__ import annotations

from uuid import UUID

import httpx
import pytest

from tests.adapter.api.conftest import REVISION, Running


async def get(service: Running, path: str, caller: str = "desk") -> httpx.Response:
    """GET as a caller."""
    async with service.client(caller) as client:
        return await client.get(path)


async def test_no_key_a_wrong_key_and_two_keys_are_401(service: Running) -> None:
    async with httpx.AsyncClient(base_url=service.url) as client:
        for headers in ([], [("X-API-Key", "no")], [("X-API-Key", "key-of-desk")] * 2):
            answer = await client.get("/v1/runs", headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "access.unauthenticated")


async def test_an_action_outside_the_policy_is_403(service: Running) -> None:
    answer = await service.start(caller="clerk")
    assert (answer.status_code, answer.json()["code"]) == (403, "access.denied")


async def test_a_hidden_run_can_not_be_told_from_an_absent_one(service: Running) -> None:
    run = (await service.start()).json()["runId"]
    for tail in ("", "/inspect", "/events"):
        hidden = await get(service, f"/v1/runs/{run}{tail}", "other")
        absent = await get(service, f"/v1/runs/{UUID(int=7)}{tail}", "other")
        assert hidden.status_code == absent.status_code == 404
        assert hidden.content == absent.content


async def test_an_operator_sees_runs_of_everybody(service: Running) -> None:
    run = (await service.start()).json()["runId"]
    assert (await get(service, f"/v1/runs/{run}", "boss")).status_code == 200


async def test_a_malformed_run_id_is_400(service: Running) -> None:
    answer = await get(service, "/v1/runs/a%20b")
    assert (answer.status_code, answer.json()["place"]) == (400, "path/runId")


async def test_the_list_holds_own_runs_and_says_when_there_are_more(service: Running) -> None:
    for key in ("k1", "k2", "k3"):
        await service.start(key)
    await service.start(caller="other")
    page = (await get(service, "/v1/runs?limit=2")).json()
    assert (len(page["runs"]), page["next"]) == (2, "more")
    assert len((await get(service, "/v1/runs")).json()["runs"]) == 3


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "state=odd", "colour=red", "limit=1&limit=2"]
)
async def test_a_wrong_query_is_400(service: Running, query: str) -> None:
    answer = await get(service, f"/v1/runs?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "request.invalid")


async def test_active_workflows_are_listed_with_the_revision_to_expect(service: Running) -> None:
    [workflow] = (await get(service, "/v1/workflows")).json()["workflows"]
    assert workflow["revision"] == REVISION
    assert (await get(service, "/v1/workflows", "narrow")).json() == {"workflows": []}


async def test_inspection_shows_steps_effects_waits_and_signals(service: Running) -> None:
    run = (await service.start()).json()["runId"]
    shown = (await get(service, f"/v1/runs/{run}/inspect")).json()
    assert shown["effects"][0]["operation"] == "breg.read-record/v1"
    assert shown["waits"][0]["observations"] == 3
    [signal] = shown["signals"]
    assert (signal["name"], signal["outcome"], signal["wait"]) == ("paid", "kept", None)


async def test_events_go_on_where_the_last_page_ended(service: Running) -> None:
    run = (await service.start()).json()["runId"]
    first = (await get(service, f"/v1/runs/{run}/events?limit=2")).json()
    then = (await get(service, f"/v1/runs/{run}/events?after={first['next']}")).json()
    assert [event["sequence"] for event in first["events"] + then["events"]] == [1, 2, 3]


async def test_health_and_readiness_are_open(service: Running) -> None:
    service.executions.up = False
    async with httpx.AsyncClient(base_url=service.url) as client:
        assert (await client.get("/health")).json() == {"live": True}
        ready = await client.get("/ready")
        assert ready.json() == {"ready": True, "ledger": True, "temporal": False}
        service.book.up = False
        assert (await client.get("/ready")).status_code == 503


async def test_every_answer_forbids_storing_and_framing(service: Running) -> None:
    for path in ("/health", "/nowhere", "/v1/runs"):
        answer = await get(service, path)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_unknown_addresses_and_methods_are_problems_too(service: Running) -> None:
    async with service.client() as client:
        absent, method = await client.get("/v2"), await client.delete("/v1/runs")
    assert (absent.status_code, absent.json()["code"]) == (404, "route.absent")
    assert (method.status_code, method.json()["code"]) == (405, "route.method")
    assert method.json()["remedy"]


async def test_a_problem_type_leads_to_a_page_about_it(service: Running) -> None:
    problem = (await get(service, f"/v1/runs/{UUID(int=7)}")).json()
    assert problem["type"] == "/problems/run.unknown"
    assert (await get(service, problem["type"])).json()["title"] == problem["title"]
    assert (await get(service, "/problems/none")).json()["place"] == "path/code"


async def test_the_openapi_document_says_what_the_service_does(service: Running) -> None:
    document = (await get(service, "/openapi.json")).json()
    start = document["paths"]["/v1/runs"]["post"]
    assert {"202", "400", "401", "403", "409", "422"} <= set(start["responses"])
    assert "Idempotency-Key" in [parameter["name"] for parameter in start["parameters"]]
    assert start["requestBody"]["content"]["application/json"]["schema"]["required"] == [
        "workflow",
        "revision",
        "input",
    ]
    assert "422" not in document["paths"]["/v1/runs"]["get"]["responses"]
    assert "HTTPValidationError" not in document["components"]["schemas"]


async def test_a_fault_of_the_service_is_a_problem_that_quotes_nothing(
    service: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr(service.book, "runs", fail)
    async with service.client() as client:
        first, second = await client.get("/v1/runs"), await client.get("/health")
    assert (first.status_code, first.json()["code"]) == (500, "internal.unexpected")
    assert second.status_code == 200
    said = capsys.readouterr()
    assert "hunter2" not in first.text + said.out + said.err


@pytest.mark.parametrize("path", ["/v1/runs?workflow=%00", "/v1/runs/%00", "/problems/%00"])
async def test_control_characters_are_refused_before_the_ledger(
    service: Running, path: str
) -> None:
    assert (await get(service, path)).status_code in (400, 404)
