"""Record the histories of every path: ``python -m tests.interpreter.workflow.record [PATH ...]``.

Those of ``SEALED`` are recorded under keys that are the same for ever, beside the large payloads
that a ledger would hold. Histories are append-only: a change of the driver that breaks the replay
of one needs a version gate, never a new recording.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import tempfile
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path as FilePath

from temporalio.client import Client, WorkflowFailureError

from adapter.crypto import KeyRing
from adapter.embedded import FAST_TIMERS, EmbeddedTemporal
from adapter.temporal.codec import SealingCodec
from adapter.temporal.payloads import sealed_converter
from adapter.worker import WorkerParts, new_worker
from interpreter.contract.runs import workflow_id
from interpreter.workflow.programs import PROGRAMS
from tests.fixtures.clear import clear_converter
from tests.fixtures.definitions import definition, start_of
from tests.fixtures.vault import MemoryVault
from tests.interpreter.workflow.paths import PATHS, SEALED, Path

HISTORIES = FilePath(__file__).parent / "histories"
BODIES = HISTORIES / "large-payloads.json"


def run_of(name: str) -> str:
    """The run of a recorded path."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def recorded_vault() -> MemoryVault:
    """The keys of every sealed recording, and the large payloads that were recorded."""
    vault = MemoryVault(KeyRing({1: b"s" * 32}, 1, {1: b"a" * 32}, 1))
    for number, name in enumerate(sorted(SEALED), start=1):
        vault.admit(run_of(name), bytes([number]) * 32)
    if BODIES.exists():
        for run_id, digest, body in json.loads(BODIES.read_text()):
            vault.bodies[run_id, digest] = base64.b64decode(body)
    return vault


async def record(client: Client, name: str, path: Path) -> None:
    """Run one path and keep its history and definition."""
    script = path.make()
    made = definition({node: dict(value) for node, value in path.nodes.items()})
    PROGRAMS.put(made, len(made.to_bytes()))
    run_id = run_of(name)
    deadline = (datetime.now(UTC) + timedelta(seconds=path.deadline)).isoformat()
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
        if path.first:
            first = handle.first_execution_run_id
            handle = client.get_workflow_handle(handle.id, run_id=first)
        history = await handle.fetch_history()
    (HISTORIES / f"{name}.definition.json").write_bytes(made.to_bytes())
    (HISTORIES / f"{name}.json").write_text(history.to_json())


async def main(names: list[str]) -> None:
    """Record the named paths, or every path that has no recording yet."""
    every = PATHS | SEALED
    wanted = names or [n for n in every if not (HISTORIES / f"{n}.json").exists()]
    vault = recorded_vault()
    sealed = sealed_converter(SealingCodec(vault.vault()))
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedTemporal(
            None, log_file=FilePath(folder) / "log", ui=False, dynamic_config=FAST_TIMERS
        )
        await server.start()
        try:
            for name in wanted:
                converter = sealed if name in SEALED else clear_converter()
                client = await Client.connect(
                    server.address, data_converter=converter, identity="recorder"
                )
                await record(client, name, every[name])
        finally:
            await server.stop()
            await asyncio.sleep(0.1)
    kept = [(*key, base64.b64encode(body).decode()) for key, body in sorted(vault.bodies.items())]
    BODIES.write_text(json.dumps(kept, indent=0))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
