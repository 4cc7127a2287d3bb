"""A worker of somebody else on our task queue: it reads nothing and proves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from interpreter.contract.records import RunState
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site
from tests.recovery.test_temporal_tools import asked

_SEEN: list[bytes] = []


@workflow.defn(dynamic=True)
class _Claims:
    """Says at once that the run is finished, in the words of ours."""

    @workflow.run
    async def run(self, args: Sequence[RawValue]) -> Any:
        _SEEN.extend(arg.payload.data for arg in args)
        return {"state": "finished", "outcome": "done", "output": None}


@activity.defn(dynamic=True)
async def _accepts(args: Sequence[RawValue]) -> Any:
    """Says of every call that its product has accepted it."""
    _SEEN.extend(arg.payload.data for arg in args)
    return {"of": activity.info().activity_id, "accepted": {"id": "forged"}}


async def _stranger(site: Site) -> Client:
    return await Client.connect(site.client.service_client.config.target_host)


@pytest.fixture(autouse=True)
def _unseen() -> None:
    _SEEN.clear()


async def test_a_workflow_that_a_stranger_ends_is_never_shown_as_finished(site: Site) -> None:
    run_id = await site.start(ONE_MESSAGE)
    rogue = Worker(
        await _stranger(site),
        task_queue=site.queue,
        workflows=[_Claims],
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    async with rogue:
        ended = (await _stranger(site)).get_workflow_handle((await site.handle(run_id)).id)
        await ended.result(rpc_timeout=timedelta(seconds=30))
    await site.reconcile()
    assert (await site.status(run_id)).state is RunState.RECOVERY_REQUIRED
    assert site.pretend.requests(SEND) == []
    assert _SEEN
    assert not any(b"revision" in seen for seen in _SEEN)


async def test_an_activity_that_a_stranger_performs_is_no_reply(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=1)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
    # Ours is gone before the second attempt, which the stranger has.
    rogue = Worker(await _stranger(site), task_queue=site.queue, activities=[_accepts])
    async with rogue, asyncio.timeout(30):
        while not _SEEN:
            await asyncio.sleep(0.05)
    assert not any(b"senderProfile" in seen for seen in _SEEN)
    async with site.worker():
        await site.until(run_id, RunState.FINISHED)
    assert site.applied() == [1]
