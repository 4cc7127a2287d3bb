"""The promise that it never guesses, over many random histories of attempts and late answers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from activities.ports import Busy, Claim, Dispatched
from adapter.ledger import Ledger, Standing
from interpreter.contract.effects import Reply, ReplyKind, VisitRef
from interpreter.contract.operations import OperationContract
from tests.adapter.ledger.words import (
    EVALUATION,
    MUTATION,
    accepted,
    answer,
    claim,
    effect,
    lapse,
    refused,
    retryable,
    unknown,
)

Sql = Callable[..., Awaitable[list[Any]]]


@dataclass
class Product:
    """A product that may apply a command; its answers are true, but may be late or lost."""

    chance: random.Random
    applied: bool = False
    sent: list[tuple[Claim, Reply | None]] = field(default_factory=list)

    def send(self, claimed: Claim) -> None:
        """Take one send; its answer may be lost for good."""
        if self.applied:
            reply = self.chance.choice([accepted(), accepted(), refused(), retryable()])
        elif self.chance.random() < 0.5:
            self.applied, reply = True, accepted()
        else:
            reply = self.chance.choice([refused(), retryable()])
        lost = self.chance.choice([None, None, unknown(), reply, reply, reply])
        self.sent.append((claimed, lost))


async def history(
    ledger: Ledger, sql: Sql, reference: VisitRef, what: OperationContract, chance: random.Random
) -> Product:
    """Claims, lapses and answers in a random order; every answer that is not lost arrives."""
    product = Product(chance)
    for _ in range(chance.randint(2, 9)):
        match chance.choice(["claim", "claim", "lapse", "answer"]):
            case "claim":
                claimed = claim(reference, what)
                if isinstance(await ledger.effects.claim(claimed), Dispatched):
                    product.send(claimed)
            case "lapse":
                await lapse(sql)
            case "answer" if product.sent:
                claimed, reply = product.sent.pop(chance.randrange(len(product.sent)))
                if reply is not None:
                    await ledger.effects.settle(answer(claimed, reply))
    for claimed, reply in product.sent:
        if reply is not None:
            await ledger.effects.settle(answer(claimed, reply))
    return product


@pytest.mark.parametrize("what", [MUTATION, EVALUATION], ids=["mutation", "evaluation"])
async def test_the_record_never_says_more_than_the_product_proved(
    ledger: Ledger, run_id: str, sql: Sql, what: OperationContract
) -> None:
    chance = random.Random(20_261_201)
    products = {}
    for number in range(60):
        reference = effect(run_id, f"n{number}")
        products[reference.id] = await history(ledger, sql, reference, what, chance)
    views = (await ledger.reads.inspect(run_id, None)).effects
    seen = {view.standing for view in views}
    for view in views:
        applied = products[view.reference].applied
        assert view.standing is not Standing.ACCEPTED or applied, view
        assert view.standing is not Standing.NOT_APPLIED or not applied, view
    assert {Standing.ACCEPTED, Standing.NOT_APPLIED, Standing.UNKNOWN} <= seen


async def test_of_many_claims_at_once_exactly_one_may_send(ledger: Ledger, run_id: str) -> None:
    claims = [ledger.effects.claim(claim(effect(run_id))) for _ in range(8)]
    answers = await asyncio.gather(*claims)
    assert sorted(type(one).__name__ for one in answers) == ["Busy"] * 7 + ["Dispatched"]
    assert all(isinstance(one, Busy | Dispatched) for one in answers)


async def test_an_evaluation_is_sent_once_whatever_happens(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    sends = 0
    for _ in range(5):
        sends += isinstance(
            await ledger.effects.claim(claim(effect(run_id), EVALUATION)), Dispatched
        )
        await lapse(sql)
    assert sends == 1


async def test_answers_that_arrive_together_leave_one_reply(
    ledger: Ledger, run_id: str, sql: Sql
) -> None:
    first, second = claim(effect(run_id)), claim(effect(run_id))
    await ledger.effects.claim(first)
    await lapse(sql)
    await ledger.effects.claim(second)
    await asyncio.gather(
        ledger.effects.settle(answer(first, accepted("one"))),
        ledger.effects.settle(answer(second, refused())),
    )
    resolved = await ledger.effects.resolve(effect(run_id), MUTATION)
    assert isinstance(resolved, Reply)
    assert resolved.kind is ReplyKind.ACCEPTED
