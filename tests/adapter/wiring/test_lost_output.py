"""A service whose output nobody takes any more serves on, and ends as it is told."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from adapter.cli.local_files import Addresses
from adapter.embedded import free_port
from tests.fixtures.deployment import ROOT, write_runtime
from tests.fixtures.postgres import as_owner

_START_SECONDS = 60.0


@pytest.fixture
def addresses(database_url: str) -> Addresses:
    """A deployment whose Temporal is away, of which the service has something to log."""
    urls = (database_url, as_owner(database_url))
    return Addresses("127.0.0.1:1", "http://127.0.0.1:1", free_port(), "http://127.0.0.1:1", *urls)


@pytest.mark.parametrize("lost", ["gone", "closed"])
async def test_a_service_without_output_serves(
    lost: str, tmp_path: Path, addresses: Addresses
) -> None:
    files = write_runtime(tmp_path, addresses, {}, {}, deployment="unheard")
    command = [sys.executable, "-m", "adapter.cli.service", "serve"]
    command += ["--runtime", str(files.runtime)]
    if lost == "closed":
        command = ["/bin/sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command]
    reading, writing = os.pipe()
    os.close(reading)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=writing, stderr=writing, env=environment, cwd=ROOT
    ) as process:
        os.close(writing)
        try:
            await _until_ready(addresses.api, process)
            process.terminate()
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()


async def _until_ready(api: str, process: subprocess.Popen[bytes]) -> None:
    async with httpx.AsyncClient(base_url=api) as client, asyncio.timeout(_START_SECONDS):
        while not await _ready(client):
            assert process.poll() is None
            await asyncio.sleep(0.1)


async def _ready(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/ready", timeout=10)).is_success
    except httpx.TransportError:
        return False
