"""A worker that dies while it signs the journal: the next one goes on, and all of it is proved."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from adapter.audit.proof import Proof, Proved
from adapter.config.loading import load_runtime
from adapter.wiring.deployment import signing_keys
from interpreter.contract.records import RunState
from tests.crash.conftest import Crashing
from tests.crash.test_effects import one_call
from tests.recovery.conftest import SEND

pytestmark = [pytest.mark.timeout(240), pytest.mark.exhaustive]


async def proved(crashing: Crashing) -> Proved:
    """Prove the journal with the deployment's own keys."""
    runtime = load_runtime(crashing.files.runtime)
    keys = signing_keys(runtime)
    assert keys is not None
    async with crashing.ledger.journal.reading() as reading:
        return await reading.prove(Proof(runtime.document.deployment, keys.public))


async def sealed(crashing: Crashing) -> Proved:
    """Wait until every record is under a checkpoint."""
    async with asyncio.timeout(60):
        while (found := await proved(crashing)).unsealed:
            await asyncio.sleep(0.2)
    return found


async def test_workers_sign_the_journal_and_one_that_is_killed_is_followed_by_another(
    crashing: Crashing,
) -> None:
    first = await crashing.worker()
    await crashing.worker()
    run_id = await crashing.start(one_call(SEND))
    assert await crashing.settled(run_id) is RunState.FINISHED
    before = await sealed(crashing)
    os.kill(first.pid, signal.SIGKILL)
    await first.wait()
    again = await crashing.start(one_call(SEND))
    assert await crashing.settled(again) is RunState.FINISHED
    after = await sealed(crashing)
    assert after.checkpoints > before.checkpoints
    assert after.chains == before.chains + 1
