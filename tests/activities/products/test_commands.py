"""What stops a command before a byte is sent, and what that is called."""

from __future__ import annotations

import time
from typing import Any

import pytest

from activities.credentials import CredentialRefused, CredentialUnavailable
from activities.errors import ConnectionFault
from activities.ports import Command
from examples.products.client import PretendProducts
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.conftest import Caller
from tests.activities.inputs import APPOINTMENT, INPUTS, MESSAGE, QUESTIONS

_READ = "breg.read-record/v1"
_SEND = "messaging.submit-message/v1"
_INVALID = Reply(ReplyKind.REFUSED, code="invalid-command")
_UNBOUND = Reply(ReplyKind.REFUSED, code="operation-unbound")

_WRONG_INPUTS: list[tuple[str, Any]] = [
    (_READ, {}),
    (_READ, {"collection": "applications", "recordId": "A", "profile": "x"}),
    (_READ, {"collection": "..", "recordId": "A"}),
    (_READ, {"collection": "applications", "recordId": ".."}),
    (_READ, {"collection": "applications", "recordId": "\ud800"}),
    ("casework.submit-review-request/v1", {"subject": {}}),
    ("casework.withdraw-review-request/v1", {"reviewRequestId": "r"}),
    (_SEND, MESSAGE | {"to": {}}),
    (_SEND, MESSAGE | {"to": {"email": "a@b.example", "phone": "+431"}}),
    (_SEND, MESSAGE | {"to": {"phone": "0043"}}),
    (_SEND, MESSAGE | {"content": {"text": "x"}}),
    (_SEND, {"senderProfile": "s", "to": {"email": "a@b.example"}}),
    (_SEND, MESSAGE | {"notBefore": "tomorrow"}),
    (_SEND, MESSAGE | {"data": {"large": 2**60}}),
    (_SEND, MESSAGE | {"data": {"large": "x" * 70_000}}),
    (_SEND, MESSAGE | {"channel": "email"}),
    ("scheduling.create-appointment/v1", {}),
    ("scheduling.create-appointment/v1", {"appointment": {"hold": {}, "admission": {}}}),
    ("scheduling.read-availability/v1", INPUTS["scheduling.read-availability/v1"] | {"limit": 101}),
    (_READ, ["not an object"]),
]


@pytest.mark.parametrize(("operation", "input"), _WRONG_INPUTS)
async def test_an_input_outside_the_request_schema_is_never_sent(
    caller: Caller, products: PretendProducts, operation: str, input: Any
) -> None:
    sent = await caller.send(operation, input)
    assert sent.reply == _INVALID
    assert sent.place.startswith("request")
    assert products.requests() == []


@pytest.mark.parametrize(
    "input",
    [
        QUESTIONS | {"state": 7},
        QUESTIONS | {"questions": {}},
        QUESTIONS | {"questions": {"Q": {"type": "predicate", "instructions": "?"}}},
        QUESTIONS | {"questions": {"q": {"type": "predicate", "instructions": " "}}},
        QUESTIONS | {"questions": {"q": {"type": "score", "instructions": "?", "criteria": ["a"]}}},
    ],
)
async def test_an_unfit_question_has_the_code_of_evaluations(caller: Caller, input: Any) -> None:
    sent = await caller.resend(Command("evaluation", "evaluation.evaluate/v1", input, "{}"))
    assert sent.reply == Reply(ReplyKind.REFUSED, code="decision-invalid-command")


@pytest.mark.parametrize(
    "input",
    [
        {"path": "elsewhere"},
        {"path": "offices/../closed"},
        {"path": "offices", "query": {"name": "x"}},
        {"path": "offices", "query": {"city": 7}},
        {"path": "offices", "query": {"city": "a\nb"}},
        {"path": "offices", "method": "POST"},
    ],
)
async def test_an_external_read_stays_within_its_lists(
    caller: Caller, products: PretendProducts, input: Any
) -> None:
    sent = await caller.send("external.get/v1", input)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="external-invalid-command")
    assert products.requests() == []


@pytest.mark.parametrize("key", [None, "", "x" * 129, "a b", "ä", "a\r\nb"])
async def test_a_mutation_needs_a_visible_key(
    caller: Caller, products: PretendProducts, key: str | None
) -> None:
    assert (await caller.send(_SEND, MESSAGE, key)).reply == _INVALID
    assert products.requests() == []


async def test_a_grant_that_nothing_would_enforce_is_refused(
    caller: Caller, products: PretendProducts
) -> None:
    grant = {"id": "3f0e1c1e-6f3e-4f6e-9c57-1f1a4a6cf001", "expiresAt": 1}
    sent = await caller.send("scheduling.create-appointment/v1", APPOINTMENT | {"grant": grant})
    assert (sent.reply, sent.place) == (_INVALID, "request /grant")
    assert products.requests() == []


async def test_an_unknown_connection_is_unbound(caller: Caller) -> None:
    sent = await caller.resend(Command("elsewhere", _READ, INPUTS[_READ]))
    assert sent.reply == _UNBOUND


async def test_a_connection_of_another_product_is_unbound(caller: Caller) -> None:
    sent = await caller.resend(Command("casework", _READ, INPUTS[_READ]))
    assert sent.reply == _UNBOUND


async def test_an_operation_that_left_the_catalogue_is_unbound(caller: Caller) -> None:
    contract = caller.contract(_READ).model_copy(update={"id": "crm.read/v1"})
    command = Command("breg", "crm.read/v1", INPUTS[_READ])
    sent = await caller.products.send(command, contract, None, time.monotonic() + 1)
    assert sent.reply == _UNBOUND


@pytest.mark.parametrize("settings", [{}, {"baseUrl": 7}, {"baseUrl": "ftp://x"}])
async def test_settings_that_serve_no_call_are_unbound(caller: Caller, settings: Any) -> None:
    caller.connections.connections["breg"] = settings
    assert (await caller.send(_READ, INPUTS[_READ])).reply == _UNBOUND


async def test_a_metadata_address_is_refused_before_any_credential(caller: Caller) -> None:
    caller.connections.connections["external"] |= {"baseUrl": "https://169.254.169.254"}
    sent = await caller.send("external.get/v1", {"path": "offices"})
    assert sent.reply == Reply(ReplyKind.REFUSED, code="external-destination-refused")
    assert caller.connections.asked == 0


@pytest.mark.parametrize(
    ("fault", "reply"),
    [
        (
            CredentialUnavailable("connection.credential", "later"),
            Reply(ReplyKind.RETRYABLE, code="credential-unavailable"),
        ),
        (
            ConnectionFault("connection.credential", "later"),
            Reply(ReplyKind.RETRYABLE, code="credential-unavailable"),
        ),
        (
            CredentialRefused("connection.credential", "never"),
            Reply(ReplyKind.REFUSED, code="credential-refused"),
        ),
    ],
)
async def test_a_credential_that_can_not_be_had_sends_nothing(
    caller: Caller, products: PretendProducts, fault: Exception, reply: Reply
) -> None:
    caller.connections.fault = fault
    assert (await caller.send(_SEND, MESSAGE)).reply == reply
    assert products.requests() == []


@pytest.mark.parametrize("bearer", ["Bearer a\r\nx: y", "Bearer ä", "", " Bearer x"])
async def test_a_credential_that_no_header_can_carry_sends_nothing(
    caller: Caller, products: PretendProducts, bearer: str
) -> None:
    caller.connections.bearer = bearer
    sent = await caller.send(_SEND, MESSAGE)
    assert sent.reply == Reply(ReplyKind.RETRYABLE, code="credential-unavailable")
    assert products.requests() == []


async def test_a_credential_that_takes_too_long_sends_nothing(
    caller: Caller, products: PretendProducts
) -> None:
    caller.connections.delay = 5
    sent = await caller.send(_SEND, MESSAGE, seconds=0.1)
    assert sent.reply == Reply(ReplyKind.RETRYABLE, code="credential-unavailable")
    assert products.requests() == []


async def test_nothing_is_sent_after_the_send_budget(
    caller: Caller, products: PretendProducts
) -> None:
    sent = await caller.send(_SEND, MESSAGE, seconds=-0.001)
    assert sent.reply == Reply(ReplyKind.RETRYABLE, code="attempt-timeout")
    assert products.requests() == []


async def test_each_attempt_fetches_its_credential_once(caller: Caller) -> None:
    command = await caller.command("breg.invoke-action/v1", INPUTS["breg.invoke-action/v1"])
    before = caller.connections.asked
    await caller.resend(command)
    await caller.resend(command)
    assert caller.connections.asked == before + 2


async def test_a_changed_address_takes_effect_at_the_next_call(
    caller: Caller, products: PretendProducts
) -> None:
    assert (await caller.send(_READ, INPUTS[_READ])).reply.kind is ReplyKind.ACCEPTED
    settings = caller.connections.connections["breg"]
    caller.connections.connections["breg"] = settings | {"profile": "forbidden"}
    refused = await caller.send(_READ, INPUTS[_READ])
    assert refused.reply == Reply(ReplyKind.REFUSED, code="product-forbidden")


async def test_a_fresh_contract_of_the_same_id_is_compiled_anew(caller: Caller) -> None:
    strict = caller.contract(_READ).model_copy(update={"response": {"required": ["absent"]}})
    command = Command("breg", _READ, INPUTS[_READ])
    sent = await caller.products.send(command, strict, None, time.monotonic() + 2)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="invalid-response")
    assert (await caller.send(_READ, INPUTS[_READ])).reply.kind is ReplyKind.ACCEPTED
