"""A cancel, or the deadline, that meets an execution which went back to an earlier point."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from adapter.ledger import ActKind
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import SEND, Site, call
from tests.recovery.test_restore import (
    connected,
    own_temporal,
    paid,
    resolutions,
    sent,
    signalled,
)


def wait(then: str, seconds: int, **outlets: str) -> dict[str, Any]:
    """A wait for `paid` that gives up after some seconds."""
    source = {"type": "signal", "signal": "paid", "schema": True, "timeoutSeconds": seconds}
    return {"kind": "wait", "wait": source, "outlets": {"resumed": then, **outlets}}


LOST = {
    "wait": wait("thanks", 600, expired="late", cancelled="undo"),
    "undo": call(SEND, "late"),
    "thanks": call(SEND, "second"),
    "second": paid("done"),
    "late": finish("late"),
    "done": finish("done", {"step": "second"}),
}
BEHIND = {
    **LOST,
    "second": wait("done", 600, cancelled="regret"),
    "regret": call(SEND, "late"),
}


@asynccontextmanager
async def gone_back(
    site: Site,
    folder: Path,
    nodes: dict[str, Any],
    meanwhile: Callable[[Site, str], Awaitable[None]],
) -> AsyncIterator[tuple[Site, str]]:
    """A run whose Temporal is as it was at its first wait, and has lost what was done meanwhile."""
    files = folder / "temporal"
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        async with site.worker():
            run_id = await site.start(nodes)
            await site.until(run_id, RunState.WAITING)
            await site.reconcile()
    shutil.copytree(files, folder / "older")
    async with own_temporal(files / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        async with site.worker():
            await meanwhile(site, run_id)
            await sent(site, 1)
            await site.until(run_id, RunState.WAITING, RunState.CANCEL_REQUESTED)
        site.started.clear()
    async with own_temporal(folder / "older" / "now.db") as server:
        site = site.beside(client=await connected(site, server))
        assert await site.reconciliation.may_poll()
        async with site.worker():
            yield site, run_id


async def paid_by_hand(site: Site, run_id: str) -> None:
    """Complete the wait as a person does in Temporal's UI."""
    await (await site.handle(run_id)).signal("paid", {"of": "the desk"})


async def paid_on_record(site: Site, run_id: str) -> None:
    """Complete the wait as a caller of the API does."""
    await signalled(site, run_id, "s1")


async def effects(site: Site, run_id: str) -> list[str]:
    """The effects of a run, by visit."""
    return [effect.reference for effect in (await site.inspect(run_id)).effects]


async def until_lost(site: Site, run_id: str) -> None:
    """Wait until the ledger knows that nobody has the signal any more."""
    async with asyncio.timeout(40):
        while "signal-lost" not in await resolutions(site, run_id):
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("cancelled", [True, False], ids=["cancel", "deadline"])
async def test_a_wait_that_has_lost_its_signal_ends_with_its_run_and_not_by_its_time(
    site: Site, tmp_path: Path, cancelled: bool
) -> None:
    nodes = {**LOST, "wait": wait("thanks", 20, expired="late", cancelled="undo")}
    async with gone_back(site, tmp_path, nodes, paid_by_hand) as (site, run_id):
        await until_lost(site, run_id)
        if cancelled:
            await site.act(run_id, ActKind.CANCEL, seconds=40)
        else:
            await site.sql("update coordinator.runs set deadline_at = clock_timestamp()")
        over = RunState.CANCELLED_AFTER_EFFECT if cancelled else RunState.EXPIRED
        await site.until(run_id, *(state for state in RunState if state.final))
        assert (await site.status(run_id)).state is over
        await site.ended(run_id)
        assert await effects(site, run_id) == ["main/thanks:1"]
    assert site.applied() == [1]


async def test_a_cancel_before_a_lost_signal_was_missed_takes_no_route_of_a_passed_wait(
    site: Site, tmp_path: Path
) -> None:
    async with gone_back(site, tmp_path, LOST, paid_by_hand) as (site, run_id):
        await site.act(run_id, ActKind.CANCEL)
        await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)
        assert await effects(site, run_id) == ["main/thanks:1"]
    assert site.applied() == [1]


async def test_a_cancel_follows_the_route_of_the_wait_at_which_the_record_ends(
    site: Site, tmp_path: Path
) -> None:
    async with gone_back(site, tmp_path, BEHIND, paid_on_record) as (site, run_id):
        await site.act(run_id, ActKind.CANCEL)
        assert (await site.until(run_id, RunState.CANCELLED_AFTER_EFFECT)).outcome == "late"
        assert await effects(site, run_id) == ["main/thanks:1", "main/regret:1"]
        # What is told again later finds a run that is over.
        await site.reconcile()
    assert site.applied() == [1, 1]
