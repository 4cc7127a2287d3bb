"""What products do wrong, and how it is classified: by effect class, never by hope."""

from __future__ import annotations

import pytest

from examples.products.client import PretendProducts
from interpreter.contract.effects import ReplyKind
from tests.activities.conftest import Caller
from tests.activities.inputs import INPUTS

_READ = "breg.read-record/v1"
_SCHEDULE = "scheduling.read-scheduling/v1"
_SEND = "messaging.submit-message/v1"
_BOOK = "scheduling.create-appointment/v1"
_ACT = "breg.invoke-action/v1"
_REVIEW = "casework.submit-review-request/v1"
_EVALUATE = "evaluation.evaluate/v1"
_EXTERNAL = "external.get/v1"

_RETRYABLE, _REFUSED, _UNKNOWN = ReplyKind.RETRYABLE, ReplyKind.REFUSED, ReplyKind.UNKNOWN
_DECLARED, _EXPIRED = ReplyKind.DECLARED_REFUSAL, ReplyKind.RECEIPT_EXPIRED

_CASES = [
    (_READ, "lost-response", _RETRYABLE, "transport-unavailable"),
    (_READ, "drop-before", _RETRYABLE, "transport-unavailable"),
    (_READ, "status-5xx", _RETRYABLE, "transport-unavailable"),
    (_READ, "rate-limited", _RETRYABLE, "rate-limited"),
    (_READ, "refuse", _REFUSED, "product-refused"),
    (_READ, "malformed", _REFUSED, "invalid-response"),
    (_READ, "oversized", _REFUSED, "invalid-response"),
    (_READ, "redirect", _REFUSED, "invalid-response"),
    (_READ, "missing-headers", _REFUSED, "invalid-response"),
    (_SCHEDULE, "malformed", _REFUSED, "invalid-response"),
    (_SCHEDULE, "missing-headers", _REFUSED, "invalid-response"),
    *(
        (operation, fault, kind, code)
        for operation in (_SEND, _BOOK, _ACT, _REVIEW)
        for fault, kind, code in (
            ("lost-response", _UNKNOWN, "transport-uncertain"),
            ("drop-before", _UNKNOWN, "transport-uncertain"),
            ("status-5xx", _UNKNOWN, "transport-uncertain"),
            ("rate-limited", _RETRYABLE, "rate-limited"),
            ("expired-receipt", _EXPIRED, "receipt-expired"),
            ("malformed", _UNKNOWN, "transport-uncertain"),
            ("oversized", _UNKNOWN, "transport-uncertain"),
            ("redirect", _UNKNOWN, "transport-uncertain"),
            ("missing-headers", _UNKNOWN, "transport-uncertain"),
        )
    ),
    (_SEND, "refuse", _DECLARED, "recipient-suppressed"),
    (_BOOK, "refuse", _DECLARED, "slot-unavailable"),
    (_ACT, "refuse", _DECLARED, "application-already-decided"),
    (_REVIEW, "refuse", _DECLARED, "review-template-unknown"),
    (_EVALUATE, "lost-response", _UNKNOWN, "decision-uncertain"),
    (_EVALUATE, "drop-before", _UNKNOWN, "decision-uncertain"),
    (_EVALUATE, "status-5xx", _UNKNOWN, "decision-uncertain"),
    (_EVALUATE, "rate-limited", _UNKNOWN, "decision-uncertain"),
    (_EVALUATE, "redirect", _UNKNOWN, "decision-uncertain"),
    (_EVALUATE, "malformed", _UNKNOWN, "decision-invalid-response"),
    (_EVALUATE, "oversized", _UNKNOWN, "decision-invalid-response"),
    (_EXTERNAL, "lost-response", _RETRYABLE, "external-unavailable"),
    (_EXTERNAL, "redirect", _REFUSED, "external-redirect"),
    (_EXTERNAL, "malformed", _REFUSED, "external-invalid-response"),
    (_EXTERNAL, "oversized", _REFUSED, "external-invalid-response"),
]


@pytest.mark.parametrize(("operation", "fault", "kind", "code"), _CASES)
async def test_a_fault_is_classified_by_what_it_proves(
    caller: Caller,
    products: PretendProducts,
    operation: str,
    fault: str,
    kind: ReplyKind,
    code: str,
) -> None:
    command = await caller.command(operation, INPUTS[operation])
    products.fault(operation, fault)
    sent = await caller.resend(command)
    assert (sent.reply.kind, sent.reply.code) == (kind, code)
    assert sent.receipt is None


@pytest.mark.parametrize("operation", [_READ, _SEND])
async def test_the_products_own_delay_is_handed_on(
    caller: Caller, products: PretendProducts, operation: str
) -> None:
    products.fault(operation, "rate-limited", retryAfter=7)
    assert (await caller.send(operation, INPUTS[operation])).retry_after == 7


async def test_a_busy_read_hands_on_the_delay_of_a_503(
    caller: Caller, products: PretendProducts
) -> None:
    products.fault(_READ, "status-5xx")
    sent = await caller.send(_READ, INPUTS[_READ])
    assert sent.retry_after is None


async def test_an_effect_that_answers_too_late_is_unknown(
    caller: Caller, products: PretendProducts
) -> None:
    products.fault(_SEND, "slow", seconds=1, apply=True)
    sent = await caller.send(_SEND, INPUTS[_SEND], seconds=0.3)
    assert (sent.reply.kind, sent.reply.code) == (_UNKNOWN, "transport-uncertain")
    assert products.effects(_SEND)[0].applied == 1


async def test_an_action_whose_description_fails_was_not_sent(
    caller: Caller, products: PretendProducts
) -> None:
    command = await caller.command(_ACT, INPUTS[_ACT])
    products.fault("breg.read-metadata", "lost-response")
    sent = await caller.resend(command)
    assert (sent.reply.kind, sent.reply.code) == (_RETRYABLE, "transport-unavailable")
    assert products.effects(_ACT) == []


async def test_a_known_rollback_of_an_action_is_a_refusal(
    caller: Caller, products: PretendProducts
) -> None:
    command = await caller.command(_ACT, INPUTS[_ACT])
    products.fault(_ACT, "status-5xx", status=500, code="handler-failed")
    sent = await caller.resend(command)
    assert (sent.reply.kind, sent.reply.code) == (_REFUSED, "product-refused")


async def test_a_product_that_fails_again_and_again_is_no_longer_called_locally(
    caller: Caller, products: PretendProducts
) -> None:
    products.fault(_READ, "status-5xx", count=3)
    for _ in range(3):
        assert caller.products.allows_local("breg")
        await caller.send(_READ, INPUTS[_READ])
    assert not caller.products.allows_local("breg")
    assert caller.products.allows_local("casework")
    await caller.send(_READ, INPUTS[_READ])
    assert caller.products.allows_local("breg")
