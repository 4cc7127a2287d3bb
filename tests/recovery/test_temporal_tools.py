"""What people do with Temporal's own UI and CLI repeats no effect and loses none."""

from __future__ import annotations

import asyncio
import uuid

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    ResetActivityRequest,
    ResetWorkflowExecutionRequest,
)
from temporalio.client import WorkflowFailureError

from adapter.ledger import ActKind
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import (
    ONE_MESSAGE,
    REVIEW,
    SEND,
    TWO_MESSAGES,
    WITHDRAW,
    Site,
    call,
)

REVIEWED = {
    "submit": call(REVIEW, "wait"),
    "wait": {
        "kind": "wait",
        "wait": {
            "type": "completion",
            "call": "submit",
            "completion": "result",
            "timeoutSeconds": 600,
        },
        "outlets": {"completed": "done", "cancelled": "undo"},
    },
    "undo": call(
        WITHDRAW,
        "stopped",
        {
            "object": {
                "reviewRequestId": {"step": "submit", "path": "/reviewRequestId"},
                "reason": {"literal": "cancelled"},
            }
        },
    ),
    "done": finish(),
    "stopped": finish("stopped"),
}
_FIRST_TASK_COMPLETED = 4


async def reset_workflow(site: Site, run_id: str) -> None:
    """What `temporal workflow reset` to the first workflow task does."""
    handle = await site.handle(run_id)
    described = await handle.describe()
    request = ResetWorkflowExecutionRequest(
        namespace=site.client.namespace,
        workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=described.run_id),
        reason="to see what happens",
        workflow_task_finish_event_id=_FIRST_TASK_COMPLETED,
        request_id=str(uuid.uuid4()),
    )
    await site.client.workflow_service.reset_workflow_execution(request)


async def reset_activity(site: Site, run_id: str, activity_id: str) -> None:
    """What `temporal activity reset` does."""
    request = ResetActivityRequest(
        namespace=site.client.namespace,
        execution=WorkflowExecution(workflow_id=(await site.handle(run_id)).id),
        id=activity_id,
    )
    await site.client.workflow_service.reset_activity(request)


async def asked(site: Site, operation: str = SEND, times: int = 1) -> None:
    """Wait until a product was asked so often."""
    async with asyncio.timeout(20):
        while len(site.pretend.requests(operation)) < times:
            await asyncio.sleep(0.05)


async def test_a_reset_workflow_takes_its_replies_from_the_ledger(site: Site) -> None:
    site.pretend.fault(SEND, "slow", seconds=0.1)
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(TWO_MESSAGES)
        await site.until(run_id, RunState.ATTENTION)
        await reset_workflow(site, run_id)
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert site.applied() == [1, 1]
    assert len(site.keys()) == 2


async def test_a_reset_of_a_finished_run_sends_nothing_and_ends_as_on_record(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(TWO_MESSAGES)
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
        await reset_workflow(site, run_id)
        assert (await (await site.handle(run_id)).result())["state"] == "finished"
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1, 1], 2)


async def test_a_reset_of_a_cancelled_run_meets_its_end(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=60)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        assert (await site.act(run_id, ActKind.CANCEL)).outcome == "cancelled"
        await site.ended(run_id)
        await reset_workflow(site, run_id)
        with pytest.raises(WorkflowFailureError):
            await (await site.handle(run_id)).result()
    assert (await site.status(run_id)).state is RunState.CANCELLED
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([], 1)


async def test_a_reset_activity_that_is_sending_sends_once(site: Site) -> None:
    site.pretend.fault(SEND, "slow", seconds=1.5, apply=True)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        await reset_activity(site, run_id, "main/send:1:1")
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert (site.applied(), len(site.pretend.requests(SEND))) == ([1], 1)


async def test_a_reset_activity_in_its_back_off_goes_on_at_once(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=60)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        await asyncio.sleep(0.3)
        await reset_activity(site, run_id, "main/send:1:1")
        await site.until(run_id, RunState.FINISHED)
    assert (site.applied(), len(site.keys())) == ([1], 1)


@pytest.mark.parametrize("by", ["temporal", "act"])
async def test_a_cancel_follows_the_cancel_route_whoever_asks(site: Site, by: str) -> None:
    async with site.worker():
        run_id = await site.start(REVIEWED)
        await site.until(run_id, RunState.WAITING)
        if by == "temporal":
            await (await site.handle(run_id)).cancel()
        else:
            done = await site.act(run_id, ActKind.CANCEL)
            assert done.outcome == "cancelled-after-effect"
        status = await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        await site.ended(run_id)
    assert (status.outcome, status.cancel_requested_at is None) == ("stopped", False)
    assert [review.state for review in site.pretend.reviews()] == ["withdrawn"]
    assert site.applied(REVIEW) == [1]


async def test_a_completion_by_hand_is_no_reply(site: Site) -> None:
    site.pretend.fault(SEND, "slow", seconds=1.5)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await asked(site)
        handle = site.client.get_async_activity_handle(
            workflow_id=(await site.handle(run_id)).id, run_id="", activity_id="main/send:1:1"
        )
        await handle.complete({"id": "forged"})
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert (site.applied(), len(site.keys())) == ([1], 1)


async def test_temporals_lists_tell_a_run_by_its_workflow_and_number(site: Site) -> None:
    run_id = await site.start(ONE_MESSAGE)
    version = (await site.status(run_id)).version
    described = await (await site.handle(run_id)).describe()
    assert await described.static_summary() == f"recovery {version}, run {run_id[:8]}"
    stored = described.raw_description.execution_config.user_metadata.summary
    assert run_id[:8].encode() not in stored.data
