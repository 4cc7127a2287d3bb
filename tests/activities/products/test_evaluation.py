"""Evaluations over HTTP in both protocols: prepared bytes, results, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from activities.products import NotPrepared
from examples.products.client import PretendProducts
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.conftest import Caller, caller_of
from tests.activities.connections import FixedConnections
from tests.activities.inputs import QUESTIONS
from tests.activities.wire import reply, wire_server

_EVALUATE = "evaluation.evaluate/v1"


def _speak(caller: Caller, protocol: str) -> None:
    settings = caller.connections.connections["evaluation"]
    caller.connections.connections["evaluation"] = settings | {"protocol": protocol}


async def test_system_one_is_prepared_as_canonical_text(caller: Caller) -> None:
    text = (await caller.command(_EVALUATE, QUESTIONS)).preparation
    body = json.loads(text)
    assert body["model"] == "small"
    assert body["state"] == QUESTIONS["state"]
    assert body["questions"]["harmless"] == {"type": "noul", "instructions": "Is it harmless?"}
    assert text == json.dumps(body, separators=(",", ":"), sort_keys=True)


async def test_openai_decisions_is_prepared_as_a_sorted_list(caller: Caller) -> None:
    _speak(caller, "openai-decisions")
    body = json.loads((await caller.command(_EVALUATE, QUESTIONS)).preparation)
    assert body["input"] == '{"purpose":"bakery"}'
    assert [one["name"] for one in body["questions"]] == ["effort", "harmless", "kind"]
    assert body["questions"][0]["levels"][0] == {"label": "little"}
    assert body["questions"][2]["choices"][0] == {
        "value": "market",
        "description": "many sell things",
    }


@pytest.mark.parametrize("protocol", ["system-one", "openai-decisions"])
async def test_an_evaluation_is_answered_in_one_shape(
    caller: Caller, products: PretendProducts, protocol: str
) -> None:
    _speak(caller, protocol)
    products.script_evaluation({"harmless": {"probability": 0.9}, "kind": {"choice": "shop"}})
    output = (await caller.send(_EVALUATE, QUESTIONS, None)).reply.output
    assert (output["protocol"], output["requestedModel"]) == (protocol, "small")
    assert output["answers"]["harmless"] == {"type": "predicate", "probability": 0.9}
    assert output["answers"]["kind"]["choice"] == "shop"
    assert output["answers"]["effort"]["legend"] == {"0": "little", "1": "some", "2": "much"}


async def test_a_refusal_to_answer_is_an_answer_of_openai_decisions(
    caller: Caller, products: PretendProducts
) -> None:
    _speak(caller, "openai-decisions")
    products.script_evaluation({"harmless": {"refusal": True}})
    output = (await caller.send(_EVALUATE, QUESTIONS, None)).reply.output
    assert output["answers"]["harmless"] == {"type": "refusal"}


async def test_no_key_is_sent(caller: Caller, products: PretendProducts) -> None:
    await caller.send(_EVALUATE, QUESTIONS, "key-1")
    assert [request.key for request in products.requests()] == [None]


async def test_an_answer_that_breaks_the_mathematics_is_unknown(
    caller: Caller, products: PretendProducts
) -> None:
    products.script_evaluation({"harmless": {"raw": {"type": "noul", "noul": 1.5}}})
    sent = await caller.send(_EVALUATE, QUESTIONS, None)
    assert sent.reply == Reply(ReplyKind.UNKNOWN, code="decision-invalid-response")
    assert sent.place == "response /answers/harmless"


@pytest.mark.parametrize(
    "change", [{"preparation": None}, {"preparation": "{}"}, {"input": QUESTIONS | {"state": "x"}}]
)
async def test_changed_bytes_are_not_sent(
    caller: Caller, products: PretendProducts, change: dict[str, Any]
) -> None:
    command = await caller.command(_EVALUATE, QUESTIONS)
    sent = await caller.resend(replace(command, **change))
    assert sent.reply == Reply(ReplyKind.REFUSED, code="decision-invalid-command")
    assert products.requests() == []


async def test_a_request_over_the_connections_limit_is_refused(caller: Caller) -> None:
    caller.connections.connections["evaluation"]["maximumRequestBytes"] = 100
    with pytest.raises(NotPrepared) as caught:
        await caller.command(_EVALUATE, QUESTIONS)
    assert caught.value.sent.reply.code == "decision-invalid-command"


async def test_a_connection_without_a_protocol_is_unbound(caller: Caller) -> None:
    del caller.connections.connections["evaluation"]["protocol"]
    with pytest.raises(NotPrepared) as caught:
        await caller.command(_EVALUATE, QUESTIONS)
    assert caught.value.sent.reply.code == "operation-unbound"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 415, 422])
async def test_statuses_that_prove_a_refusal_refuse(status: int) -> None:
    sent = await _answered(status, b"no", "text/plain")
    assert sent == Reply(ReplyKind.REFUSED, code="decision-refused")


@pytest.mark.parametrize("status", [302, 402, 409, 429, 500, 503])
async def test_other_statuses_prove_nothing(status: int) -> None:
    sent = await _answered(status, b"no", "text/plain")
    assert sent == Reply(ReplyKind.UNKNOWN, code="decision-uncertain")


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/json; charset=latin-1", "application/json; x=1"]
)
async def test_another_content_type_is_an_invalid_response(content_type: str) -> None:
    sent = await _answered(200, b"{}", content_type)
    assert sent == Reply(ReplyKind.UNKNOWN, code="decision-invalid-response")


async def test_a_service_that_is_not_there_was_not_asked() -> None:
    caller = _caller("http://127.0.0.1:1")
    sent = await caller.send(_EVALUATE, QUESTIONS, None)
    assert sent.reply == Reply(ReplyKind.RETRYABLE, code="decision-unavailable")


async def _answered(status: int, body: bytes, content_type: str) -> Reply:
    async with wire_server(reply(status, body, content_type)) as wire:
        caller = _caller(wire.url)
        sent = await caller.send(_EVALUATE, QUESTIONS, None)
        await caller.products.aclose()
    return sent.reply


def _caller(url: str) -> Caller:
    settings = {"baseUrl": url, "protocol": "system-one", "model": "small"}
    return caller_of(FixedConnections({"evaluation": settings}))
