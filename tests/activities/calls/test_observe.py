"""A poll whose source has nothing yet: when it is made again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from temporalio.exceptions import ApplicationError

from activities import ports
from activities.calls.attempt import Attempt
from activities.calls.observe import Observer, WaitTimes
from activities.catalogue import Catalogue
from activities.products import Products, Sent
from interpreter.contract.calls import ObserveRequest, WaitEnd
from interpreter.contract.effects import Reply, ReplyKind, VisitRef

PENDING = Sent(Reply(ReplyKind.ACCEPTED, {"state": "pending"}))
SUBMIT, READ = "casework.submit-review-request/v1", "casework.read-review-request/v1"


@dataclass
class Pretending:
    """Ledger, book and product in one, of a wait that is due and has ``remaining`` seconds left."""

    remaining: float
    hinted: bool = False
    answer: Sent = PENDING
    on_record: str = "completed"

    async def observation(self, run_id: str, node: str) -> ports.ObservationFacts:
        """What the definition pins about the wait."""
        find = Catalogue.standard().find
        completion = find(SUBMIT).contract.completions["result"]
        return ports.ObservationFacts(completion, find(READ).contract, "reviews")

    async def observation_due(self, *asked: Any) -> ports.ObservationDue:
        """It may be read now."""
        return ports.ObservationDue(0.0, 0, self.remaining)

    async def observed(self, *counted: Any) -> bool:
        """Whether a hint came meanwhile."""
        return self.hinted

    async def resolve_wait(self, *asked: Any) -> str:
        """How the wait has ended as the ledger says."""
        return self.on_record

    async def send(self, *asked: Any) -> Sent:
        """What the product says."""
        return self.answer


async def observed(world: Pretending) -> WaitEnd:
    """How a poll says that its wait has ended."""
    observer = Observer(cast(Any, world), cast(Any, world), cast(Products, world), WaitTimes())
    visit = VisitRef("run", "main", "wait", 1)
    attempt = Attempt(visit, 1, "main/wait:1:1", READ, is_local=False)
    until_ms = int((time.time() + world.remaining) * 1000)
    return await observer.observe(attempt, ObserveRequest({}, 3, until_ms), datetime.now(UTC))


async def pause_after(world: Pretending) -> float:
    """For how many seconds a poll waits after its look."""
    with pytest.raises(ApplicationError) as again:
        await observed(world)
    delay = again.value.next_retry_delay
    assert delay is not None
    return delay.total_seconds()


@pytest.mark.parametrize(
    ("remaining", "hinted", "pause"),
    [(5_000.0, False, 900.0), (5_000.0, True, 30.0), (12.0, False, 12.0), (12.0, True, 12.0)],
)
async def test_a_wait_ends_at_its_time_however_long_a_poll_would_pause(
    remaining: float, hinted: bool, pause: float
) -> None:
    assert await pause_after(Pretending(remaining, hinted)) == pause


@pytest.mark.parametrize(("hinted", "asked", "pause"), [(True, 90.0, 90.0), (False, 90.0, 900.0)])
async def test_a_product_that_asks_to_be_left_alone_is_not_looked_at_sooner(
    hinted: bool, asked: float, pause: float
) -> None:
    busy = Sent(Reply(ReplyKind.RETRYABLE, code="rate-limited"), retry_after=asked)
    assert await pause_after(Pretending(5_000.0, hinted, busy)) == pause


@pytest.mark.parametrize(
    ("on_record", "end"),
    [("completed", WaitEnd("completed", {"decision": "yes"})), ("expired", WaitEnd("expired"))],
)
async def test_what_is_on_record_of_a_wait_wins_over_what_its_poll_has_found(
    on_record: str, end: WaitEnd
) -> None:
    found = {"state": "completed", "result": {"decision": "yes"}}
    answer = Sent(Reply(ReplyKind.ACCEPTED, found))
    assert await observed(Pretending(5_000.0, False, answer, on_record)) == end
