"""Signals and hints from end to end: service, ledger, courier and executions on real servers."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from adapter.ledger import SignalWish
from adapter.ledger.hints import Message
from adapter.reconcile.signals import HintCourier, SignalCourier
from interpreter.contract.records import Closing, RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import REVIEW, FixedTemporal, Site, call
from tests.recovery.test_service import SECRET, Desk, served_desk

__all__ = ["served_desk"]

READ_REVIEW = "casework.read-review-request/v1"


def wait(then: str, seconds: int = 99, **outlets: str) -> dict[str, Any]:
    """A wait on ``paid``, whose payload has an amount."""
    schema = {"type": "object", "required": ["amount"]}
    source = {"type": "signal", "signal": "paid", "schema": schema}
    return {
        "kind": "wait",
        "wait": {**source, "timeoutSeconds": seconds},
        "outlets": {"resumed": then, **outlets},
    }


PAID = {"wait": wait("done"), "done": finish("done", {"step": "wait"})}
SHORT = {
    "wait": wait("done", 4, expired="late"),
    "done": finish("done", {"step": "wait"}),
    "late": finish("late"),
}
REVIEWED = {
    "submit": call(REVIEW, "wait"),
    "wait": {
        "kind": "wait",
        "wait": {
            "type": "completion",
            "call": "submit",
            "completion": "result",
            "timeoutSeconds": 99,
        },
        "outlets": {"completed": "done"},
    },
    "done": finish("done", {"step": "wait"}),
}


@pytest.fixture
async def client(desk: Desk) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the service with the operator's key."""
    async with httpx.AsyncClient(
        base_url=desk.url, headers={"X-API-Key": "key-of-ops"}, timeout=30
    ) as made:
        yield made


async def send(client: httpx.AsyncClient, run_id: str, payload: Any, key: str = "s1") -> Any:
    """POST a signal; gives status and body."""
    path = f"/v1/runs/{run_id}/signals/paid"
    answer = await client.post(path, json=payload, headers={"Idempotency-Key": key})
    return answer.status_code, answer.json()


async def notice(client: httpx.AsyncClient, subject: str) -> int:
    """POST a completion event of casework; gives the status."""
    body, now = json.dumps({"data": {"reviewRequestId": subject}}), datetime.now(UTC)
    id = f"msg_{uuid.uuid4().hex}"
    headers = {
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(id, now, body),
    }
    answer = await client.post("/v1/review-completions", content=body, headers=headers)
    return answer.status_code


async def test_a_signal_completes_a_wait_once(site: Site, client: httpx.AsyncClient) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        status, first = await send(client, run_id, {"amount": 3})
        assert (status, first["outcome"]) == (200, "completed")
        done = await site.until(run_id, RunState.FINISHED)
        assert done.output == {"amount": 3}
        status, again = await send(client, run_id, {"amount": 3})
        assert (status, again["id"], again["wait"]) == (200, first["id"], "main/wait:1")
        status, late = await send(client, run_id, {"amount": 4}, "s2")
        assert (status, late["code"]) == (409, "signal.late")
    [shown] = (await site.inspect(run_id)).waits
    assert shown.resolution == "resumed"


async def test_a_signal_is_judged_before_anything_is_sent(
    site: Site, client: httpx.AsyncClient
) -> None:
    run_id = await site.start(PAID)
    status, invalid = await send(client, run_id, {"amounts": "hunter2"})
    assert (status, invalid["code"], invalid["place"]) == (422, "signal.invalid", "/")
    for name in ("shipped", "coordinator.hint", "coordinator.signal"):
        answer = await client.post(f"/v1/runs/{run_id}/signals/{name}", json={})
        assert (answer.status_code, answer.json()["code"]) == (404, "signal.unknown")
    assert await site.sql("select * from coordinator.signals") == []
    assert "hunter2" not in json.dumps(invalid)


async def test_what_is_on_record_before_a_worker_comes_is_delivered_by_it(
    site: Site, client: httpx.AsyncClient
) -> None:
    run_id = await site.start(PAID)
    begun = await site.ledger.signals.begin(run_id, _wish())
    await site.sql("update coordinator.signals set due_at = clock_timestamp()")
    courier = SignalCourier(site.ledger, FixedTemporal(site.client))
    async with site.worker():
        while (await site.ledger.signals.signal(begun.id)).concluded_at is None:
            await courier.deliver_pending()
            await site.sql("update coordinator.signals set due_at = clock_timestamp()")
        assert (await site.until(run_id, RunState.FINISHED)).output == {"amount": 9}


async def test_a_signal_on_record_before_the_timeout_wins_over_it(site: Site) -> None:
    run_id = await site.start(SHORT)
    async with site.worker():
        await site.until(run_id, RunState.WAITING)
        begun = await site.ledger.signals.begin(run_id, _wish())
        assert (await site.until(run_id, RunState.FINISHED)).outcome == "done"
    found = await site.ledger.signals.signal(begun.id)
    assert (found.outcome, found.visit) == ("completed", "main/wait:1")


async def test_a_signal_after_the_timeout_is_told_so(site: Site, client: httpx.AsyncClient) -> None:
    nodes = {**SHORT, "late": call(REVIEW, "later"), "later": finish("late")}
    nodes["wait"] = wait("done", 1, expired="late")
    site.pretend.fault(REVIEW, "slow", seconds=1.5)
    async with site.worker():
        run_id = await site.start(nodes)
        while "main/late:1" not in [e.reference for e in (await site.inspect(run_id)).effects]:
            await asyncio.sleep(0.05)
        status, late = await send(client, run_id, {"amount": 3})
        assert (status, late["code"]) == (409, "signal.late")
        assert (await site.until(run_id, RunState.FINISHED)).outcome == "late"
    kinds = await site.sql("select kind, detail->>'outcome' from coordinator.journal")
    assert ("signal.concluded", "late") in kinds


async def test_temporals_own_tools_complete_a_wait_and_junk_does_not(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        handle = await site.handle(run_id)
        await handle.signal("paid", "junk")
        await handle.signal("coordinator.hint", {"more": "junk"})
        await handle.signal("paid", {"amount": 5})
        assert (await site.until(run_id, RunState.FINISHED)).output == {"amount": 5}
    steps = (await site.inspect(run_id)).steps
    [waited] = [step for step in steps if step.node == "wait"]
    assert (waited.outlet, waited.code.partition(":")[0]) == ("resumed", "temporal")
    dropped = await site.sql("select detail from coordinator.journal where kind='signal.dropped'")
    assert dropped == [({"code": "unfit"},)]


async def test_a_signal_is_sent_by_command(site: Site, desk: Desk, tmp_path: Path) -> None:
    payload = tmp_path / "payload.json"
    payload.write_text('{"amount": 8}')
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        asked = ("signal", "--run", run_id, "--name", "paid", "--payload", str(payload))
        code, done = await desk.ctl(*asked, "--id", "k1")
        assert (code, done["outcome"], done["key"]) == (0, "completed", "k1")
        assert (await site.until(run_id, RunState.FINISHED)).output == {"amount": 8}
        code, again = await desk.ctl(*asked, "--id", "k1")
        assert (code, again["id"]) == (0, done["id"])
        code, refused = await desk.ctl(*asked[:-2], "--payload", str(tmp_path))
    assert (code, "input.unreadable" in json.dumps(refused)) == (2, True)


async def test_a_hint_brings_the_next_reading_forward(
    site: Site, client: httpx.AsyncClient
) -> None:
    async with site.worker():
        run_id = await site.start(REVIEWED)
        await site.until(run_id, RunState.WAITING)
        [review] = site.pretend.reviews("pending")
        site.pretend.decide(review.review_request_id, "approved")
        assert await notice(client, review.review_request_id) == 202
        await site.until(run_id, RunState.FINISHED)
    assert len(site.pretend.requests(READ_REVIEW)) == 1


async def test_a_hint_from_before_its_wait_is_not_lost(
    site: Site, client: httpx.AsyncClient
) -> None:
    nodes = {"submit": call(REVIEW, "paid"), "paid": wait("wait"), **REVIEWED}
    nodes["submit"] = call(REVIEW, "paid")
    async with site.worker():
        run_id = await site.start(nodes)
        await site.until(run_id, RunState.WAITING)
        [review] = site.pretend.reviews("pending")
        site.pretend.decide(review.review_request_id, "approved")
        assert await notice(client, review.review_request_id) == 202
        await send(client, run_id, {"amount": 1})
        await site.until(run_id, RunState.FINISHED)


async def test_many_hints_are_few_readings_and_few_events(
    site: Site, client: httpx.AsyncClient
) -> None:
    async with site.worker():
        run_id = await site.start(REVIEWED)
        await site.until(run_id, RunState.WAITING)
        [review] = site.pretend.reviews("pending")
        subject = review.review_request_id
        assert {await notice(client, subject) for _ in range(30)} == {202}
        assert await notice(client, "nobody-waits-for-this") == 202
        await asyncio.sleep(1.5)
        handle = await site.handle(run_id)
        history = (await handle.fetch_history()).events
    signals = [e for e in history if e.HasField("workflow_execution_signaled_event_attributes")]
    readings = site.pretend.requests(READ_REVIEW)
    assert 1 <= len(readings) <= 5
    assert len(signals) <= len(readings) + 1


async def test_a_hint_that_nobody_could_deliver_is_delivered_later(
    site: Site, client: httpx.AsyncClient
) -> None:
    async with site.worker():
        run_id = await site.start(REVIEWED)
        await site.until(run_id, RunState.WAITING)
        [review] = site.pretend.reviews("pending")
        site.pretend.decide(review.review_request_id, "approved")
        message = Message("casework", "m1", 1, "c", {"reviewRequestId": review.review_request_id})
        await site.ledger.hints.take(message)
        assert await HintCourier(site.ledger, FixedTemporal(site.client)).deliver() >= 1
        await site.until(run_id, RunState.FINISHED)


def _wish() -> SignalWish:
    return SignalWish("paid", "desk", "s9", {"amount": 9})


async def test_a_signal_that_no_wait_has_taken_is_late_once_the_run_is_over(site: Site) -> None:
    run_id = await site.start(PAID)
    begun = await site.ledger.signals.begin(run_id, _wish())
    await site.ledger.runs.close(run_id, 1, Closing(RunState.CANCELLED, 9))
    courier = SignalCourier(site.ledger, FixedTemporal(site.client))
    found = await courier.carry_out(await site.ledger.signals.signal(begun.id), 5)
    assert (found.state, found.outcome) == ("refused", "late")
