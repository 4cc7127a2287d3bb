"""What Temporal says of a deployment's executions as a whole."""

from __future__ import annotations

from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from adapter.errors import Unavailable
from adapter.temporal.namespace import facts_of


@pytest.mark.parametrize("queue", ["quiet", 'a "quoted" one', "back\\slash", "it's"])
async def test_a_queue_of_any_name_is_asked_about(temporal_client: Client, queue: str) -> None:
    facts = await facts_of(temporal_client, queue)
    assert (facts.retention >= timedelta(days=1), facts.failing) == (True, 0)


async def test_a_server_that_does_not_tell_is_no_outage(
    temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise RPCError("no such search attribute", RPCStatusCode.INVALID_ARGUMENT, b"")

    monkeypatch.setattr(temporal_client, "count_workflows", refuse)
    assert (await facts_of(temporal_client, "quiet")).failing is None


async def test_a_namespace_that_is_not_there_is_unavailable(temporal_address: str) -> None:
    elsewhere = await Client.connect(temporal_address, namespace="elsewhere")
    with pytest.raises(Unavailable) as refusal:
        await facts_of(elsewhere, "quiet")
    said = refusal.value
    assert (said.code, said.place) == ("temporal.unavailable", "temporal.address")
