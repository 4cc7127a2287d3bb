"""The commands `coordinator serve` and `coordinator worker`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from adapter.cli.loops import run_to_end, stop_on_signal
from adapter.cli.options import RuntimeOption
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.config.logs import configure_logs

_PAUSE_SECONDS = 1.0
_MOST_PROCESSES = 64


RecoveryOption = Annotated[
    bool, typer.Option("--recovery-only", help="admit and dispatch nothing; see docs/restore.md")
]


def serve(runtime: RuntimeOption = None, recovery_only: RecoveryOption = False) -> None:
    """Serve the HTTP API until a signal."""
    from adapter.wiring.api_process import serve_api

    loaded = _loaded(runtime)

    async def work() -> None:
        await serve_api(loaded, stop_on_signal(), recovery_only=recovery_only)

    run_to_end(work())


def worker(
    processes: Annotated[
        int, typer.Option("--processes", min=1, max=_MOST_PROCESSES, help="worker processes")
    ] = 1,
    runtime: RuntimeOption = None,
    child: Annotated[bool, typer.Option("--child", hidden=True)] = False,
    ready_file: Annotated[
        Path | None,
        typer.Option("--ready-file", metavar="FILE", help="made when one process begins to poll"),
    ] = None,
    recovery_only: RecoveryOption = False,
) -> None:
    """Run workflows and their calls until a signal; what is being sent is settled first."""
    loaded = _loaded(runtime)
    if processes == 1:
        run_to_end(_one_worker(loaded, child, ready_file, recovery_only))
    else:
        run_to_end(_many_workers(loaded, processes, recovery_only))


def _loaded(runtime: RuntimeOption) -> Runtime:
    loaded = load_runtime(find_runtime(runtime))
    configure_logs()
    return loaded


async def _one_worker(
    runtime: Runtime, child: bool, ready_file: Path | None, recovery_only: bool
) -> None:
    from adapter.wiring.worker_process import run_worker_process

    stop = stop_on_signal()
    if child:
        _stop_with_parent(stop)
    ready = ready_file.touch if ready_file else lambda: None
    await run_worker_process(runtime, stop, ready, recovery_only=recovery_only)


def _stop_with_parent(stop: asyncio.Event) -> None:
    """Set ``stop`` when the other end of our stdin, which the parent holds, is gone."""
    loop = asyncio.get_running_loop()

    def gone() -> None:
        loop.remove_reader(sys.stdin)
        stop.set()

    loop.add_reader(sys.stdin, gone)


async def _many_workers(runtime: Runtime, processes: int, recovery_only: bool) -> None:
    stop = stop_on_signal()
    async with asyncio.TaskGroup() as group:
        for _ in range(processes):
            group.create_task(_kept_worker(runtime, stop, recovery_only))


async def _kept_worker(runtime: Runtime, stop: asyncio.Event, recovery_only: bool) -> None:
    """One worker process, started again when it ends by itself."""
    command = [sys.executable, "-m", "adapter.cli.service", "worker", "--child"]
    command += ["--runtime", str(runtime.path)]
    command += ["--recovery-only"] if recovery_only else []
    while not stop.is_set():
        # A group of its own: a terminal's interrupt reaches the parent alone, which passes it on.
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        ended = asyncio.create_task(process.wait())
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not ended.done():
            assert process.stdin is not None
            process.stdin.close()
            await ended
        elif not stop.is_set():
            await asyncio.sleep(_PAUSE_SECONDS)
