"""Looking at unfinished runs: what the ledger holds, and what Temporal says by Describe."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from temporalio.client import Client

from adapter.ledger import Ledger
from adapter.ledger.unfinished import Unfinished
from adapter.temporal.executions import Found, find

AT_A_TIME: Final = 200
"""Executions that one pass looks at; the next pass goes on with those unseen for longest."""

_IN_PARALLEL: Final = 10


@dataclass(frozen=True, slots=True)
class Observation:
    """An execution in the ledger's words and in Temporal's."""

    unfinished: Unfinished
    found: Found


async def observe(ledger: Ledger, client: Client, limit: int = AT_A_TIME) -> list[Observation]:
    """Compare some unfinished executions; Unavailable when Temporal does not answer."""
    gate = asyncio.Semaphore(_IN_PARALLEL)

    async def look(unfinished: Unfinished) -> Observation:
        async with gate:
            return Observation(unfinished, await find(client, unfinished.workflow_id))

    return await asyncio.gather(*map(look, await ledger.unfinished.take(limit)))
