"""While a product takes its time, nobody else has to wait for the ledger."""

from __future__ import annotations

import asyncio

from adapter.crypto import Sealer
from adapter.ledger import Ledger
from interpreter.contract.records import RunState
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site
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
