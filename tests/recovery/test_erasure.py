"""Erasure reaches what Temporal has: its histories stay, and nobody can read them any more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import WorkflowSerializationContext
from temporalio.exceptions import ApplicationError

from adapter.crypto import Sealer
from adapter.ledger import Ledger
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.sealing import codec_of
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import SEND, Site, call

ONE_CALL = {"send": call(SEND, "done"), "done": finish()}


@pytest.fixture
async def elsewhere(site: Site, database_url: str, temporal_address: str) -> AsyncIterator[Client]:
    """Temporal as another process of the deployment reads it."""
    keys = site.key_ring
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=2) as ledger:
        yield await connect(TemporalAddress(temporal_address), codec_of(ledger))


async def test_what_temporal_still_has_of_an_erased_run_can_not_be_read(
    site: Site, elsewhere: Client
) -> None:
    run_id = await site.start(ONE_CALL)
    async with site.worker():
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    handle = await site.handle(run_id)
    before = await handle.result()
    assert await site.ledger.retention.retain("ops", datetime.now(UTC), 1) == 1
    for client in (site.client, elsewhere):
        with pytest.raises(ApplicationError, match="erased"):
            await client.get_workflow_handle(handle.id).result()
    assert before is not None


async def test_every_payload_of_a_run_s_history_is_under_its_data_key(site: Site) -> None:
    run_id = await site.start(ONE_CALL)
    async with site.worker():
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    history = await (await site.handle(run_id)).fetch_history()
    payloads = [payload for event in history.events for payload in _payloads(event)]
    assert payloads
    await site.ledger.retention.retain("ops", datetime.now(UTC), 1)
    where = WorkflowSerializationContext("default", (await site.handle(run_id)).id)
    codec = codec_of(site.ledger).with_context(where)
    for payload in payloads:
        with pytest.raises(ApplicationError, match="erased"):
            await codec.decode([payload])


def _payloads(message: object) -> list[Payload]:
    """Every payload inside a protobuf message."""
    if isinstance(message, Payload):
        return [message]
    found: list[Payload] = []
    for _, value in getattr(message, "ListFields", list)():
        if hasattr(value, "values"):
            value = list(value.values())
        for part in value if hasattr(value, "__iter__") else [value]:
            if hasattr(part, "ListFields"):
                found += _payloads(part)
    return found
