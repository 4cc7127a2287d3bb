"""What every side stands on: one Temporal server, one PostgreSQL, one product, its own workers."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from adapter.embedded import (
    LOOPBACK,
    ChildProcess,
    EmbeddedPostgres,
    EmbeddedTemporal,
    LedgerAddresses,
    free_port,
)

_ROOT = Path(__file__).resolve().parent.parent
_LAST_WORDS = 2_000


class Ground:
    """Servers that run already, the product, and the processes of the sides.

    ``database`` makes an empty database of a name and gives its addresses; ``servers`` are the
    process ids of the servers by name, as far as their CPU time is wanted.
    """

    def __init__(
        self,
        folder: Path,
        temporal_address: str,
        database: Callable[[str], Awaitable[LedgerAddresses]],
        servers: Mapping[str, Sequence[int]],
    ) -> None:
        self.folder = folder
        self.temporal_address = temporal_address
        self.database = database
        self.product_url = ""
        self._servers = servers
        self._processes: dict[str, list[ChildProcess]] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        port = free_port()
        self.product_url = f"http://{LOOPBACK}:{port}"
        await self.spawn("product", ["benchmarks.product", str(port)])
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            print(self._last_words(), file=sys.stderr)
        await self._stack.aclose()

    async def spawn(
        self, name: str, module: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Run a module of this project as a process that ends with this one."""
        siblings = self._processes.setdefault(name, [])
        child = ChildProcess(
            name,
            [sys.executable, "-m", *module],
            log_file=self.folder / f"{name}-{len(siblings) + 1}.log",
            environment={**os.environ, **(environment or {})},
            directory=_ROOT,
        )
        siblings.append(child)
        self._stack.push_async_callback(child.stop)
        await child.start()

    def process_ids(self) -> dict[str, Sequence[int]]:
        """The process ids by name: the servers, the product, and each side's workers."""
        children = {name: [child.pid for child in group] for name, group in self._processes.items()}
        return {**self._servers, **children}

    def _last_words(self) -> str:
        """The end of every log that has one, for whoever must find out what went wrong."""
        logs = [child.log_file for group in self._processes.values() for child in group]
        words = [(log, log.read_text(errors="replace")[-_LAST_WORDS:]) for log in logs]
        return "\n".join(f"--- {log.name}\n{text}" for log, text in words if text)


@asynccontextmanager
async def own_ground(folder: Path) -> AsyncIterator[Ground]:
    """A ground on servers of its own, their data in ``folder``.

    Temporal keeps its data in a file with WAL and PostgreSQL is durable, as in ``coordinatorctl
    dev``: what is compared is what a user would run.
    """
    temporal = EmbeddedTemporal(folder / "temporal.db", log_file=folder / "temporal.log", ui=False)
    postgres = EmbeddedPostgres(folder / "postgres")
    async with temporal, postgres:
        servers = {"temporal": [temporal.process.pid], "postgres": [postgres.process.pid]}
        ground = Ground(folder, temporal.address, postgres.ensure_ledger, servers)
        async with ground:
            yield ground
