"""A worker that dies at any point of an effect leaves the right word about it, and one send at most
that nobody can answer for.

What is expected follows from two facts: whether the product was asked before the death, and what
the operation's recovery allows about a command that may have been sent.
"""

from __future__ import annotations

from typing import Any

import pytest

from activities.faults import Point
from adapter.ledger import ActKind
from interpreter.contract.records import RunState
from tests.crash.conftest import Crashing
from tests.fixtures.definitions import finish
from tests.recovery.conftest import ASK, READ, REVIEW, SEND, call

RECOVERIES = {
    "read-again": READ,
    "same-command": REVIEW,
    "same-command-and-receipt": SEND,
    "hold-after-dispatch": ASK,
}
POINTS: tuple[Point, ...] = (
    "before-claim",
    "before-send",
    "after-send",
    "after-answer",
    "after-settle",
)
_ASKED: tuple[Point, ...] = ("after-send", "after-answer", "after-settle")
_IN_DOUBT: tuple[Point, ...] = ("before-send", "after-send", "after-answer")
# One of each kind of outcome; the whole table is `make crash`.
_QUICK = {("same-command-and-receipt", "after-answer"), ("hold-after-dispatch", "before-send")}
_QUICK_LOCAL = {("read-again", "after-answer")}

pytestmark = pytest.mark.timeout(240)


def one_call(operation: str) -> dict[str, Any]:
    """A workflow of one call whose attempts and leases are short."""
    node = call(operation, "done")
    return {"send": {**node, "policy": {"attemptTimeoutSeconds": 1}}, "done": finish()}


def table(
    points: tuple[Point, ...], recoveries: list[str], quick: set[tuple[str, str]]
) -> pytest.MarkDecorator:
    """Every recovery at every point; what is not quick is left to the whole table."""
    return pytest.mark.parametrize(
        ("recovery", "point"),
        [
            pytest.param(
                recovery,
                point,
                marks=[] if (recovery, point) in quick else [pytest.mark.exhaustive],
            )
            for recovery in recoveries
            for point in points
        ],
    )


async def one_death(
    crashing: Crashing, recovery: str, point: Point, dispatch: str, **options: Any
) -> str:
    """A run whose first worker died at this point, as the second worker leaves it."""
    run_id = await crashing.start(one_call(RECOVERIES[recovery]), dispatch=dispatch, **options)
    await crashing.dies_at(point)
    await crashing.worker()
    await crashing.settled(run_id)
    return run_id


async def check(
    crashing: Crashing, run_id: str, recovery: str, point: Point, *, reads_first: bool = False
) -> None:
    """The run's state, the effect's word and the product's own record agree with the rules."""
    operation = RECOVERIES[recovery]
    held = recovery == "hold-after-dispatch" and point in _IN_DOUBT
    [effect] = (await crashing.inspect(run_id)).effects
    state = (await crashing.status(run_id)).state
    expected = (RunState.ATTENTION, "unknown") if held else (RunState.FINISHED, "accepted")
    assert (state, effect.outcome) == expected
    # A local read asks its product first and the ledger afterwards: once more does no harm.
    sent_before, sent_after = point in _ASKED, not held and (reads_first or point != "after-settle")
    keys = crashing.keys(operation)
    assert (len(keys), len(set(keys))) == (sent_before + sent_after, 1 if keys else 0)
    if recovery != "read-again":
        assert crashing.applied(operation) == ([1] if keys else [])


@table(POINTS, list(RECOVERIES), _QUICK)
async def test_a_death_in_a_remote_attempt(crashing: Crashing, recovery: str, point: Point) -> None:
    run_id = await one_death(crashing, recovery, point, "remote")
    await check(crashing, run_id, recovery, point)


@table(POINTS[1:], ["read-again"], _QUICK_LOCAL)
async def test_a_death_in_a_local_read(crashing: Crashing, recovery: str, point: Point) -> None:
    run_id = await one_death(crashing, recovery, point, "local")
    await check(crashing, run_id, recovery, point, reads_first=True)


@table(POINTS, ["same-command", "same-command-and-receipt"], set())
async def test_a_death_in_a_local_effect(crashing: Crashing, recovery: str, point: Point) -> None:
    run_id = await one_death(crashing, recovery, point, "local")
    await check(crashing, run_id, recovery, point)


@pytest.mark.exhaustive
@pytest.mark.parametrize("recovery", ["same-command", "same-command-and-receipt"])
async def test_a_death_is_not_followed_by_a_send_after_the_product_s_window(
    crashing: Crashing, recovery: str
) -> None:
    run_id = await one_death(crashing, recovery, "after-answer", "remote", window=10)
    [effect] = (await crashing.inspect(run_id)).effects
    assert (effect.outcome, effect.code) == ("receipt-expired", "receipt-expired")
    assert (await crashing.status(run_id)).state is RunState.ATTENTION
    operation = RECOVERIES[recovery]
    assert (len(crashing.keys(operation)), crashing.applied(operation)) == (1, [1])


@pytest.mark.exhaustive
async def test_a_death_is_not_followed_by_a_send_after_a_cancel(crashing: Crashing) -> None:
    run_id = await crashing.start(one_call(SEND), dispatch="remote")
    await crashing.dies_at("after-answer")
    await crashing.act(run_id, ActKind.CANCEL, seconds=1)
    await crashing.worker()
    assert await crashing.settled(run_id) is RunState.ATTENTION
    assert (await crashing.act(run_id, ActKind.RECONCILE)).outcome == "confirmed"
    assert await crashing.settled(run_id) is RunState.CANCELLED_AFTER_EFFECT
    assert (len(crashing.keys(SEND)), crashing.applied(SEND)) == (1, [1])


@pytest.mark.exhaustive
@pytest.mark.parametrize("point", ["before-send", "after-send", "after-answer", "after-settle"])
async def test_a_death_during_a_repeated_send_keeps_the_first_key(
    crashing: Crashing, point: Point
) -> None:
    run_id = await crashing.start(one_call(SEND), dispatch="remote")
    await crashing.dies_at("after-answer")
    await crashing.dies_at(point)
    await crashing.worker()
    assert await crashing.settled(run_id) is RunState.FINISHED
    assert (len(set(crashing.keys(SEND))), crashing.applied(SEND)) == (1, [1])
