"""Which build our open runs are on, and moving them to the current one (protocol rule 8)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client

from adapter.errors import Refused
from adapter.ledger import Ledger
from adapter.temporal.versions import KnownBuilds, build_of, known_builds, make_current, nudge

_AT_A_TIME = 200
_IN_PARALLEL = 10
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Drained:
    """How many runs were asked to move to ``current``, and how many are elsewhere by build."""

    current: str
    nudged: int
    left: dict[str, int]


@dataclass(frozen=True, slots=True)
class Builds:
    """The builds of one deployment, named ``deployment`` in Temporal.

    Runs are those that the ledger holds to be open, looked at by Describe: visibility lags.
    """

    ledger: Ledger
    client: Client
    deployment: str

    async def known(self) -> KnownBuilds:
        """The builds that Temporal knows; Unavailable ``temporal.unavailable``."""
        return await known_builds(self.client, self.deployment)

    async def runs(self) -> Counter[str]:
        """How many open runs are on each build."""
        return Counter((await self._placed()).values())

    async def make_current(self, build: str, actor: str, patience: float) -> None:
        """Have new runs begin on a build, on record before and after.

        Raises Refused ``versions.build-absent`` when no worker of it has polled within
        ``patience`` seconds, and Unavailable ``temporal.unavailable``.
        """
        await self._note("versions-current.asked", actor, build=build)
        await make_current(self.client, self.deployment, build, patience)
        await self._note("versions-current.done", actor, build=build)

    async def drain(self, actor: str, patience: float) -> Drained:
        """Ask every open run that is on another build than the current one to move to it.

        Each is asked once, since one that has moved forgets it. Then it is looked again, until
        none is left or ``patience`` seconds are over. Raises Refused ``versions.no-current``.
        """
        current = (await self.known()).current
        if current is None:
            raise Refused(
                "versions.no-current",
                "no build is the current one, so no run is begun",
                place=self.deployment,
                remedy="make one current with `coordinatorctl versions current BUILD`",
            )
        await self._note("versions-drain.asked", actor, build=current)
        nudged, left = 0, await self._elsewhere(current)
        asked: set[str] = set()
        until = time.monotonic() + patience
        while left:
            for identity in left.keys() - asked:
                asked.add(identity)
                nudged += await nudge(self.client, identity)
            left = await self._elsewhere(current)
            if not left or time.monotonic() >= until:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
        await self._note("versions-drain.done", actor, build=current, nudged=nudged, left=len(left))
        return Drained(current, nudged, dict(Counter(left.values())))

    async def _note(self, kind: str, actor: str, **detail: Any) -> None:
        await self.ledger.audit.note(kind, {"actor": actor}, **detail)

    async def _elsewhere(self, current: str) -> dict[str, str]:
        placed = await self._placed()
        return {identity: build for identity, build in placed.items() if build != current}

    async def _placed(self) -> dict[str, str]:
        """The build of every open run, by workflow id."""
        gate = asyncio.Semaphore(_IN_PARALLEL)
        placed: dict[str, str] = {}

        async def look(identity: str) -> None:
            async with gate:
                build = await build_of(self.client, self.deployment, identity)
            if build is not None:
                placed[identity] = build

        batch: list[str] = []
        async for unfinished in self.ledger.unfinished.all():
            batch.append(unfinished.workflow_id)
            if len(batch) == _AT_A_TIME:
                await asyncio.gather(*map(look, batch))
                batch.clear()
        await asyncio.gather(*map(look, batch))
        return placed
