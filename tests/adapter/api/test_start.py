"""Tests of POST /v1/runs: one key, one run, and every wrong body named."""

from __future__ import annotations

import json

import pytest

from tests.adapter.api.conftest import REVISION, Running


async def test_a_start_answers_202_with_links_and_controls(service: Running) -> None:
    answer = await service.start()
    run = answer.json()
    assert answer.status_code == 202
    assert answer.headers["location"] == run["links"]["self"] == f"/v1/runs/{run['runId']}"
    assert [control["name"] for control in run["controls"]] == ["cancel"]
    assert service.executions.asked == [("start", run["runId"])]


async def test_the_same_key_and_body_give_the_same_run(service: Running) -> None:
    first, second = await service.start(), await service.start()
    assert first.json()["runId"] == second.json()["runId"]
    assert (first.json()["created"], second.json()["created"]) == (True, False)
    assert second.status_code == 202


async def test_the_same_key_with_another_body_is_a_conflict(service: Running) -> None:
    await service.start()
    answer = await service.start(input={"id": "b"})
    assert answer.status_code == 409
    assert answer.json()["code"] == "idempotency.key-reused"


async def test_a_key_belongs_to_its_caller(service: Running) -> None:
    mine, theirs = await service.start(), await service.start(caller="other")
    assert mine.json()["runId"] != theirs.json()["runId"]


async def test_another_revision_is_not_active(service: Running) -> None:
    answer = await service.start(revision="sha256:" + "b" * 64)
    assert (answer.status_code, answer.json()["code"]) == (409, "revision.not-active")


async def test_an_admission_is_answered_even_when_temporal_is_down(service: Running) -> None:
    service.executions.up = False
    answer = await service.start()
    assert answer.status_code == 202
    assert answer.json()["start"] == "start_pending"


async def test_a_ledger_that_is_down_is_503(service: Running) -> None:
    service.book.up = False
    answer = await service.start()
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_workflow_outside_the_policy_is_absent(service: Running) -> None:
    answer = await service.start(caller="narrow")
    assert (answer.status_code, answer.json()["code"]) == (404, "workflow.unknown")


@pytest.mark.parametrize("key", ["", "x" * 257, "tab\there", "caf\u00e9"])
async def test_a_malformed_key_is_refused(service: Running, key: str) -> None:
    async with service.client() as client:
        body = {"workflow": "notice", "revision": REVISION, "input": {}}
        headers = [(b"Idempotency-Key", key.encode())]
        answer = await client.post("/v1/runs", json=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency.key-invalid")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"", ""),
        (b"{", ""),
        (b"[]", ""),
        (b"\xff{}", ""),
        (b'{"a": 1, "a": 2}', ""),
        (b'{"a": NaN}', ""),
        (b'{"a": "\\ud800"}', ""),
        (b"[" * 20_000, ""),
        (b'{"workflow": "n", "input": ' + b"[" * 257 + b"]" * 257 + b"}", ""),
        (b'{"a": 1} x', ""),
        (b'{"revision": "sha256:1", "input": {}}', "/workflow"),
        (json.dumps({"workflow": "n", "revision": "latest", "input": 1}).encode(), "/revision"),
        (json.dumps({"workflow": "n", "revision": REVISION}).encode(), "/input"),
        (
            json.dumps({"workflow": "n", "revision": REVISION, "input": 1, "x": 1}).encode(),
            "",
        ),
    ],
)
async def test_a_malformed_body_is_named_by_its_place(
    service: Running, body: bytes, place: str
) -> None:
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    async with service.client() as client:
        answer = await client.post("/v1/runs", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "request.invalid")
    assert answer.json()["place"] == place
    assert not service.book.admitted


async def test_a_number_without_an_exact_form_is_refused(service: Running) -> None:
    answer = await service.start(input={"n": 2**53 + 1})
    assert (answer.status_code, answer.json()["code"]) == (422, "input.invalid")
    assert answer.json()["place"] == "/input"


async def test_another_content_type_is_415(service: Running) -> None:
    headers = {"Idempotency-Key": "k", "Content-Type": "text/plain"}
    async with service.client() as client:
        answer = await client.post("/v1/runs", content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "request.content-type")


async def test_too_large_is_said_before_who_are_you(service: Running) -> None:
    async with service.client("stranger") as client:
        answer = await client.post("/v1/runs", content=b"x" * 65_537)
    assert (answer.status_code, answer.json()["code"]) == (413, "request.too-large")


async def test_a_stream_without_a_length_is_cut_off_too(service: Running) -> None:
    async def stream() -> object:
        for _ in range(20):
            yield b"x" * 8_192

    async with service.client() as client:
        answer = await client.post("/v1/runs", content=stream())  # type: ignore[arg-type]
    assert answer.status_code == 413
