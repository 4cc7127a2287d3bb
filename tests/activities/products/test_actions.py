"""Immediate actions: what is frozen before the send, and what must still hold at the send."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from activities.products import NotPrepared
from examples.products.client import PretendProducts
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.conftest import Caller
from tests.activities.inputs import OUTCOME

_ACT = "breg.invoke-action/v1"
_OPEN = {"action": "open-case", "input": {"title": "Bakery", "caseId": "CASE-1"}}


async def _reply_of_preparing(caller: Caller, input: Any) -> Reply:
    with pytest.raises(NotPrepared) as caught:
        await caller.command(_ACT, input)
    return caught.value.sent.reply


async def test_preparation_freezes_the_conditions_of_the_records(caller: Caller) -> None:
    command = await caller.command(_ACT, OUTCOME)
    assert set(command.preparation) == {
        "action",
        "accessProfile",
        "revision",
        "fingerprint",
        "body",
    }
    assert command.preparation["body"] == {
        "input": OUTCOME["input"],
        "preconditions": {"application": {"ifMatch": '"1"'}},
    }


async def test_preparation_has_no_effect_and_no_key(
    caller: Caller, products: PretendProducts
) -> None:
    await caller.command(_ACT, OUTCOME)
    assert products.effects() == []
    assert {request.key for request in products.requests()} == {None}


async def test_an_action_without_conditions_asks_for_none(
    caller: Caller, products: PretendProducts
) -> None:
    command = await caller.command(_ACT, _OPEN)
    assert command.preparation["body"]["preconditions"] == {}
    assert products.received() == {"breg.read-metadata": 1}


async def test_an_action_changes_its_record_once(caller: Caller, products: PretendProducts) -> None:
    command = await caller.command(_ACT, OUTCOME)
    first, second = await caller.resend(command), await caller.resend(command)
    assert first.reply.output["results"]["application"]["revision"] == 2
    assert first.reply == second.reply
    assert first.receipt is None
    assert products.effects(_ACT)[0].applied == 1


@pytest.mark.parametrize("action", ["propose-correction", "absent"])
async def test_a_proposal_and_an_unknown_action_are_unavailable(
    caller: Caller, action: str
) -> None:
    reply = await _reply_of_preparing(caller, OUTCOME | {"action": action})
    assert reply == Reply(ReplyKind.REFUSED, code="action-unavailable")


@pytest.mark.parametrize(
    "input",
    [
        {},
        {"applicationId": "APP-1001", "outcome": "maybe"},
        {"applicationId": "APP-1001", "outcome": "approved", "more": 1},
        {"applicationId": 7, "outcome": "approved"},
        {"applicationId": "x" * 201, "outcome": "approved"},
    ],
)
async def test_inputs_are_held_to_the_declared_fields_before_conditions_are_asked(
    caller: Caller, products: PretendProducts, input: Any
) -> None:
    reply = await _reply_of_preparing(caller, OUTCOME | {"input": input})
    assert reply == Reply(ReplyKind.REFUSED, code="invalid-command")
    assert "breg.target-conditions" not in products.received()


async def test_a_record_that_changed_after_preparation_is_refused_and_not_overwritten(
    caller: Caller, products: PretendProducts
) -> None:
    command = await caller.command(_ACT, OUTCOME)
    products.put_record("applications", "APP-1001", {"status": "edited"})
    sent = await caller.resend(command)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="product-refused")
    assert products.effects() == []


async def test_a_registry_that_was_published_anew_mismatches(
    caller: Caller, products: PretendProducts
) -> None:
    command = await caller.command(_ACT, OUTCOME)
    products.publish_registry()
    sent = await caller.resend(command)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="prepared-command-mismatch")
    assert "breg.invoke-action" not in products.received()


async def test_an_input_that_is_not_the_prepared_one_mismatches(
    caller: Caller, products: PretendProducts
) -> None:
    command = await caller.command(_ACT, OUTCOME)
    other = {"applicationId": "APP-1002", "outcome": "approved"}
    sent = await caller.resend(replace(command, input=OUTCOME | {"input": other}))
    assert sent.reply == Reply(ReplyKind.REFUSED, code="prepared-command-mismatch")
    assert "breg.invoke-action" not in products.received()


@pytest.mark.parametrize("preparation", [None, {}, "text", {"body": {"input": {}}}])
async def test_a_command_without_its_preparation_is_not_sent(
    caller: Caller, products: PretendProducts, preparation: Any
) -> None:
    command = await caller.command(_ACT, OUTCOME)
    products.reset()
    sent = await caller.resend(replace(command, preparation=preparation))
    assert sent.reply == Reply(ReplyKind.REFUSED, code="invalid-command")
    assert products.requests() == []


async def test_another_profile_than_the_prepared_one_mismatches(caller: Caller) -> None:
    command = await caller.command(_ACT, OUTCOME)
    settings = caller.connections.connections["breg"]
    caller.connections.connections["breg"] = settings | {"profile": "writer"}
    sent = await caller.resend(command)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="prepared-command-mismatch")


async def test_a_connection_without_a_profile_serves_no_action(caller: Caller) -> None:
    del caller.connections.connections["breg"]["profile"]
    reply = await _reply_of_preparing(caller, OUTCOME)
    assert reply == Reply(ReplyKind.REFUSED, code="operation-unbound")


async def test_a_refusal_that_the_action_does_not_declare_is_not_a_declared_one(
    caller: Caller, products: PretendProducts
) -> None:
    command = await caller.command(_ACT, OUTCOME)
    products.fault(_ACT, "refuse", code="case-already-open")
    sent = await caller.resend(command)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="product-refused")


async def test_a_failed_preparation_is_classified_as_a_read(
    caller: Caller, products: PretendProducts
) -> None:
    products.fault("breg.target-conditions", "rate-limited", retryAfter=3)
    with pytest.raises(NotPrepared) as caught:
        await caller.command(_ACT, OUTCOME)
    assert caught.value.sent.reply == Reply(ReplyKind.RETRYABLE, code="rate-limited")
    assert caught.value.sent.retry_after == 3
