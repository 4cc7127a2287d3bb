"""A start input that was copied out of a run's history starts no second execution of the run."""

from __future__ import annotations

import uuid

import pytest
from temporalio.api.common.v1 import Payloads, WorkflowType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from interpreter.contract import names
from interpreter.contract.records import RunState
from tests.recovery.conftest import Site
from tests.recovery.test_sealed_histories import plain, start_payloads
from tests.recovery.test_signals import PAID
from tests.recovery.test_strangers import execution, paid

AT = "1-2026-12-01T07:00:00Z"
"""As a schedule would call it."""


async def copied(site: Site, run_id: str, identity: str) -> None:
    """Start what the run was started with under another id, as it stands in the history."""
    handle = (await plain(site)).get_workflow_handle(await execution(site, run_id))
    request = StartWorkflowExecutionRequest(
        namespace="default",
        workflow_id=identity,
        workflow_type=WorkflowType(name="recovery"),
        task_queue=TaskQueue(name=site.queue),
        input=Payloads(payloads=await start_payloads(handle)),
        request_id=str(uuid.uuid4()),
    )
    await site.client.workflow_service.start_workflow_execution(request)


@pytest.mark.parametrize("last", ["01", "+1", " 1", "1_0", "\u0661", "0", "2", "99", AT])
async def test_a_copied_start_fails_at_once_and_the_run_goes_on(site: Site, last: str) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        root = (await execution(site, run_id)).rpartition("/")[0]
        await copied(site, run_id, f"{root}/{last}")
        with pytest.raises(WorkflowFailureError) as failed:
            await site.client.get_workflow_handle(f"{root}/{last}").result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert failed.value.cause.type == names.NOT_ADMITTED
        assert (await site.status(run_id)).state is RunState.WAITING
        assert await paid(site, run_id, {"amount": 2}) == "completed"
        await site.until(run_id, RunState.FINISHED)
