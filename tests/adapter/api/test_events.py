"""Events over HTTP: whose they are, what form they have, and what they are answered."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from adapter.api import Owner
from tests.adapter.api.conftest import MAIL_SECRET, REGISTRY_SECRET, WEBHOOK_SECRET, Running
from tests.adapter.api.test_signatures import signed

EVENT: dict[str, Any] = {
    "specversion": "1.0",
    "id": "e-1",
    "source": "urn:registry",
    "type": "application.submitted",
    "subject": "A-1",
    "time": "2026-01-02T03:04:05Z",
    "datacontenttype": "application/json; charset=utf-8",
    "traceparent": "00-ab-cd-01",
    "data": {"recordId": "A-1"},
}


async def post(
    service: Running,
    event: Any = EVENT,
    secret: str = REGISTRY_SECRET,
    path: str = "/v1/events/notice/submitted",
    **headers: str,
) -> httpx.Response:
    """Send a signed event."""
    body = event if isinstance(event, str) else json.dumps(event)
    async with httpx.AsyncClient(base_url=service.url) as client:
        return await client.post(path, content=body, headers=signed(body, secret) | headers)


async def test_an_event_admits_a_run_of_its_sender_once_and_starts_it(service: Running) -> None:
    first, again = await post(service), await post(service)
    assert (first.status_code, first.json()["created"]) == (202, True)
    assert again.json() == {"runId": first.json()["runId"], "created": False}
    assert set(service.book.owners.values()) == {Owner("event-source", "registry")}
    assert service.executions.asked == [("start", first.json()["runId"])] * 2


async def test_a_run_is_admitted_while_temporal_is_away(service: Running) -> None:
    service.executions.up = False
    assert (await post(service)).status_code == 202


async def test_the_media_type_of_cloud_events_is_json_too(service: Running) -> None:
    kind = "application/cloudevents+json; charset=utf-8"
    assert (await post(service, **{"content-type": kind})).status_code == 202
    assert (await post(service, **{"content-type": "text/plain"})).status_code == 415


@pytest.mark.parametrize("secret", [WEBHOOK_SECRET, "whsec_" + "AAAA" * 8])
async def test_an_event_that_no_sender_has_signed_is_refused(service: Running, secret: str) -> None:
    answer = await post(service, secret=secret)
    assert (answer.status_code, answer.json()["code"]) == (401, "event.signature-invalid")
    assert service.book.admitted == {}


async def test_a_sender_speaks_for_its_own_source_only(service: Running) -> None:
    answer = await post(service, secret=MAIL_SECRET, path="/v1/events/letters/submitted")
    assert (answer.status_code, answer.json()["code"]) == (403, "event.source-denied")


async def test_a_workflow_that_a_sender_may_not_start_is_absent(service: Running) -> None:
    answer = await post(service, EVENT | {"source": "urn:mail"}, MAIL_SECRET)
    assert (answer.status_code, answer.json()["code"]) == (404, "workflow.unknown")
    assert service.book.admitted == {}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"specversion": "0.3"}, "/specversion"),
        ({"id": ""}, "/id"),
        ({"id": 7}, "/id"),
        ({"source": "not a reference"}, "/source"),
        ({"type": None}, "/type"),
        ({"time": "yesterday"}, "/time"),
        ({"dataschema": "not absolute"}, "/dataschema"),
        ({"datacontenttype": "application/xml"}, "/datacontenttype"),
        ({"data_base64": "AAAA"}, "/data_base64"),
        ({"extension": {"deep": 1}}, "/"),
        ({"Upper": "case"}, "/"),
    ],
)
async def test_what_is_no_cloud_event_is_400(service: Running, change: Any, place: str) -> None:
    answer = await post(service, EVENT | change)
    assert (answer.status_code, answer.json()["code"]) == (400, "event.malformed")
    assert answer.json()["place"] == place


@pytest.mark.parametrize("missing", ["specversion", "id", "source", "type"])
async def test_the_required_attributes_are_required(service: Running, missing: str) -> None:
    event = {name: value for name, value in EVENT.items() if name != missing}
    assert (await post(service, event)).json()["code"] == "event.malformed"


async def test_a_null_attribute_is_an_absent_one(service: Running) -> None:
    absent = {"subject": None, "time": None, "datacontenttype": None, "data_base64": None}
    assert (await post(service, EVENT | absent)).status_code == 202


@pytest.mark.parametrize("body", ["[]", '"x"', "{", '{"id": 1, "id": 2}'])
async def test_a_body_that_is_no_object_is_400(service: Running, body: str) -> None:
    assert (await post(service, body)).status_code == 400


async def test_a_query_is_refused(service: Running) -> None:
    assert (await post(service, path="/v1/events/notice/submitted?a=1")).status_code == 400
