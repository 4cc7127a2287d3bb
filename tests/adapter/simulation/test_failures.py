"""Failures on demand: which attempts they strike, and how they are set while a run goes on."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from adapter.cli.exchange import ask_once
from adapter.errors import AdapterError, Usage
from adapter.simulation import Failure, FailureKind
from interpreter.contract.effects import ReplyKind
from tests.adapter.simulation.conftest import EXAMPLE, Simulated, simulate
from tests.adapter.simulation.test_products import MESSAGE, READ


@pytest.mark.parametrize(
    ("failure", "kind", "code"),
    [
        ("notice=lost-response", ReplyKind.UNKNOWN, "transport-uncertain"),
        ("notice=status-5xx", ReplyKind.UNKNOWN, "transport-uncertain"),
        ("notice=rate-limited", ReplyKind.RETRYABLE, "rate-limited"),
        ("notice=refuse:recipient-suppressed", ReplyKind.DECLARED_REFUSAL, "recipient-suppressed"),
        ("notice=refuse:whatever", ReplyKind.REFUSED, "product-refused"),
    ],
)
async def test_a_failure_strikes_the_first_attempt_of_each_command(
    tmp_path: Path, failure: str, kind: ReplyKind, code: str
) -> None:
    async with simulate(EXAMPLE, tmp_path, failures=[failure]) as example:
        for key in ("one", "another"):
            struck = await example.send("send-message", MESSAGE, key)
            assert (struck.reply.kind, struck.reply.code) == (kind, code)
            again = await example.send("send-message", MESSAGE, key)
            assert again.reply.kind is ReplyKind.ACCEPTED


async def test_a_lost_response_was_carried_out_and_has_a_receipt(tmp_path: Path) -> None:
    async with simulate(EXAMPLE, tmp_path, failures=["notice=lost-response"]) as example:
        await example.send("send-message", MESSAGE, "k")
        assert (await example.receipt("send-message", MESSAGE, "k")).kind is ReplyKind.ACCEPTED


async def test_a_slow_answer_takes_its_time(tmp_path: Path) -> None:
    async with simulate(EXAMPLE, tmp_path, failures=["application=slow:0.3"]) as example:
        began = time.monotonic()
        assert (await example.send("read-application", READ)).reply.kind is ReplyKind.ACCEPTED
        assert time.monotonic() - began >= 0.3


async def test_a_read_is_struck_again_once_it_has_worked(tmp_path: Path) -> None:
    async with simulate(EXAMPLE, tmp_path, failures=["application=status-5xx*2"]) as example:
        kinds = [(await example.send("read-application", READ)).reply.kind for _ in range(6)]
    failed, worked = ReplyKind.RETRYABLE, ReplyKind.ACCEPTED
    assert kinds == [failed, failed, worked] * 2


async def test_failures_are_set_and_cleared_while_it_runs(example: Simulated) -> None:
    await example.control(lambda client: client.fail("application=status-5xx*"))
    for _ in range(3):
        struck = await example.send("read-application", READ)
        assert struck.reply.kind is ReplyKind.RETRYABLE
    await example.control(lambda client: client.clear("application"))
    assert (await example.send("read-application", READ)).reply.kind is ReplyKind.ACCEPTED


async def test_an_unknown_step_is_named_with_those_there_are(example: Simulated) -> None:
    with pytest.raises(AdapterError, match="no step of this name") as refused:
        await example.control(lambda client: client.fail("nope=lost-response"))
    assert refused.value.code == "simulation.unknown-step"
    assert "notice" in refused.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        *("notice", "=slow:1", "notice=slow", "notice=slow:x", "notice=lost-response:1"),
        *("notice=refuse", "notice=refuse:NO!", "notice=late", "notice=slow:99999"),
        "notice=slow:1*0",
    ],
)
def test_what_is_no_failure_is_refused_by_code(text: str) -> None:
    with pytest.raises(Usage) as refused:
        Failure.parse(text)
    assert refused.value.code == "simulation.failure-invalid"


def test_how_often_a_failure_strikes_is_told_by_its_end() -> None:
    assert Failure.parse("a=slow:1.5").times == 1
    assert Failure.parse("a=refuse:x.y*3") == Failure(
        step="a", kind=FailureKind.REFUSE, code="x.y", times=3
    )
    assert Failure.parse("a=rate-limited*").times is None


async def test_the_page_shows_failures_and_takes_forms_of_this_machine_only(
    example: Simulated,
) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    body = b"set=notice%3Drefuse%3Ax"
    set_it = await asyncio.to_thread(
        ask_once, example.origin, "POST", "/control/failures", body, form
    )
    assert set_it.status == 303
    page = await asyncio.to_thread(ask_once, example.origin, "GET", "/")
    assert b"refuse x" in page.body
    foreign = form | {"origin": "http://elsewhere.example"}
    shut = await asyncio.to_thread(
        ask_once, example.origin, "POST", "/control/failures", body, foreign
    )
    assert (shut.status, json.loads(shut.body)["place"]) == (403, "Origin")


async def test_a_result_that_is_not_pending_is_named(example: Simulated) -> None:
    kind = {"content-type": "application/json"}
    body = b'{"name": "none"}'
    said = await asyncio.to_thread(
        ask_once, example.origin, "POST", "/control/completions", body, kind
    )
    problem = json.loads(said.body)
    assert (problem["code"], problem["place"]) == ("simulation.nothing-pending", "none")


async def test_the_receipt_of_a_command_that_always_fails_can_still_be_read(
    tmp_path: Path,
) -> None:
    async with simulate(EXAMPLE, tmp_path, failures=["notice=lost-response*"]) as example:
        for _ in range(2):
            sent = await example.send("send-message", MESSAGE, "k")
            assert sent.reply.kind is ReplyKind.UNKNOWN
        assert (await example.receipt("send-message", MESSAGE, "k")).kind is ReplyKind.ACCEPTED
