"""Simulated products speak the HTTP of their contracts, as the calls of workers judge it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from adapter.simulation.store import Standing
from interpreter.contract.effects import ReplyKind
from tests.activities.inputs import APPOINTMENT
from tests.adapter.simulation.conftest import EXAMPLE, ROOT, Simulated, simulate

READ = {"collection": "applications", "recordId": "A-1"}
REVIEW = {"title": "May this applicant be notified?", "subject": {"recordId": "A-1"}}
MESSAGE = {"senderProfile": "notices", "to": {"email": "a@example.org"}, "content": {"text": "x"}}

PUBLIC = ROOT / "tests" / "adapter" / "authoring" / "public"


def _withdrawal(review: Any, reason: str = "No decision in time.") -> dict[str, Any]:
    return {"reviewRequestId": review, "reason": reason}


async def _review(example: Simulated, key: str = "review") -> str:
    sent = await example.send("request-review", REVIEW, key)
    assert sent.reply.kind is ReplyKind.ACCEPTED
    return str(sent.reply.output["reviewRequestId"])


async def test_a_read_is_answered_alike_every_time_and_echoes_what_was_asked(
    example: Simulated,
) -> None:
    first, second = [(await example.send("read-application", READ)).reply for _ in range(2)]
    assert first == second
    assert (first.kind, first.output["recordId"]) == (ReplyKind.ACCEPTED, "A-1")


async def test_what_the_contract_leaves_open_comes_from_the_scenarios(example: Simulated) -> None:
    sent = await example.send("read-application", READ)
    assert sent.reply.output["data"]["domainData"]["applicant"]["name"] == "Ada Ngo"


async def test_a_key_is_answered_once_and_again_after_a_restart(tmp_path: Path) -> None:
    async with simulate(EXAMPLE, tmp_path) as one:
        first = await one.send("send-message", MESSAGE, "k")
        assert (await one.send("send-message", MESSAGE, "k")).reply == first.reply
    async with simulate(EXAMPLE, tmp_path) as another:
        assert (await another.send("send-message", MESSAGE, "k")).reply == first.reply
        assert (await another.send("send-message", MESSAGE, "k2")).reply != first.reply
        found = await another.receipt("send-message", MESSAGE, "k")
        assert found.output == first.reply.output


async def test_a_key_with_other_content_is_refused(example: Simulated) -> None:
    await example.send("send-message", MESSAGE, "k")
    other = await example.send("send-message", MESSAGE | {"content": {"text": "y"}}, "k")
    assert (other.reply.kind, other.reply.code) == (ReplyKind.REFUSED, "product-refused")


async def test_a_receipt_of_nothing_is_unresolved(example: Simulated) -> None:
    found = await example.receipt("send-message", MESSAGE, "never-sent")
    assert (found.kind, found.code) == (ReplyKind.UNKNOWN, "receipt-unresolved")


async def test_a_review_is_pending_until_it_is_completed(example: Simulated) -> None:
    review = {"reviewRequestId": await _review(example)}
    assert (await example.send("read-review", review)).reply.output["state"] == "pending"
    done = await example.control(lambda client: client.complete(name="result"))
    output = (await example.send("read-review", review)).reply.output
    assert (output["state"], output["result"]) == ("completed", done["value"])


async def test_a_decision_is_completed_with_the_members_that_are_asked_for(
    example: Simulated,
) -> None:
    review = await _review(example)
    members = {"decision": "rejected", "comment": "No."}
    done = await example.control(lambda client: client.complete(name=review, members=members))
    assert done["value"].items() >= members.items()


async def test_a_review_completes_by_itself_after_a_while(tmp_path: Path) -> None:
    async with simulate(EXAMPLE, tmp_path, complete_after=0) as example:
        review = {"reviewRequestId": await _review(example)}
        assert (await example.send("read-review", review)).reply.output["state"] == "completed"


async def test_a_withdrawn_review_is_gone(example: Simulated) -> None:
    review = await _review(example)
    sent = await example.send("withdraw-review", _withdrawal(review), "w")
    assert sent.reply.output["state"] == "withdrawn"
    [awaited] = example.playing.awaiting.every()
    assert awaited.standing is Standing.GONE


async def test_a_withdrawal_after_the_decision_is_refused_as_the_contract_declares(
    example: Simulated,
) -> None:
    review = await _review(example)
    await example.control(lambda client: client.complete())
    sent = await example.send("withdraw-review", _withdrawal(review), "w")
    assert sent.reply.kind is ReplyKind.DECLARED_REFUSAL
    assert sent.reply.code == "review-already-completed"


async def test_steps_with_the_same_operation_are_told_apart_by_their_literals(
    example: Simulated,
) -> None:
    for reason in ("The request was cancelled.", "No decision in time."):
        review = await _review(example, reason[:2])
        await example.send("withdraw-review", _withdrawal(review, reason), f"w-{reason[:2]}")
    assert example.steps[1::2] == ["withdraw-cancelled-review", "withdraw-late-review"]


async def test_the_replies_of_a_case_come_in_their_order(tmp_path: Path) -> None:
    async with simulate(EXAMPLE, tmp_path, case="approved-late") as example:
        review = await _review(example)
        assert review == "R-1"
        assert (await example.send("read-review", {"reviewRequestId": review})).reply.output[
            "state"
        ] == "pending"
        late = await example.send("withdraw-review", _withdrawal(review), "w")
        assert late.reply.code == "review-already-completed"
        found = await example.send("read-review", {"reviewRequestId": review})
        assert found.reply.output["result"]["decision"] == "approved"


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        ("notice-uncertain", ReplyKind.UNKNOWN),
        ("notice-refused", ReplyKind.DECLARED_REFUSAL),
        ("approved", ReplyKind.ACCEPTED),
    ],
)
async def test_every_type_of_reply_is_what_a_worker_makes_of_it(
    tmp_path: Path, case: str, kind: ReplyKind
) -> None:
    async with simulate(EXAMPLE, tmp_path, case=case) as example:
        assert (await example.send("send-message", MESSAGE)).reply.kind is kind


async def test_an_address_without_an_operation_is_not_found(example: Simulated) -> None:
    lost = await example.control(lambda client: _status(client.origin, "/simulated/registry/none"))
    assert lost == 404


def _status(origin: str, path: str) -> int:
    from adapter.cli.exchange import ask_once

    return ask_once(origin, "GET", path).status


@pytest.mark.parametrize("grant", [{}, {"grant": {"id": str(UUID(int=7)), "expiresAt": 1}}])
async def test_a_grant_is_taken_as_it_comes(tmp_path: Path, grant: dict[str, Any]) -> None:
    async with simulate(PUBLIC / "counter_booking", tmp_path) as simulated:
        operations = simulated.authored.packaged.definition.operations
        [alias] = [
            alias
            for alias, one in operations.items()
            if one.contract.id == "scheduling.create-appointment/v1"
        ]
        sent = await simulated.send(alias, APPOINTMENT | grant)
    assert sent.reply.kind is ReplyKind.ACCEPTED
