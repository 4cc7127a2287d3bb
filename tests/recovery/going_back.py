"""A Temporal that goes back to an earlier point, and runs whose executions go back with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from adapter.embedded import FAST_TIMERS, EmbeddedTemporal
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.sealing import codec_of
from adapter.worker import prefetch_from
from interpreter.contract.records import RunState
from tests.fixtures.definitions import finish
from tests.recovery.conftest import Site

DONE = {"done": finish("done", {"step": "second"})}


class OwnTemporal:
    """A Temporal of one test alone, which can be as it was when it was last kept."""

    def __init__(self, site: Site, folder: Path) -> None:
        self._site = site
        self._now = folder / "temporal" / "now.db"
        self._kept = folder / "temporal" / "kept.db"

    @asynccontextmanager
    async def now(self) -> AsyncIterator[Site]:
        """The site over the server as it goes on; what runs when it ends is nobody's to end."""
        async with self._serving(self._now) as site:
            yield site
        site.started.clear()

    def keep(self) -> None:
        """Back the running server's data up, in one transaction."""
        with closing(sqlite3.connect(self._now)) as now, closing(sqlite3.connect(self._kept)) as to:
            now.backup(to)

    @asynccontextmanager
    async def older(self) -> AsyncIterator[Site]:
        """The site over the server as it was when it was kept."""
        async with self._serving(self._kept) as site:
            yield site

    @asynccontextmanager
    async def _serving(self, file: Path) -> AsyncIterator[Site]:
        async with own_server(file) as server:
            yield self._site.beside(client=await connected(self._site, server))
            # Nothing is gained by a polite end, which takes two seconds.
            server.kill()


@pytest.fixture
def temporal(site: Site, tmp_path: Path) -> OwnTemporal:
    """A Temporal of this test alone, beside the shared one."""
    return OwnTemporal(site, tmp_path)


def own_server(file: Path) -> EmbeddedTemporal:
    """A Temporal of this test alone, over a file."""
    return EmbeddedTemporal(
        file, log_file=file.with_suffix(".log"), ui=False, dynamic_config=FAST_TIMERS
    )


async def connected(site: Site, server: EmbeddedTemporal) -> Client:
    """A client of that server."""
    return await connect(
        TemporalAddress(server.address),
        codec_of(site.ledger, prefetch_from(site.ledger.definitions)),
    )


def wait(then: str, seconds: int = 600, **outlets: str) -> dict[str, Any]:
    """A wait for the signal `paid` that gives up after some seconds."""
    source = {"type": "signal", "signal": "paid", "schema": True, "timeoutSeconds": seconds}
    return {"kind": "wait", "wait": source, "outlets": {"resumed": then, **outlets}}


def pause(then: str, seconds: int, **outlets: str) -> dict[str, Any]:
    """A wait for some seconds."""
    duration = {"type": "duration", "seconds": seconds}
    return {"kind": "wait", "wait": duration, "outlets": {"elapsed": then, **outlets}}


@asynccontextmanager
async def gone_back(
    site: Site,
    temporal: OwnTemporal,
    nodes: dict[str, Any],
    meanwhile: Callable[[Site, str], Awaitable[None]],
) -> AsyncIterator[tuple[Site, str]]:
    """A run whose Temporal is as it was at its first wait, and has lost what was done meanwhile."""
    async with temporal.now() as site, site.worker():
        run_id = await site.start(nodes)
        await site.until(run_id, RunState.WAITING)
        await site.reconcile()
        temporal.keep()
        await meanwhile(site, run_id)
        await site.sent(1)
        await site.until(run_id, RunState.WAITING, RunState.CANCEL_REQUESTED)
    async with temporal.older() as site:
        assert await site.reconciliation.may_poll()
        async with site.worker():
            yield site, run_id


async def effects(site: Site, run_id: str) -> list[str]:
    """The effects of a run, by visit."""
    return [effect.reference for effect in (await site.inspect(run_id)).effects]


async def resolutions(site: Site, run_id: str) -> list[str]:
    """How the run's waits have ended."""
    rows = await site.sql("select resolution from coordinator.waits where run_id = %s", run_id)
    return [resolution for (resolution,) in rows]


async def until_lost(site: Site, run_id: str) -> None:
    """Wait until the ledger knows that nobody has the signal any more."""
    async with asyncio.timeout(40):
        while "signal-lost" not in await resolutions(site, run_id):
            await asyncio.sleep(0.2)
