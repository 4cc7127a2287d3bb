"""Two builds of the workers on real servers: runs stay on theirs until they are moved."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion

from adapter.errors import Refused
from adapter.ledger import ActKind
from adapter.reconcile.builds import Builds
from interpreter.contract.records import RunState
from tests.recovery.conftest import ONE_MESSAGE, SEND, Site
from tests.recovery.test_signals import PAID
from tests.recovery.test_strangers import CLEAR, done_by_hand, execution, foreign, paid


class Fleet:
    """Workers of several builds, which can be stopped one by one."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.builds = Builds(site.ledger, site.client, f"fleet-{site.queue}")
        self._running: dict[str, AsyncExitStack] = {}

    async def run(self, build: str) -> None:
        """Start a worker of a build, and make the build the current one."""
        stack = self._running[build] = AsyncExitStack()
        # The SDK has one worker of a queue for each connection.
        config = self.site.client.config()
        address = config["service_client"].config.target_host
        client = await Client.connect(address, data_converter=config["data_converter"])
        version = WorkerDeploymentVersion(self.builds.deployment, build)
        await stack.enter_async_context(self.site.beside(client=client).worker(version))
        await self.builds.make_current(build, "ops", 30)

    async def stop(self, build: str) -> None:
        """Stop the worker of a build."""
        await self._running.pop(build).aclose()

    async def close(self) -> None:
        """Stop every worker."""
        for build in list(self._running):
            await self.stop(build)


@asynccontextmanager
async def fleet_of(site: Site) -> AsyncIterator[Fleet]:
    """A fleet whose workers end with the test."""
    fleet = Fleet(site)
    try:
        yield fleet
    finally:
        await fleet.close()


async def waiting(site: Site) -> str:
    """A run that waits for its signal."""
    run_id = await site.start(PAID)
    await site.until(run_id, RunState.WAITING)
    return run_id


async def test_a_waiting_run_stays_on_its_build_until_it_is_drained(site: Site) -> None:
    async with fleet_of(site) as fleet:
        await fleet.run("1.0")
        run_id = await waiting(site)
        await fleet.run("2.0")
        assert dict(await fleet.builds.runs()) == {"1.0": 1}
        drained = await fleet.builds.drain("ops", 30)
        assert (drained.current, drained.nudged, drained.left) == ("2.0", 1, {})
        assert dict(await fleet.builds.runs()) == {"2.0": 1}
        await fleet.stop("1.0")
        assert await paid(site, run_id, {"amount": 3}) == "completed"
        await site.until(run_id, RunState.FINISHED)
        known = await fleet.builds.known()
    states = {build.id: build.state for build in known.builds}
    assert (known.current, states["2.0"]) == ("2.0", "current")
    assert states["1.0"] in ("draining", "drained")


async def test_a_run_in_attention_is_drained_with_its_unknown_effect(site: Site) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with fleet_of(site) as fleet:
        await fleet.run("1.0")
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
        await fleet.run("2.0")
        assert (await fleet.builds.drain("ops", 30)).left == {}
        await fleet.stop("1.0")
        assert (await site.act(run_id, ActKind.RETRY_SAME)).outcome == "accepted"
        await site.until(run_id, RunState.FINISHED)
    assert site.applied() == [1]


async def test_a_call_in_back_off_is_drained_and_its_pause_is_kept(site: Site) -> None:
    site.pretend.fault(SEND, "rate-limited", retryAfter=8, count=1)
    async with fleet_of(site) as fleet:
        await fleet.run("1.0")
        run_id = await site.start(ONE_MESSAGE)
        async with asyncio.timeout(20):
            while not site.pretend.requests(SEND):
                await asyncio.sleep(0.05)
        asked = time.monotonic()
        await asyncio.sleep(0.5)
        await fleet.run("2.0")
        assert (await fleet.builds.drain("ops", 30)).left == {}
        await fleet.stop("1.0")
        assert len(site.pretend.requests(SEND)) == 1
        await site.until(run_id, RunState.FINISHED)
        assert time.monotonic() - asked >= 7.5
    assert (site.applied(), len(site.keys())) == ([1], 1)


async def test_runs_of_before_move_when_builds_are_first_told_apart(site: Site) -> None:
    async with site.worker():
        run_id = await waiting(site)
    async with fleet_of(site) as fleet:
        await fleet.run("1.0")
        assert dict(await fleet.builds.runs()) == {"": 1}
        assert (await fleet.builds.drain("ops", 30)).left == {}
        assert await paid(site, run_id, {"amount": 3}) == "completed"
        await site.until(run_id, RunState.FINISHED)


async def test_a_stopped_build_keeps_its_runs_until_it_is_back(site: Site) -> None:
    async with fleet_of(site) as fleet:
        await fleet.run("1.0")
        await waiting(site)
        await fleet.run("2.0")
        await fleet.stop("1.0")
        drained = await fleet.builds.drain("ops", 1)
        assert (drained.nudged, drained.left) == (1, {"1.0": 1})
        await fleet.run("1.0")
        await fleet.builds.make_current("2.0", "ops", 30)
        assert (await fleet.builds.drain("ops", 30)).left == {}


async def test_a_pass_of_the_reconciler_goes_on_under_the_current_build(site: Site) -> None:
    async with fleet_of(site) as fleet:
        await fleet.run("1.0")
        handle = await site.client.start_workflow(
            "coordinator.reconcile/v1", id=f"pass-{site.queue}", task_queue=site.queue, args=[None]
        )
        assert await asyncio.wait_for(handle.result(), 30)
        described = (await handle.describe()).raw_description.workflow_execution_info
        assert described.versioning_info.behavior == 2


async def test_a_stranger_s_nudge_only_continues_a_run_as_new(site: Site) -> None:
    async with site.worker():
        run_id = await waiting(site)
        begun = (await (await site.handle(run_id)).describe()).run_id
        identity = await execution(site, run_id)
        signal = ("workflow", "signal", "-w", identity, "--name", "coordinator.hand-over")
        await done_by_hand(site, *signal, "--input", CLEAR)
        await done_by_hand(site, *signal)
        async with asyncio.timeout(20):
            while (await (await site.handle(run_id)).describe()).run_id == begun:
                await asyncio.sleep(0.05)
        assert await paid(site, run_id, {"amount": 3}) == "completed"
        assert (await site.until(run_id, RunState.FINISHED)).output == {"amount": 3}
    assert await foreign(site, run_id) == ["clear"]


async def test_what_is_done_about_builds_is_on_record(site: Site) -> None:
    builds = Builds(site.ledger, site.client, f"fleet-{site.queue}")
    with pytest.raises(Refused, match="no worker of this build"):
        await builds.make_current("1.0", "ops", 0)
    with pytest.raises(Refused, match="no build is the current one"):
        await builds.drain("ops", 0)
    async with fleet_of(site) as fleet:
        await fleet.run("1.0")
        await fleet.builds.drain("ops", 0)
    statement = "select kind, detail from coordinator.journal where kind like %s order by sequence"
    rows = await site.sql(statement, "versions-%")
    assert [(kind, detail["build"]) for kind, detail in rows] == [
        ("versions-current.asked", "1.0"),
        ("versions-current.asked", "1.0"),
        ("versions-current.done", "1.0"),
        ("versions-drain.asked", "1.0"),
        ("versions-drain.done", "1.0"),
    ]


async def test_every_open_run_is_found_page_by_page(site: Site) -> None:
    async with site.worker():
        done = await site.start(ONE_MESSAGE)
        await site.until(done, RunState.FINISHED)
        runs = [await waiting(site) for _ in range(3)]
        for page in (1, 2, 3, 500):
            found = [one.run_id async for one in site.ledger.unfinished.all(page)]
            assert found == sorted(runs)
