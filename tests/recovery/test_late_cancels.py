"""A cancel that is on record before its execution hears of it: what came first counts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapter.ledger import ActKind, Wish
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ASK, SEND, WITHDRAW, Site, call
from tests.recovery.test_waits import pending, reviewed

PAID = {
    "wait": {
        "kind": "wait",
        "wait": {"type": "signal", "signal": "paid", "schema": True, "timeoutSeconds": 3},
        "outlets": {"resumed": "done", "expired": "late", "cancelled": "undo"},
    },
    "undo": call(SEND, "stopped"),
    "late": call(SEND, "done"),
    "done": finish("done"),
    "stopped": finish("stopped"),
}


async def cancelled_late(site: Site, nodes: dict[str, Any], seconds: float) -> str:
    """A run whose cancel was on record for so long before it was delivered; gives its outcome."""
    async with site.worker():
        run_id = await site.start(nodes)
        await site.until(run_id, RunState.WAITING)
        wish = Wish(ActKind.CANCEL, "ops", "for good reason", "r1")
        begun = await site.ledger.acts.begin(run_id, wish)
        await asyncio.sleep(seconds)
        await site.courier.carry_out(begun, 10)
        done = await site.until(run_id, RunState.CANCELLED, RunState.CANCELLED_AFTER_EFFECT)
    return done.outcome


async def test_a_poll_whose_time_is_over_after_a_cancel_follows_the_cancel(site: Site) -> None:
    assert await cancelled_late(site, reviewed(4), 5) == "stopped"
    assert site.applied(WITHDRAW) == [1]


async def test_a_signal_wait_whose_time_is_over_after_a_cancel_follows_it(site: Site) -> None:
    assert await cancelled_late(site, PAID, 4) == "stopped"
    assert site.applied(SEND) == [1]


@pytest.mark.parametrize("kind", ["signal", "completion"])
async def test_a_wait_on_the_route_of_a_cancel_runs_out_of_time(site: Site, kind: str) -> None:
    nodes = reviewed(99)
    nodes["undo"]["outlets"]["next"] = "again"
    again = nodes["wait"]["wait"] if kind == "completion" else PAID["wait"]["wait"]
    nodes["again"] = {
        "kind": "wait",
        "wait": {**again, "timeoutSeconds": 2},
        "outlets": {"completed": "done", "resumed": "done", "expired": "given-up"},
    }
    async with site.worker():
        run_id = await site.start(nodes)
        await pending(site, run_id)
        await site.act(run_id, ActKind.CANCEL, seconds=1)
        done = await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
    assert done.outcome == "given-up"


async def test_an_unknown_evaluation_on_the_route_of_a_cancel_ends_it(site: Site) -> None:
    site.pretend.fault(ASK, "lost-response")
    nodes = {**PAID, "undo": call(ASK, "stopped")}
    async with site.worker():
        run_id = await site.start(nodes)
        await site.until(run_id, RunState.WAITING)
        act = await site.act(run_id, ActKind.CANCEL)
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        await site.ended(run_id)
    assert act.outcome == "cancelled-after-effect"
    assert len(site.pretend.requests(ASK)) == 1
