"""Every line of a process is JSON, those of Temporal's native client among them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from adapter.cli.local_files import Addresses
from adapter.embedded import EmbeddedTemporal, free_port
from tests.fixtures.deployment import until_polling, worker, write_runtime
from tests.fixtures.postgres import as_owner

_RETRIES_SECONDS = 40


@pytest.mark.timeout(120)
async def test_a_worker_whose_temporal_is_gone_says_so_in_json(
    tmp_path: Path, database_url: str
) -> None:
    log, nowhere = tmp_path / "temporal.log", "http://127.0.0.1:1"
    async with EmbeddedTemporal(tmp_path / "temporal.db", log_file=log, ui=False) as server:
        urls = (database_url, as_owner(database_url))
        addresses = Addresses(server.address, nowhere, free_port(), nowhere, *urls)
        files = write_runtime(tmp_path / "deployment", addresses, {}, {}, deployment="lines")
        process = worker(files, "worker-1")
        try:
            await process.start()
            await until_polling(files, process)
            server.kill()
            async with asyncio.timeout(_RETRIES_SECONDS):
                while "gRPC call" not in process.log_file.read_text():
                    await asyncio.sleep(0.2)
        finally:
            await process.stop()
    lines = [json.loads(line) for line in process.log_file.read_text().splitlines()]
    assert [line for line in lines if "gRPC call" in line.get("fields", {}).get("message", "")]
