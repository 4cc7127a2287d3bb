"""Payloads in clear text wherever else Temporal takes one: headers, heartbeats, attributes."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from temporalio.api.common.v1 import (
    Header,
    Payload,
    Payloads,
    SearchAttributes,
    WorkflowExecution,
    WorkflowType,
)
from temporalio.api.query.v1 import WorkflowQuery
from temporalio.api.sdk.v1 import UserMetadata
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    QueryWorkflowRequest,
    RecordActivityTaskHeartbeatByIdRequest,
    SignalWithStartWorkflowExecutionRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
)
from temporalio.client import ScheduleActionExecutionStartWorkflow, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from interpreter.contract import names
from interpreter.contract.records import RunState
from interpreter.contract.runs import Binding
from tests.fixtures.definitions import finish
from tests.recovery.conftest import READ, SEND, Site, call
from tests.recovery.test_reconciler import PAUSED
from tests.recovery.test_signals import PAID
from tests.recovery.test_strangers import CLEAR, done_by_hand, execution, foreign, paid
from tests.recovery.test_temporal_tools import asked

JUNK = Payload(metadata={"encoding": b"junk"}, data=b"\xff{")
WORD = Payload(metadata={"encoding": b"json/plain"}, data=b'"by hand"')
HEADER = Header(fields={"_tracer-data": JUNK, "another": WORD})
ATTRIBUTES = SearchAttributes(
    indexed_fields={
        "BuildIds": Payload(
            metadata={"encoding": b"json/plain", "type": b"KeywordList"}, data=b'["by hand"]'
        )
    }
)
FIRST = "main/send:1:1"


def clear(*payloads: Payload) -> Payloads:
    """What a stranger sends."""
    return Payloads(payloads=payloads or [WORD])


async def not_admitted(site: Site, identity: str) -> bool:
    """Whether an execution failed because the ledger did not admit it."""
    with pytest.raises(WorkflowFailureError) as failed:
        await site.client.get_workflow_handle(identity).result()
    cause = failed.value.cause
    return isinstance(cause, ApplicationError) and cause.type == names.NOT_ADMITTED


@pytest.mark.parametrize("payload", [WORD, JUNK])
async def test_a_heartbeat_by_hand_keeps_no_attempt_from_being_made(
    site: Site, payload: Payload
) -> None:
    look = call(READ, "done")
    # Shorter than the time after which an attempt leaves a heartbeat of its own.
    look["policy"] |= {"attempts": 3, "attemptTimeoutSeconds": 1}
    site.pretend.fault(READ, "slow", seconds=2)
    async with site.worker():
        remote = Binding(dispatch={"breg": "remote"})
        run_id = await site.start({"look": look, "done": finish()}, binding=remote)
        await asked(site, READ)
        beat = RecordActivityTaskHeartbeatByIdRequest(
            namespace="default",
            workflow_id=await execution(site, run_id),
            activity_id="main/look:1:1",
            details=clear(payload),
        )
        await site.client.workflow_service.record_activity_task_heartbeat_by_id(beat)
        # The first attempt takes too long, and the next one finds what stands there.
        await site.until(run_id, RunState.FINISHED, RunState.FAILED)
    assert (await site.status(run_id)).state is RunState.FINISHED
    assert len(site.pretend.requests(READ)) == 2


async def test_headers_by_hand_are_nothing_to_a_run(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        run = WorkflowExecution(workflow_id=await execution(site, run_id))
        signal = SignalWorkflowExecutionRequest(
            namespace="default",
            workflow_execution=run,
            signal_name="another",
            input=clear(JUNK),
            header=HEADER,
            request_id=str(uuid.uuid4()),
        )
        await site.client.workflow_service.signal_workflow_execution(signal)
        query = QueryWorkflowRequest(
            namespace="default",
            execution=run,
            query=WorkflowQuery(query_type="x", query_args=clear(), header=HEADER),
        )
        with pytest.raises(RPCError):
            await site.client.workflow_service.query_workflow(query)
        assert await paid(site, run_id, {"amount": 2}) == "completed"
        await site.until(run_id, RunState.FINISHED)


def start_by_hand(site: Site, identity: str, **facts: Any) -> StartWorkflowExecutionRequest:
    """A start with everything that a start may carry."""
    return StartWorkflowExecutionRequest(
        namespace="default",
        workflow_id=identity,
        workflow_type=WorkflowType(name="recovery"),
        task_queue=TaskQueue(name=site.queue),
        input=clear(),
        header=HEADER,
        search_attributes=ATTRIBUTES,
        user_metadata=UserMetadata(summary=WORD, details=JUNK),
        request_id=str(uuid.uuid4()),
        **facts,
    )


async def test_a_start_by_hand_with_all_that_it_may_carry_fails_at_once(site: Site) -> None:
    identity = f"recovery/{uuid.uuid4()}/1"
    async with site.worker():
        await site.client.workflow_service.start_workflow_execution(start_by_hand(site, identity))
        assert await not_admitted(site, identity)


@pytest.mark.parametrize("ended", [False, True])
async def test_a_signal_with_a_start_changes_no_run(site: Site, ended: bool) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        if ended:
            assert await paid(site, run_id, {"amount": 2}) == "completed"
            await site.until(run_id, RunState.FINISHED)
            await site.ended(run_id)
        identity = await execution(site, run_id)
        asked_for = start_by_hand(site, identity)
        request = SignalWithStartWorkflowExecutionRequest(
            namespace="default",
            workflow_id=identity,
            workflow_type=asked_for.workflow_type,
            task_queue=asked_for.task_queue,
            input=clear(),
            signal_name="another",
            signal_input=clear(JUNK),
            header=HEADER,
            request_id=str(uuid.uuid4()),
        )
        await site.client.workflow_service.signal_with_start_workflow_execution(request)
        if ended:
            assert await not_admitted(site, identity)
        else:
            assert await paid(site, run_id, {"amount": 2}) == "completed"
        await site.until(run_id, RunState.FINISHED)
    assert (await site.status(run_id)).output == {"amount": 2}
    assert (await foreign(site, run_id))[:1] == ["clear"]


async def test_a_schedule_by_hand_starts_nothing(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        identity, name = await execution(site, run_id), f"by-hand-{uuid.uuid4()}"
        action = ("--type", "recovery", "--task-queue", site.queue, "--workflow-id", identity)
        made = ("schedule", "create", "--schedule-id", name, "--interval", "1h", *action)
        await done_by_hand(site, *made, "--input", CLEAR)
        await done_by_hand(site, "schedule", "trigger", "--schedule-id", name)
        try:
            async with asyncio.timeout(20):
                while not (started := await executions_of(site, name)):
                    await asyncio.sleep(0.1)
            assert await not_admitted(site, started[0])
        finally:
            await done_by_hand(site, "schedule", "delete", "--schedule-id", name)
        assert (await site.status(run_id)).state is RunState.WAITING


async def executions_of(site: Site, schedule: str) -> list[str]:
    """The workflows that a schedule has started."""
    described = await site.client.get_schedule_handle(schedule).describe()
    return [
        one.action.workflow_id
        for one in described.info.recent_actions
        if isinstance(one.action, ScheduleActionExecutionStartWorkflow)
    ]


@pytest.mark.parametrize("verbs", [("pause", "unpause"), ("update-options",)])
async def test_an_activity_that_is_held_up_by_hand_sends_once(
    site: Site, verbs: tuple[str, ...]
) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=2)
    async with site.worker():
        run_id = await site.start(PAUSED)
        await asked(site)
        identity = await execution(site, run_id)
        for verb in verbs:
            options = ("--retry-maximum-attempts", "1") if verb == "update-options" else ()
            where = ("-w", identity, "--activity-id", FIRST)
            await done_by_hand(site, "activity", verb, *where, *options)
        await site.until(run_id, RunState.WAITING, RunState.ATTENTION)
    assert (len(site.applied()), len(site.keys())) == (1, 1)
