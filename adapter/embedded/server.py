"""What every embedded server has in common: one child process, started, watched and stopped."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import ClassVar, Self

from adapter.embedded.process import ChildProcess

_READY_SECONDS = 60.0


class EmbeddedServer(ABC):
    """A server of this machine, as an asynchronous context or between `start` and `stop`.

    It may be started again after it was stopped or has died.
    """

    name: ClassVar[str]
    _server: ChildProcess | None = None

    @property
    def process(self) -> ChildProcess:
        """The running server's process, to watch or to kill in a test."""
        if self._server is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._server

    @abstractmethod
    async def start(self) -> None:
        """Start the server, and return when it answers; raises `EmbeddedError`."""

    async def stop(self) -> None:
        """Ask the server to end, and wait for it; harmless when it does not run."""
        if self._server is not None:
            await self._server.stop()

    def kill(self) -> None:
        """End the server at once, as a crash would; harmless when it does not run."""
        if self._server is not None:
            self._server.kill()

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def _forget_earlier(self) -> None:
        if self._server is not None:
            if self._server.running:
                raise RuntimeError(f"{self.name} is running already")
            await self._server.stop()

    async def _run(
        self, server: ChildProcess, ready: Callable[[], Awaitable[bool]], every: float
    ) -> None:
        """Start a process, and wait until it is ready; its failure if it never is."""
        self._server = server
        await server.start()
        deadline = asyncio.get_running_loop().time() + _READY_SECONDS
        while not await ready():
            if not server.running or asyncio.get_running_loop().time() > deadline:
                failure = server.did_not_start()
                await server.stop()
                raise failure
            await asyncio.sleep(every)
