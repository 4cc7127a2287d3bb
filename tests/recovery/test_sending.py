"""What goes on while a product takes its time, or asks for it."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from activities.calls import perform
from adapter.crypto import Sealer
from adapter.ledger import ActKind, Ledger
from interpreter.contract.records import RunState
from interpreter.contract.runs import Binding
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ONE_MESSAGE, READ, SEND, Site, call
from tests.recovery.test_temporal_tools import asked


async def test_no_connection_is_held_while_a_product_answers(site: Site, database_url: str) -> None:
    site.pretend.fault(SEND, "slow", seconds=1)
    keys = site.key_ring
    opening = Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=1)
    async with await opening as ledger, site.beside(ledger).worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        shown = await asyncio.wait_for(ledger.reads.inspect(run_id, None), 1)
        assert [effect.outcome for effect in shown.effects] == [None]
        await site.until(run_id, RunState.FINISHED)


LOCALLY = Binding(dispatch={"messaging": "local"})
LOOK = {"look": call(READ, "done"), "done": finish()}


@pytest.mark.parametrize(
    ("operation", "nodes", "binding"), [(READ, LOOK, None), (SEND, ONE_MESSAGE, LOCALLY)]
)
async def test_a_product_that_asks_a_local_attempt_for_time_is_given_it(
    site: Site, operation: str, nodes: dict[str, Any], binding: Binding | None
) -> None:
    site.pretend.fault(operation, "rate-limited", retryAfter=2)
    async with site.worker():
        run_id = await site.start(nodes, binding=binding)
        await site.until(run_id, RunState.FINISHED)
        history = await (await site.handle(run_id)).fetch_history()
    first, second = (datetime.fromisoformat(r.arrived_at) for r in site.pretend.requests(operation))
    assert (second - first).total_seconds() >= 1.9
    assert not [one for one in history.events if one.HasField("timer_started_event_attributes")]


async def test_a_cancel_does_not_wait_until_a_product_may_be_asked_again(site: Site) -> None:
    site.pretend.fault(READ, "rate-limited", retryAfter=60)
    async with site.worker():
        run_id = await site.start(LOOK)
        while not site.pretend.requests(READ):
            await asyncio.sleep(0.05)
        assert (await site.act(run_id, ActKind.CANCEL)).outcome == "cancelled"
    assert len(site.pretend.requests(READ)) == 1


async def test_a_run_expires_while_its_product_may_not_be_asked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perform, "_LONGEST_PAUSE", 1.0)
    site.pretend.fault(READ, "rate-limited", retryAfter=3600)
    async with site.worker():
        run_id = await site.start(LOOK, deadline=3)
        await site.until(run_id, RunState.EXPIRED)
    assert len(site.pretend.requests(READ)) == 1
