"""Under a restore hold no execution begins, whoever asks for it."""

from __future__ import annotations

import pytest

from adapter.errors import Unavailable
from interpreter.contract.records import RunState, StartState
from tests.recovery.conftest import ONE_MESSAGE, Site
from tests.recovery.restoring import VOUCHED


async def test_a_repeated_start_waits_for_the_release_of_a_hold(site: Site) -> None:
    run_id = await site.admit(ONE_MESSAGE, number=7001)
    await site.ledger.holds.begin_review("ops", "restored")
    assert await site.admit(ONE_MESSAGE, number=7001) == run_id
    with pytest.raises(Unavailable) as refused:
        await site.starter.start(run_id)
    assert refused.value.code == "start.held"
    assert (await site.status(run_id)).start_state is StartState.PENDING
    await site.ledger.reviews.complete("ops", VOUCHED)
    await site.ledger.holds.release_restore("ops", "reviewed")
    site.started.append(run_id)
    async with site.worker():
        await site.starter.start(run_id)
        await site.until(run_id, RunState.FINISHED)
