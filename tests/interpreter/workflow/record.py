"""Record the histories of every path: ``python -m tests.interpreter.workflow.record [PATH ...]``.

Histories are append-only: a change of the driver that breaks the replay of one needs a version
gate, never a new recording.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path as FilePath

from temporalio.client import Client, WorkflowFailureError

from adapter.embedded import FAST_TIMERS, EmbeddedTemporal
from adapter.temporal.payloads import clear_converter
from adapter.worker import WorkerParts, new_worker
from interpreter.contract.runs import workflow_id
from interpreter.workflow.programs import PROGRAMS
from tests.fixtures.definitions import definition, start_of
from tests.interpreter.workflow.paths import PATHS, Path

HISTORIES = FilePath(__file__).parent / "histories"


async def record(client: Client, name: str, path: Path) -> None:
    """Run one path and keep its history and definition."""
    script = path.make()
    made = definition({node: dict(value) for node, value in path.nodes.items()})
    PROGRAMS.put(made, len(made.to_bytes()))
    run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    deadline = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    start = start_of(made, run_id=run_id, deadline_at=deadline)
    async with new_worker(WorkerParts(client, name, script.callables(), grace_seconds=1)):
        handle = await client.start_workflow(
            "sample", start, id=workflow_id("sample", run_id, 1), task_queue=name
        )
        if path.act is not None:
            await path.act(handle, script)
        try:
            await handle.result()
        except WorkflowFailureError:
            pass
        history = await handle.fetch_history()
    (HISTORIES / f"{name}.definition.json").write_bytes(made.to_bytes())
    (HISTORIES / f"{name}.json").write_text(history.to_json())


async def main(names: list[str]) -> None:
    """Record the named paths, or every path that has no recording yet."""
    wanted = names or [n for n in PATHS if not (HISTORIES / f"{n}.json").exists()]
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedTemporal(
            None, log_file=FilePath(folder) / "log", ui=False, dynamic_config=FAST_TIMERS
        )
        await server.start()
        try:
            client = await Client.connect(
                server.address, data_converter=clear_converter(), identity="recorder"
            )
            for name in wanted:
                await record(client, name, PATHS[name])
        finally:
            await server.stop()
            await asyncio.sleep(0.1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
