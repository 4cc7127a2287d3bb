"""What Temporal holds of real runs: every payload sealed, on every surface."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.api.workflowservice.v1 import DescribeScheduleRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowHistory
from temporalio.converter import WorkflowSerializationContext
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from adapter.crypto import KeyRing, Sealer
from adapter.ledger import ActKind, Ledger
from adapter.temporal.codec import LARGEST_INLINE
from adapter.temporal.stamps import ENCODING
from interpreter.contract.records import RunState
from interpreter.workflow.run import InterpretedRun
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ONE_MESSAGE, REVIEW, SEND, Site, call
from tests.recovery.going_back import connected, own_server
from tests.recovery.test_signals import PAID, wait
from tests.recovery.test_strangers import foreign, paid
from tests.recovery.test_temporal_tools import reset_workflow

SAID = {"amount": 1, "of": "Ada Lovelace"}
WORDS = (b"Lovelace", b"lindqvist", b"Maya", b"APP-1001")
FOLLOWED = {
    "submit": call(REVIEW, "review"),
    "review": {
        "kind": "wait",
        "wait": {
            "type": "completion",
            "call": "submit",
            "completion": "result",
            "timeoutSeconds": 99,
        },
        "outlets": {"completed": "send"},
    },
    "send": call(SEND, "wait"),
    "wait": wait("done"),
    "done": finish("done", {"step": "wait"}),
}


@pytest.fixture
async def at_rest(site: Site, tmp_path: Path) -> AsyncIterator[tuple[Site, Path]]:
    """The site over a Temporal of its own, and the folder of that one's data."""
    async with own_server(tmp_path / "temporal" / "now.db") as server:
        yield site.beside(client=await connected(site, server)), tmp_path / "temporal"
        site.started.clear()


def messages(message: Message) -> Iterator[Message]:
    """A message and everything inside it."""
    yield message
    for field, value in message.ListFields():
        if field.type != FieldDescriptor.TYPE_MESSAGE:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            values = [one for one in value.values() if isinstance(one, Message)]
        elif field.is_repeated:
            values = list(value)
        else:
            values = [value]
        for one in values:
            yield from messages(one)


def require_sealed(message: Message) -> int:
    """How many payloads a message holds, every one of them sealed, and no failure with words."""
    sealed = 0
    for one in messages(message):
        if isinstance(one, Payload) and not _bookkeeping(one):
            assert one.metadata["encoding"] == ENCODING, one
            sealed += 1
        if isinstance(one, Failure) and one.HasField("application_failure_info"):
            assert (one.message, one.stack_trace) == ("Encoded failure", "")
    return sealed


def _bookkeeping(payload: Payload) -> bool:
    """True for what Temporal's server or the core of its SDK writes by itself.

    Search attributes have a type, a local activity's marker the time of its end.
    """
    server = "type" in payload.metadata or payload.data == b'"ACTIVITY_ID_NOT_STARTED"'
    return server or b'"complete_time"' in payload.data


async def plain(site: Site) -> Client:
    """A client without keys."""
    return await Client.connect(site.client.service_client.config.target_host)


async def test_every_payload_of_a_run_is_sealed_and_no_word_is_at_rest(
    at_rest: tuple[Site, Path],
) -> None:
    site, folder = at_rest
    site.pretend.fault(SEND, "lost-response")
    await site.reconciliation.may_poll()
    without_keys = await plain(site)
    async with site.worker():
        run_id = await site.start(FOLLOWED)
        await site.until(run_id, RunState.WAITING)
        handle = without_keys.get_workflow_handle((await site.handle(run_id)).id)
        while not (await handle.describe()).raw_description.pending_activities:
            await asyncio.sleep(0.05)
        require_sealed((await handle.describe()).raw_description)
        [review] = site.pretend.reviews()
        site.pretend.decide(review.review_request_id, "approved")
        await handle.signal("coordinator.hint")
        await site.until(run_id, RunState.ATTENTION)
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
        await site.until(run_id, RunState.WAITING)
        assert await paid(site, run_id, SAID) == "completed"
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert (await site.status(run_id)).output == SAID
    events = (await handle.fetch_history()).events
    assert sum(require_sealed(event) for event in events) > 20
    asked = DescribeScheduleRequest(namespace="default", schedule_id=site.schedule.id)
    schedule = await without_keys.workflow_service.describe_schedule(asked)
    assert require_sealed(schedule) == 1
    assert await foreign(site, run_id) == []
    for file in folder.iterdir():
        at_rest_there = file.read_bytes()
        assert [word for word in WORDS if word in at_rest_there] == []


async def test_failures_are_sealed_and_their_codes_are_not(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=60)
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        handle = (await plain(site)).get_workflow_handle((await site.handle(run_id)).id)
        while not (waiting := await pending_failures(handle)):
            await asyncio.sleep(0.05)
        [failure] = waiting
        assert require_sealed(failure) > 0
        assert failure.application_failure_info.type
        await handle.cancel()
        await site.until(run_id, RunState.CANCELLED)
        await site.ended(run_id)
    for event in (await handle.fetch_history()).events:
        require_sealed(event)
    assert await foreign(site, run_id) == []


async def test_large_payloads_are_in_the_ledger_and_the_run_replays_with_them(
    site: Site,
) -> None:
    said = {"amount": 1, "of": random.Random(1).randbytes(LARGEST_INLINE).hex()}
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        assert await paid(site, run_id, said) == "completed"
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    assert (await (await site.handle(run_id)).result())["output"] == said
    kept = "select count(*) from coordinator.payloads where run_id = %s"
    [(stored,)] = await site.sql(kept, run_id)
    assert stored > 1
    raw = (
        await (await plain(site))
        .get_workflow_handle((await site.handle(run_id)).id)
        .fetch_history()
    )
    assert len(raw.to_json()) < LARGEST_INLINE
    await replay(site, raw)
    assert await site.sql(kept, run_id) == [(stored,)]


async def test_runs_go_on_when_the_state_key_was_rotated(site: Site, database_url: str) -> None:
    async with site.worker():
        before = await site.start(PAID)
        await site.until(before, RunState.WAITING)
    ring = site.key_ring
    versions = {**ring.versions, 2: KeyRing.generate().versions[1]}
    keys = KeyRing(versions, 2, ring.admission, ring.admission_active)
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=4) as ledger:
        later = site.beside(ledger)
        async with later.worker():
            after = await later.start(PAID)
            await later.until(after, RunState.WAITING)
            for run_id in (before, after):
                assert await paid(later, run_id, SAID) == "completed"
                await later.until(run_id, RunState.FINISHED)
                await later.ended(run_id)
                assert await foreign(later, run_id) == []


async def test_an_erased_run_can_not_be_brought_back(site: Site) -> None:
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        await (await site.handle(run_id)).cancel()
        await site.ended(run_id)
        handle = await site.handle(run_id)
        now = datetime.now(UTC) - timedelta(milliseconds=1)
        assert await site.ledger.retention.retain("ops", now, 100) == 1
        context = WorkflowSerializationContext("default", handle.id)
        with pytest.raises(ApplicationError, match="destroyed"):
            await site.client.data_converter.with_context(context).decode(
                await start_payloads(handle)
            )
        await reset_workflow(site, run_id)
        with pytest.raises(WorkflowFailureError) as failed:
            await (await site.handle(run_id)).result()
    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.type == "seal.erased"


async def pending_failures(handle: WorkflowHandle[Any, Any]) -> list[Failure]:
    """The last failures of what is retried."""
    described = (await handle.describe()).raw_description
    return [one.last_failure for one in described.pending_activities if one.attempt > 1]


async def start_payloads(handle: WorkflowHandle[Any, Any]) -> list[Payload]:
    """The start input as Temporal has it."""
    event = (await handle.fetch_history()).events[0]
    return list(event.workflow_execution_started_event_attributes.input.payloads)


async def replay(site: Site, history: WorkflowHistory) -> None:
    """Replay a history with the deployment's keys."""
    replayer = Replayer(
        workflows=[InterpretedRun],
        data_converter=site.client.data_converter,
        namespace="default",
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    await replayer.replay_workflow(history)
