"""Limits of callers and addresses over HTTP, straight and behind a proxy that is trusted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
import yaml

from adapter.access import LiveAccess
from adapter.api import Service, create_app
from adapter.config.loading import load_runtime
from tests.adapter.api.conftest import (
    MemoryBook,
    MemoryDesk,
    MemoryExecutions,
    MemoryOversight,
    MemorySignals,
)
from tests.adapter.config.test_runtime_file import sound
from tests.fixtures.access import key_policy, no_web

Served = Callable[[dict[str, Any]], AbstractAsyncContextManager[httpx.AsyncClient]]
ATTACKER, OTHER = "203.0.113.9", "203.0.113.10"


@pytest.fixture
def served(tmp_path: Path) -> Served:
    """Serves two callers under limits, whose clock stands still."""

    @asynccontextmanager
    async def serving(limits: dict[str, Any]) -> AsyncIterator[httpx.AsyncClient]:
        keys = {"desk": key_policy("desk"), "other": key_policy("other")}
        path = tmp_path / "runtime.yaml"
        part = {"apiKeys": keys, "limits": limits}
        path.write_text(yaml.safe_dump(sound() | {"authentication": part}))
        live = LiveAccess(load_runtime(path, {}), no_web, ticks=lambda: 0.0)
        service = Service(
            book=MemoryBook(),
            executions=MemoryExecutions(),
            acts=MemoryDesk(),
            access=live,
            completions={},
            oversight=MemoryOversight(),
            signals=MemorySignals(),
        )
        app = create_app(service)
        config = uvicorn.Config(app, port=0, log_config=None, ws="none", proxy_headers=False)
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            yield client
        server.should_exit = True
        await task

    return serving


async def guess(client: httpx.AsyncClient, forwarded: str) -> int:
    """The status of a guessed key that came this way."""
    headers = {"X-API-Key": "guess", "X-Forwarded-For": forwarded}
    return (await client.get("/v1/workflows", headers=headers)).status_code


async def test_behind_a_trusted_proxy_the_address_that_fails_is_the_forwarded_one(
    served: Served,
) -> None:
    async with served({"failuresPerMinute": 3, "trustedProxies": ["127.0.0.0/8"]}) as client:
        assert [await guess(client, ATTACKER) for _ in range(4)] == [401, 401, 401, 429]
        assert await guess(client, OTHER) == 401
        # What stands further left was written by whoever asked.
        assert await guess(client, f"{OTHER}, {ATTACKER}") == 429
        headers = {"X-API-Key": "key-of-desk", "X-Forwarded-For": ATTACKER}
        assert (await client.get("/v1/workflows", headers=headers)).status_code == 200


async def test_without_one_nobody_chooses_the_address_that_is_counted(served: Served) -> None:
    async with served({"failuresPerMinute": 3}) as client:
        assert [await guess(client, f"198.51.100.{n}") for n in range(4)] == [401, 401, 401, 429]


async def test_a_caller_has_its_own_measure_and_no_other_is_held_up(served: Served) -> None:
    async with served({"perSecond": 1, "burst": 2}) as client:
        ask = [("desk", 200), ("desk", 200), ("desk", 429), ("other", 200)]
        for caller, status in ask:
            key = {"X-API-Key": f"key-of-{caller}"}
            found = await client.get("/v1/workflows", headers=key)
            assert found.status_code == status
            assert (status == 429) == ("retry-after" in found.headers)
