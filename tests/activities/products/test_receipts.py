"""Reading the receipt of a command that may have been sent."""

from __future__ import annotations

import pytest

from activities.credentials import CredentialUnavailable
from activities.errors import ActivityError
from examples.products.client import PretendProducts
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.conftest import Caller
from tests.activities.inputs import INPUTS

_WITH_RECEIPT = ["messaging.submit-message/v1", "scheduling.create-appointment/v1"]
_RECEIPTS = {
    "messaging.submit-message/v1": "messaging.read-receipt",
    "scheduling.create-appointment/v1": "scheduling.read-receipt",
}


async def _receipt(caller: Caller, operation: str, key: str = "key-1") -> Reply:
    command = await caller.command(operation, INPUTS[operation])
    return await caller.products.read_receipt(command, caller.contract(operation), key)


@pytest.mark.parametrize("operation", _WITH_RECEIPT)
async def test_a_lost_answer_is_found_again_by_key_and_body(
    caller: Caller, products: PretendProducts, operation: str
) -> None:
    products.fault(operation, "lost-response")
    lost = await caller.send(operation, INPUTS[operation])
    assert lost.reply.kind is ReplyKind.UNKNOWN
    found = await _receipt(caller, operation)
    assert found.kind is ReplyKind.ACCEPTED
    assert products.effects(operation)[0].applied == 1


@pytest.mark.parametrize("operation", _WITH_RECEIPT)
async def test_nothing_on_record_is_unresolved(caller: Caller, operation: str) -> None:
    assert await _receipt(caller, operation) == Reply(ReplyKind.UNKNOWN, code="receipt-unresolved")


@pytest.mark.parametrize("operation", _WITH_RECEIPT)
async def test_an_expired_receipt_is_unresolved(
    caller: Caller, products: PretendProducts, operation: str
) -> None:
    await caller.send(operation, INPUTS[operation])
    products.expire_keys()
    assert await _receipt(caller, operation) == Reply(ReplyKind.UNKNOWN, code="receipt-unresolved")


@pytest.mark.parametrize(
    "fault",
    ["lost-response", "status-5xx", "malformed", "oversized", "missing-headers", "redirect"],
)
async def test_a_receipt_that_can_not_be_read_says_nothing(
    caller: Caller, products: PretendProducts, fault: str
) -> None:
    (operation, receipt), *_ = _RECEIPTS.items()
    await caller.send(operation, INPUTS[operation])
    products.fault(receipt, fault)
    unavailable = Reply(ReplyKind.UNKNOWN, code="observation-unavailable")
    assert await _receipt(caller, operation) == unavailable


async def test_a_receipt_without_a_credential_says_nothing(caller: Caller) -> None:
    caller.connections.fault = CredentialUnavailable("connection.credential", "no")
    unavailable = Reply(ReplyKind.UNKNOWN, code="observation-unavailable")
    assert await _receipt(caller, _WITH_RECEIPT[0]) == unavailable


async def test_an_operation_without_a_receipt_is_a_mistake_of_the_caller(caller: Caller) -> None:
    with pytest.raises(ActivityError) as caught:
        await _receipt(caller, "casework.submit-review-request/v1")
    assert caught.value.code == "receipt.not-declared"
