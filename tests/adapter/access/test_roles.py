"""Every resource of the OpenAPI document, asked for by every kind of caller."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import pytest

from adapter.config.callers import OPERATORS_ALONE
from tests.adapter.access.deployed import WORKFLOW, Deployed
from tests.adapter.access.tokens import Mint
from tests.adapter.api.test_openapi import document

ABSENT = str(UUID(int=7))
OPEN = {"live", "ready", "readProblem"}
SIGNED = {"noticeReviewCompletion", "admitEvent"}
_TOLD = {"recoveryReference": "ticket 7", "priorDeploymentFenced": True}
# How each operation that takes a body is asked for; one that is missing here fails every test.
BODIES: dict[str, Any] = {
    "retrySameRun": {"reason": "line is back"},
    "reconcileRun": {"reason": "line is back"},
    "cancelRun": {"reason": "not wanted"},
    "signalRun": {"reference": "R-1", "amount": 1},
    "restoreHold": {"reason": "restored"},
    "completeExecutionRecovery": {**_TOLD, "executionHistoryComplete": True},
    "releaseRestoreHold": {"reason": "reviewed"},
    "releaseAdmissionHold": {**_TOLD, "admissionHistoryComplete": True},
    "retain": {"before": "2020-01-01T00:00:00Z"},
    "decodePayloads": {"payloads": []},
    "encodePayloads": {"payloads": []},
}


@dataclass(frozen=True)
class Operation:
    """One operation of the document; ``action`` is empty where nobody is asked who calls."""

    id: str
    method: str
    path: str
    action: str

    @property
    def about_runs(self) -> bool:
        """Whether it is about one run."""
        return "{runId}" in self.path

    def address(self, run: str) -> str:
        """Its address for a run."""
        names = {"runId": run, "actId": ABSENT, "name": "paid", "code": "run.unknown"}
        names |= {"workflow": WORKFLOW, "trigger": "application-submitted"}
        return self.path.format(**names)


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    """Every operation."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            ways = operation.get("security", [])
            actions = {role for way in ways for roles in way.values() for role in roles}
            assert len(actions) <= 1
            yield Operation(operation["operationId"], method, path, "".join(actions))


async def ask(
    site: Deployed, operation: Operation, headers: dict[str, str], run: str = ABSENT
) -> httpx.Response:
    """One request, right in everything but perhaps in who asks."""
    body = site.start_body() if operation.id == "startRun" else BODIES.get(operation.id)
    sent = headers | {"Idempotency-Key": f"k-{time.monotonic_ns()}", "X-Namespace": "default"}
    assert operation.method == "get" or body is not None or operation.id in SIGNED, operation
    async with site.client(sent) as client:
        return await client.request(operation.method, operation.address(run), json=body)


STRANGERS: dict[str, Callable[[Deployed], dict[str, str]]] = {
    "nobody": lambda site: {},
    "no token": lambda site: {"Authorization": "Bearer x.y.z"},
    "a token of another mint": lambda site: {
        "Authorization": f"Bearer {Mint().token(now=time.time(), client_id='operator')}"
    },
    "an expired token": lambda site: site.token("operator", exp=int(time.time()) - 60),
    "a token for others": lambda site: site.token("operator", aud="https://other.example"),
    "a foreign client": lambda site: site.token("foreign"),
    "an unknown key": lambda site: site.key("nobody"),
    "an ended key": lambda site: site.key("ended"),
    "two credentials": lambda site: site.token("operator") | site.key("operator"),
    "basic": lambda site: {"Authorization": "Basic b3BlcmF0b3I6cGFzc3dvcmQ="},
}


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_a_stranger_is_401_everywhere(site: Deployed, stranger: str) -> None:
    run = await site.start(site.token("plain"), "k")
    for operation in operations(site.app.openapi()):
        if operation.id in OPEN:
            continue
        answer = await ask(site, operation, STRANGERS[stranger](site), run)
        code = "event.signature-invalid" if operation.id in SIGNED else "access.unauthenticated"
        assert (answer.status_code, answer.json()["code"]) == (401, code), operation
        assert "www-authenticate" in answer.headers


def test_only_these_resources_ask_nobody_who_calls() -> None:
    unasked = {one.id for one in operations(document()) if not one.action}
    assert unasked == OPEN | SIGNED


async def test_open_resources_answer_everybody(site: Deployed) -> None:
    for operation in operations(site.app.openapi()):
        if operation.id in OPEN:
            for headers in ({}, {"Authorization": "Bearer x"}, site.key("nobody")):
                assert (await ask(site, operation, headers)).status_code == 200, operation


async def test_operators_sign_no_events(site: Deployed) -> None:
    for operation in operations(site.app.openapi()):
        if operation.id in SIGNED:
            answer = await ask(site, operation, site.token("every-operator"))
            assert (answer.status_code, answer.json()["code"]) == (401, "event.signature-invalid")


@pytest.mark.parametrize("way", ["token", "key"])
async def test_without_its_action_every_resource_is_403(site: Deployed, way: str) -> None:
    run = await site.start(site.token("plain"), "k")
    for operation in operations(site.app.openapi()):
        if operation.action:
            name = f"without-{operation.action}"
            headers = site.token(name) if way == "token" else site.key(name)
            answer = await ask(site, operation, headers, run)
            assert (answer.status_code, answer.json()["code"]) == (403, "access.denied"), operation


async def test_a_token_without_its_scope_is_403_everywhere(site: Deployed) -> None:
    for operation in operations(site.app.openapi()):
        if operation.action:
            answer = await ask(site, operation, site.token("every-operator", scope="other"))
            assert (answer.status_code, answer.json()["code"]) == (403, "access.denied"), operation
            assert "insufficient_scope" in answer.headers["www-authenticate"]


@pytest.mark.parametrize("way", ["token", "key"])
async def test_what_is_for_operators_is_403_for_others(site: Deployed, way: str) -> None:
    headers = site.token("plain") if way == "token" else site.key("plain")
    for operation in operations(site.app.openapi()):
        if operation.action in OPERATORS_ALONE:
            answer = await ask(site, operation, headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "access.denied"), operation


HIDDEN: dict[str, Callable[[Deployed], dict[str, str]]] = {
    "another person": lambda site: site.token("plain", "bob"),
    "the same name of another issuer": lambda site: site.key("plain"),
    "the owner through a client of another workflow": lambda site: site.token("letters"),
    "an operator of another workflow": lambda site: site.token("letters-operator", "boss"),
    "an operator's key of another workflow": lambda site: site.key("letters-operator"),
}


@pytest.mark.parametrize("caller", HIDDEN)
async def test_a_hidden_run_answers_as_an_absent_one(site: Deployed, caller: str) -> None:
    run, headers = await site.start(site.token("plain"), "k"), HIDDEN[caller](site)
    asked = [one for one in operations(site.app.openapi()) if one.about_runs]
    assert len(asked) > 6
    for operation in asked:
        hidden = await ask(site, operation, headers, run)
        absent = await ask(site, operation, headers)
        assert hidden.status_code == absent.status_code == 404, operation
        assert hidden.content == absent.content
        assert _shown(hidden) == _shown(absent)
    assert (await site.ledger.reads.run_status(run, None)).cancel_requested_at is None


def _shown(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name != "date"}


SEEING: dict[str, Callable[[Deployed], dict[str, str]]] = {
    "the owner": lambda site: site.token("plain"),
    "an operator": lambda site: site.token("operator", "boss"),
    "an operator of everything": lambda site: site.token("every-operator", "boss"),
    "an operator's key": lambda site: site.key("operator"),
}


@pytest.mark.parametrize("caller", SEEING)
async def test_who_may_see_a_run_is_served_everywhere(site: Deployed, caller: str) -> None:
    run, headers = await site.start(site.token("plain"), "k"), SEEING[caller](site)
    for operation in operations(site.app.openapi()):
        if not operation.action or (caller == "the owner" and operation.action in OPERATORS_ALONE):
            continue
        answer = await ask(site, operation, headers, run)
        # An act may be refused as things stand, and the act that is asked for is not there.
        expected = (404,) if operation.id == "readAct" else (200, 202, 409)
        assert answer.status_code in expected, (operation, answer.text)


async def test_lists_hold_what_their_caller_may_see(site: Deployed) -> None:
    run = await site.start(site.token("plain"), "k")
    seen = {
        **{name: [run] for name in SEEING},
        **{name: [] for name in HIDDEN},
    }
    for name, runs in seen.items():
        async with site.client((SEEING | HIDDEN)[name](site)) as client:
            listed = (await client.get("/v1/runs")).json()["runs"]
            workflows = (await client.get("/v1/workflows")).json()["workflows"]
        assert [one["runId"] for one in listed] == runs, name
        hidden = "letters" in (SEEING | HIDDEN)[name](site).get("X-API-Key", name)
        assert bool(workflows) == (not hidden and "another workflow" not in name), name


async def test_a_hidden_workflow_starts_as_an_absent_one(site: Deployed) -> None:
    async with site.client({**site.token("letters"), "Idempotency-Key": "k"}) as client:
        hidden = await client.post("/v1/runs", json=site.start_body())
        absent = await client.post("/v1/runs", json=site.start_body() | {"workflow": "letters"})
    assert hidden.status_code == absent.status_code == 404
    assert hidden.content == absent.content


async def test_one_person_owns_runs_through_every_client(site: Deployed) -> None:
    run = await site.start(site.token("plain"), "k")
    again = await site.start(site.token("without-decode"), "k")
    assert run == again
