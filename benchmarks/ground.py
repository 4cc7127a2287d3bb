"""What every side stands on: one Temporal server, one PostgreSQL, one product, its own workers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from adapter.embedded import LOOPBACK, ChildProcess, EmbeddedPostgres, EmbeddedTemporal, free_port

_ROOT = Path(__file__).resolve().parent.parent


class Ground:
    """The servers of a benchmark, each a process of its own, their data in one folder.

    Temporal keeps its data in a file with WAL and PostgreSQL is durable, as in `coordinatorctl
    dev`: what is compared is what a user would run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporal = EmbeddedTemporal(
            folder / "temporal.db", log_file=folder / "temporal.log", ui=False
        )
        self.postgres = EmbeddedPostgres(folder / "postgres")
        self.product_url = ""
        self.ledger_url = ""
        self._processes: dict[str, list[ChildProcess]] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            await self._stack.enter_async_context(self.temporal)
            await self._stack.enter_async_context(self.postgres)
            self.ledger_url = await self.postgres.ensure_database("benchmark")
            port = free_port()
            self.product_url = f"http://{LOOPBACK}:{port}"
            await self.spawn("product", ["benchmarks.product", str(port)])
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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

    def process_ids(self) -> dict[str, list[int]]:
        """The process ids by name: temporal, postgres, product, and each side's workers."""
        children = {name: [child.pid for child in group] for name, group in self._processes.items()}
        return {
            "temporal": [self.temporal.process.pid],
            "postgres": [self.postgres.process.pid],
            **children,
        }

    def ended(self) -> str | None:
        """The log of a process that should run and does not, or None."""
        for group in self._processes.values():
            for child in group:
                if not child.running:
                    return str(child.log_file)
        return None
