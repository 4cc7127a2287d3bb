"""What is left of the real servers when the process that started them is killed: nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg

from adapter.embedded import EmbeddedPostgres, EmbeddedTemporal, StateFolder

_PARENT = """
import asyncio, sys
from pathlib import Path
from adapter.embedded import EmbeddedPostgres, EmbeddedTemporal, StateFolder

async def main(place):
    with StateFolder(place) as folder:
        postgres = EmbeddedPostgres(place / "postgres")
        temporal = EmbeddedTemporal(place / "temporal.db", log_file=folder.logs / "temporal.log")
        async with postgres, temporal:
            await postgres.ensure_database("ledger")
            print(postgres.process.pid, temporal.process.pid, flush=True)
            await asyncio.sleep(300)

asyncio.run(main(Path(sys.argv[1])))
"""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_kill_9_of_the_parent_frees_the_folder_for_the_next(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        parent.kill()
    # At once, while the servers of the dead process are still on their way out.
    with StateFolder(tmp_path) as folder:
        postgres = EmbeddedPostgres(tmp_path / "postgres")
        log_file = folder.logs / "temporal.log"
        async with postgres, EmbeddedTemporal(tmp_path / "temporal.db", log_file=log_file):
            with psycopg.connect(postgres.url("ledger")) as connection:
                assert connection.execute("select 1").fetchone() == (1,)
    until = time.monotonic() + 5
    while any(_alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(pids) == 2
    assert not any(_alive(pid) for pid in pids)
