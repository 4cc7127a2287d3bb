"""The folder in which one machine keeps its servers' data, and the lock that says whose it is."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from adapter.embedded.errors import EmbeddedError

__all__ = ["StateFolder"]


class StateFolder:
    """A folder such as `.coordinator/`, used by one process at a time.

    The lock is the kernel's, on the file `lock`; the process id inside is only there to name the
    owner. A crashed owner therefore leaves nothing to clean up: the next one takes over.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._descriptor: int | None = None

    @property
    def logs(self) -> Path:
        """Where the servers of this folder write their logs."""
        return self.path / "logs"

    def acquire(self) -> None:
        """Make the folder and take it.

        Raises `EmbeddedError`: `embedded.in-use` with the owner's process id,
        `embedded.directory-unusable`.
        """
        if self._descriptor is not None:
            return
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise EmbeddedError(
                "embedded.in-use",
                f"process {owner or 'unknown'} already runs servers here",
                "stop it first, or choose another folder",
                place=self.path,
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def _open(self) -> int:
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o755)
            self.logs.mkdir(exist_ok=True)
            return os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise EmbeddedError(
                "embedded.directory-unusable",
                "this can not be made or written",
                "check who owns it, or choose another folder",
                place=error.filename or self.path,
            ) from error

    def release(self) -> None:
        """Give the folder back; harmless when it was not taken."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
