"""Every standard operation against the pretend products, over real sockets."""

from __future__ import annotations

from examples.products.client import PretendProducts
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.conftest import Caller
from tests.activities.inputs import APPOINTMENT, INPUTS, MESSAGE

_SUBMIT = "casework.submit-review-request/v1"
_READ_REVIEW = "casework.read-review-request/v1"
_WITHDRAW = "casework.withdraw-review-request/v1"


async def test_a_record_is_read_under_the_profile_of_the_connection(
    caller: Caller, products: PretendProducts
) -> None:
    sent = await caller.send("breg.read-record/v1", INPUTS["breg.read-record/v1"])
    assert sent.reply.kind is ReplyKind.ACCEPTED
    assert sent.reply.output["data"]["domainData"]["status"] == "submitted"
    assert products.requests("breg.read-record")[0].target.endswith("?accessProfile=reviewer")


async def test_an_absent_record_is_refused(caller: Caller) -> None:
    missing = {"collection": "applications", "recordId": "APP 9 ü?#"}
    sent = await caller.send("breg.read-record/v1", missing)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="product-not-found")


async def test_a_review_is_submitted_decided_and_read(
    caller: Caller, products: PretendProducts
) -> None:
    submitted = (await caller.send(_SUBMIT, INPUTS[_SUBMIT])).reply.output
    assert submitted["state"] == "pending"
    products.decide(submitted["reviewRequestId"], "approved", "fine")
    read = await caller.send(_READ_REVIEW, {"reviewRequestId": submitted["reviewRequestId"]})
    assert read.reply.output["result"]["decision"] == "approved"


async def test_a_withdrawal_that_comes_too_late_is_a_declared_refusal(
    caller: Caller, products: PretendProducts
) -> None:
    submitted = (await caller.send(_SUBMIT, INPUTS[_SUBMIT])).reply.output
    withdrawal = {"reviewRequestId": submitted["reviewRequestId"], "reason": "timeout"}
    products.decide(submitted["reviewRequestId"], "rejected")
    sent = await caller.send(_WITHDRAW, withdrawal, "key-2")
    assert sent.reply == Reply(ReplyKind.DECLARED_REFUSAL, code="review-already-completed")


async def test_a_pending_review_is_withdrawn(caller: Caller) -> None:
    submitted = (await caller.send(_SUBMIT, INPUTS[_SUBMIT])).reply.output
    withdrawal = {"reviewRequestId": submitted["reviewRequestId"], "reason": "timeout"}
    sent = await caller.send(_WITHDRAW, withdrawal, "key-2")
    assert (sent.reply.kind, sent.reply.output["state"]) == (ReplyKind.ACCEPTED, "withdrawn")


async def test_an_accepted_message_carries_its_receipt(caller: Caller) -> None:
    sent = await caller.send("messaging.submit-message/v1", MESSAGE)
    assert sent.reply.kind is ReplyKind.ACCEPTED
    assert sent.receipt == sent.reply.output
    assert sent.receipt["status"] == "accepted"


async def test_the_same_command_is_applied_once(caller: Caller, products: PretendProducts) -> None:
    command = await caller.command("messaging.submit-message/v1", MESSAGE)
    first, second = await caller.resend(command), await caller.resend(command)
    assert first.reply == second.reply
    (effect,) = products.effects("messaging.submit-message")
    assert (effect.key, effect.applied) == ("key-1", 1)


async def test_a_suppressed_recipient_is_a_declared_refusal(caller: Caller) -> None:
    message = MESSAGE | {"to": {"email": "ines.haddad@suppressed.example"}}
    sent = await caller.send("messaging.submit-message/v1", message)
    assert sent.reply == Reply(ReplyKind.DECLARED_REFUSAL, code="recipient-suppressed")


async def test_an_unknown_template_is_refused_as_not_found(caller: Caller) -> None:
    message = MESSAGE | {"template": {"id": "unknown-one", "version": "1"}}
    sent = await caller.send("messaging.submit-message/v1", message)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="product-not-found")


async def test_scheduling_is_read_and_an_appointment_made(caller: Caller) -> None:
    policy = await caller.send("scheduling.read-scheduling/v1", {})
    assert policy.reply.output["policyRevision"] == 3
    name = "scheduling.read-availability/v1"
    free = await caller.send(name, INPUTS[name])
    assert len(free.reply.output["items"]) == 5
    made = await caller.send("scheduling.create-appointment/v1", APPOINTMENT)
    assert (made.reply.kind, made.receipt) == (ReplyKind.ACCEPTED, made.reply.output)


async def test_a_duplicate_appointment_is_a_declared_refusal(caller: Caller) -> None:
    await caller.send("scheduling.create-appointment/v1", APPOINTMENT)
    sent = await caller.send("scheduling.create-appointment/v1", APPOINTMENT, "key-2")
    assert sent.reply == Reply(ReplyKind.DECLARED_REFUSAL, code="duplicate-appointment")


async def test_an_external_document_is_data_whatever_its_status(caller: Caller) -> None:
    offices = await caller.send("external.get/v1", {"path": "offices", "query": {"city": "Graz"}})
    assert [one["id"] for one in offices.reply.output["body"]["items"]] == ["planning"]
    gone = await caller.send("external.get/v1", {"path": "closed"})
    assert gone.reply.output == {"status": 410, "body": {"error": "gone"}}
    absent = await caller.send("external.get/v1", {"path": "absent"})
    assert absent.reply.output["status"] == 404


async def test_credentials_are_sent_with_every_request(
    caller: Caller, products: PretendProducts
) -> None:
    await caller.send("breg.invoke-action/v1", INPUTS["breg.invoke-action/v1"])
    assert all(request.authorised for request in products.requests())


async def test_a_wrong_credential_is_refused_as_forbidden(caller: Caller) -> None:
    caller.connections.bearer = "Bearer wrong"
    sent = await caller.send("messaging.submit-message/v1", MESSAGE)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="product-forbidden")
