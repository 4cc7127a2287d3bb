"""Waits of months with a poll every 900 seconds: what they leave in Temporal and in the ledger."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.contract.records import RunState
from tests.fixtures.admitted import catalogue_definition, start_admitted
from tests.fixtures.definitions import finish
from tests.long.conftest import Years
from tests.recovery.conftest import REVIEW, WITHDRAW, call

_DAY = 86_400
_POLL_SECONDS = 900
_MOST_EVENTS = 100
_CONNECTIONS = {"casework": "casework"}


def reviewed(seconds: int) -> dict[str, Any]:
    """Ask for a review, wait so long for its result, and withdraw it when there is none."""
    review = {"step": "submit", "path": "/reviewRequestId"}
    undo = {"object": {"reviewRequestId": review, "reason": {"literal": "too late"}}}
    wait = {
        "type": "completion",
        "call": "submit",
        "completion": "result",
        "timeoutSeconds": seconds,
    }
    return {
        "submit": call(REVIEW, "wait"),
        "wait": {
            "kind": "wait",
            "wait": wait,
            "outlets": {"completed": "done", "expired": "undo"},
        },
        "undo": call(WITHDRAW, "expired", undo),
        "done": finish(),
        "expired": finish("expired"),
    }


@pytest.mark.parametrize(
    "days",
    [
        pytest.param(10, marks=pytest.mark.timeout(240)),
        pytest.param(400, marks=[pytest.mark.exhaustive, pytest.mark.timeout(3_600)]),
    ],
)
async def test_a_wait_that_nobody_ends_stays_small_and_expires(years: Years, days: int) -> None:
    seconds = days * _DAY
    nodes = catalogue_definition(reviewed(seconds), _CONNECTIONS, deadline=seconds + _DAY)
    async with years.worker():
        run_id = await start_admitted(years.ledger, years.client, years.queue, nodes)
        handle = years.client.get_workflow_handle(f"{nodes.id}/{run_id}/1")
        assert (await years.result(handle))["outcome"] == "expired"
    history = [event async for event in handle.fetch_history_events()]
    assert len(history) < _MOST_EVENTS
    found = await years.ledger.reads.inspect(run_id, None)
    [wait] = found.waits
    assert (found.run.state, wait.resolution) == (RunState.FINISHED, "expired")
    polls = seconds // _POLL_SECONDS
    assert polls - 2 <= wait.observations <= polls
    assert years.pretend.received()["casework.read-review-request"] == wait.observations
    assert [review.state for review in years.pretend.reviews()] == ["withdrawn"]
    assert [effect.applied for effect in years.pretend.effects()] == [1, 1]
