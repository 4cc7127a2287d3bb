"""What an attempt does around its send: when its budget begins, and when it stays local."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities import ports
from activities.calls.attempt import Attempt
from activities.calls.perform import MOST_LOCAL, NOT_ON_RECORD, Performer, heartbeat_while
from activities.catalogue import Catalogue
from activities.errors import LedgerUnavailable
from activities.products import Products, Sent
from interpreter.contract import names
from interpreter.contract.calls import CallRequest
from interpreter.contract.effects import Reply, ReplyKind, VisitRef

SEND, READ, ASK = "messaging.submit-message/v1", "breg.read-record/v1", "evaluation.evaluate/v1"
ACT = "breg.invoke-action/v1"
LIMITS = ports.Limits(3, 1.0, 1.0, 2.0, 60.0)
ACCEPTED = Reply(ReplyKind.ACCEPTED, {"id": "m1"})
ONLY_ASKED = Reply(ReplyKind.NOT_PERMITTED, code=ports.ONLY_ASKED)
OLDER = Reply(ReplyKind.UNKNOWN, code="older-than-restore")
STANDING = [
    *[
        Reply(ReplyKind.NOT_PERMITTED, code=code)
        for code in ("deadline", "cancel", "hold", "run-closed", "withdrawn")
    ],
    OLDER,
]


@dataclass
class Pretending:
    """Ledger, book and products in one; a commit takes ``commit_seconds``."""

    operation: str
    connection: str = "line"
    commit_seconds: float = 0.0
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    ends: list[float] = field(default_factory=list)
    claimed_at: float = 0.0
    cut_off: bool = False
    withdrawn: list[str] = field(default_factory=list)
    standing: Reply | None = None
    prepared: int = 0

    def performer(self) -> Performer:
        """What is tested, over this."""
        return Performer(cast(Any, self), cast(Any, self), cast(Products, self))

    async def call(self, run_id: str, node: str) -> ports.CallFacts:
        """What the definition pins about the call."""
        contract = Catalogue.standard().find(self.operation).contract
        return ports.CallFacts(contract, self.connection, LIMITS)

    def allows_local(self, connection: str) -> bool:
        """No product is slow."""
        return True

    async def claim(self, claim: ports.Claim) -> ports.ClaimAnswer:
        """Permission, once the commit is through."""
        self.claimed_at = time.monotonic()
        await asyncio.sleep(self.commit_seconds)
        if claim.only_asks:
            return ports.Settled(self.standing or ONLY_ASKED)
        if self.cut_off:
            raise LedgerUnavailable("ledger.unavailable", "the line broke in the commit")
        return ports.Dispatched("key", claim.command, 1, unresolved=False, position=7)

    async def saved(self, effect: VisitRef) -> None:
        """Nothing was asked for before."""

    async def prepare(self, contract: Any, connection: str, value: Any) -> dict[str, str]:
        """What the product would have to say before."""
        self.prepared += 1
        return {}

    async def withdraw(self, effect: VisitRef, token: str) -> None:
        """Remember what was taken back."""
        self.withdrawn.append(effect.id)

    async def send(
        self, command: ports.Command, contract: Any, key: str | None, deadline: float
    ) -> Sent:
        """Accepted, once the product may answer."""
        self.ends.append(deadline)
        await self.answered.wait()
        return Sent(ACCEPTED)

    async def settle(self, settlement: ports.Settlement) -> Reply:
        """On record."""
        return settlement.reply

    async def read_outcome(self, outcome: ports.ReadOutcome) -> Reply:
        """On record."""
        return outcome.reply


def attempt(operation: str, *, local: bool) -> Attempt:
    """An attempt of one call."""
    return Attempt(VisitRef("run", "main", "call", 1), 1, "main/call:1:1", operation, local)


async def performed(
    performer: Performer, operation: str, *, local: bool = True
) -> Reply | BaseException:
    """The reply of one attempt, or its error."""
    request = CallRequest({}, 1)
    working = performer.perform(attempt(operation, local=local), request)
    [done] = await asyncio.gather(working, return_exceptions=True)
    return done


def left(outcome: Reply | BaseException) -> bool:
    """Whether a local attempt has left the call to a remote one."""
    return isinstance(outcome, ApplicationError) and outcome.type == names.GO_REMOTE


async def test_the_send_budget_begins_before_the_permission_is_committed() -> None:
    world = Pretending(SEND, commit_seconds=0.3)
    world.answered.set()
    assert await performed(world.performer(), SEND, local=False) == ACCEPTED
    [end] = world.ends
    assert end <= world.claimed_at + LIMITS.send_budget


async def test_a_permission_of_unknown_fate_is_withdrawn_and_nothing_is_sent() -> None:
    world = Pretending(SEND, cut_off=True)
    failed = await performed(world.performer(), SEND, local=False)
    assert isinstance(failed, LedgerUnavailable)
    assert (world.withdrawn, world.ends) == (["main/call:1"], [])


@pytest.mark.parametrize("standing", STANDING, ids=lambda reply: reply.code)
async def test_what_may_not_be_sent_is_not_prepared_either(standing: Reply) -> None:
    world = Pretending(ACT, standing=standing)
    world.answered.set()
    done = await performed(world.performer(), ACT, local=False)
    if standing.code == "hold":
        assert isinstance(done, ApplicationError)
        assert (done.type, done.next_retry_delay) == (names.HELD, timedelta(seconds=30))
    else:
        assert done == standing
    assert (world.prepared, world.ends) == (0, [])
    world.standing = None
    assert await performed(world.performer(), ACT, local=False) == ACCEPTED
    assert world.prepared == 1


@pytest.mark.parametrize("standing", [None, OLDER])
async def test_a_question_about_an_effect_prepares_nothing(standing: Reply | None) -> None:
    world = Pretending(ACT, standing=standing)
    asks = CallRequest({}, 1, only_asks=True)
    told = await world.performer().perform(attempt(ACT, local=False), asks)
    assert told == (standing or ONLY_ASKED)
    assert (world.prepared, world.ends) == (0, [])


async def test_an_attempt_leaves_with_temporal_how_far_the_ledger_was() -> None:
    world = Pretending(SEND)
    world.answered.set()
    made = attempt(SEND, local=False)
    await world.performer().perform(made, CallRequest({}, 1))
    assert made.progress.seen == 7


@pytest.mark.parametrize(("operation", "leaves"), [(SEND, False), (READ, False), (ASK, True)])
async def test_what_nothing_may_repeat_is_never_sent_locally(operation: str, leaves: bool) -> None:
    world = Pretending(operation)
    world.answered.set()
    assert left(await performed(world.performer(), operation)) is leaves
    assert len(world.ends) == (0 if leaves else 1)


async def test_one_connection_never_takes_every_place_of_local_attempts() -> None:
    slow = Pretending(READ)
    performer = slow.performer()
    working = [asyncio.create_task(performed(performer, READ)) for _ in range(MOST_LOCAL)]
    await asyncio.sleep(0.05)
    assert left(await performed(performer, READ))
    slow.connection = "another"
    slow.answered.set()
    assert await performed(performer, READ) == ACCEPTED
    assert not any(map(left, await asyncio.gather(*working)))
    slow.connection = "line"
    assert await performed(performer, READ) == ACCEPTED


@pytest.mark.parametrize("operation", [SEND, ACT])
async def test_what_is_to_be_sent_again_and_is_not_on_record_is_not_made_up(operation: str) -> None:
    world = Pretending(operation)
    world.answered.set()
    again = CallRequest(None, 1)
    reply = await world.performer().perform(attempt(operation, local=False), again)
    assert reply == Reply(ReplyKind.NOT_PERMITTED, code=NOT_ON_RECORD)
    assert (world.claimed_at, world.prepared, world.ends) == (0.0, 0, [])


async def test_a_cancel_does_not_interrupt_what_was_dispatched() -> None:
    world = Pretending(SEND)
    made = attempt(SEND, local=False)
    environment = ActivityEnvironment()

    async def work() -> Reply:
        performing = asyncio.create_task(world.performer().perform(made, CallRequest({}, 1)))
        return await heartbeat_while(performing, 0.05, made.progress)

    working = asyncio.create_task(environment.run(work))
    while not world.ends:
        await asyncio.sleep(0.01)
    environment.cancel()
    await asyncio.sleep(0.1)
    world.answered.set()
    assert await working == ACCEPTED
