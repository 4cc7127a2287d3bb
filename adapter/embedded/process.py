"""A supervised child process: its own group, a log file, and no life without its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapter.embedded import keeper
from adapter.embedded.errors import EmbeddedError

__all__ = ["ChildProcess", "User"]

_POLL_SECONDS = 0.05
# Longer than a keeper takes to end its server by force, on a busy machine too.
_LOCK_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class User:
    """The account a child of root runs as.

    `keep_reach` lets the child pass folders whose modes shut the account out, and nothing else
    of root's powers.
    """

    uid: int
    gid: int
    keep_reach: bool = False


class ChildProcess:
    """One command under a keeper (`adapter/embedded/keeper.py`).

    The command runs in its own session and process group, writes to `log_file` and ends when
    this process ends, however that happens. It is stopped with `stop_signal`, and its group is
    killed after `stop_seconds`. With `lock_file`, two children can not work on the same thing;
    `stale_file`, a pid file that only a crash leaves behind, is removed once the lock is taken.
    Not bound to an event loop: it may be started under one and stopped under another.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | os.PathLike[str]],
        *,
        log_file: Path,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        stop_seconds: float = 10.0,
        lock_file: Path | None = None,
        stale_file: Path | None = None,
        user: User | None = None,
    ) -> None:
        self.name = name
        self.command = [os.fspath(part) for part in command]
        self.log_file = log_file.absolute()
        self.environment = environment
        self.directory = directory
        self.stop_signal = stop_signal
        self.stop_seconds = stop_seconds
        self.lock_file = None if lock_file is None else lock_file.absolute()
        self.stale_file = None if stale_file is None else stale_file.absolute()
        self.user = user
        self._keeper: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None

    @property
    def pid(self) -> int:
        """The command's own process id, to look at or to kill."""
        if self._pid is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; 128 + n when it was ended by signal n, as a shell says it."""
        return None if self._keeper is None else self._keeper.poll()

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._keeper is not None and self._keeper.poll() is None

    def _keeper_command(self) -> list[str]:
        options = ["--log", os.fspath(self.log_file), "--signal", str(int(self.stop_signal))]
        options += ["--grace", str(self.stop_seconds)]
        if self.lock_file is not None:
            options += ["--lock", os.fspath(self.lock_file)]
            options += ["--lock-wait", str(_LOCK_WAIT_SECONDS)]
        if self.stale_file is not None:
            options += ["--stale", os.fspath(self.stale_file)]
        if self.user is not None:
            options += ["--uid", str(self.user.uid), "--gid", str(self.user.gid)]
            options += ["--keep-reach"] if self.user.keep_reach else []
        return [sys.executable, "-I", "-S", keeper.__file__, *options, "--", *self.command]

    async def start(self) -> None:
        """Start the command; returns once it has a process id, not once it is ready.

        Raises `EmbeddedError`: `embedded.in-use`, `embedded.directory-unusable`,
        `embedded.did-not-start`.
        """
        if self.running:
            raise RuntimeError(f"{self.name} is running already")
        self._keeper = self._open_keeper()
        assert self._keeper.stdout is not None
        line = await asyncio.to_thread(self._keeper.stdout.readline)
        if not line.strip():
            code = await self.wait()
            raise self._failure(code)
        self._pid = int(line)

    def _open_keeper(self) -> subprocess.Popen[bytes]:
        try:
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
            return subprocess.Popen(
                self._keeper_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.directory,
                env=None if self.environment is None else dict(self.environment),
                start_new_session=True,
            )
        except OSError as error:
            raise EmbeddedError(
                "embedded.directory-unusable",
                f"{self.name} can not use this",
                "check that the folder exists and that you may write to it",
                place=error.filename or self.log_file.parent,
            ) from error

    def _failure(self, code: int) -> EmbeddedError:
        if code == keeper.LOCK_BUSY:
            return EmbeddedError(
                "embedded.in-use",
                f"another process uses the data of {self.name}",
                "stop the other one, or choose another folder",
                place=self.lock_file,
            )
        return self.did_not_start()

    def did_not_start(self) -> EmbeddedError:
        """Build the error for a server that ended, or stayed silent, before it was ready."""
        code = self.exit_code
        fate = "gave no sign of life" if code is None else f"ended with exit code {code}"
        return EmbeddedError(
            "embedded.did-not-start",
            f"{self.name} {fate} before it was ready",
            "see this log of it",
            place=self.log_file,
        )

    async def wait(self) -> int:
        """Wait until the command has ended and give its exit code."""
        if self._keeper is None:
            raise RuntimeError(f"{self.name} was not started")
        # An end can only be awaited on the loop that started the child, and we promise any loop.
        while (code := self._keeper.poll()) is None:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        self._close_pipes()
        if code < 0:
            # The keeper itself was killed; where the kernel does not tell the child, we do.
            self._kill_group()
        return code

    async def stop(self) -> int | None:
        """Stop the command and all of its group; gives the exit code, None if never started."""
        if self._keeper is None:
            return None
        # The keeper does the rest: signal, patience, kill.
        self._close_pipes()
        try:
            return await asyncio.wait_for(self.wait(), self.stop_seconds + 5.0)
        except TimeoutError:
            self.kill()
            return await self.wait()

    def kill(self) -> None:
        """End the command and its group at once, as a crash would (SIGKILL)."""
        if self.running:
            self._kill_group()

    def _kill_group(self) -> None:
        assert self._keeper is not None
        if self._pid is None:
            self._keeper.kill()
            return
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return

    def _close_pipes(self) -> None:
        assert self._keeper is not None
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            if pipe is not None:
                pipe.close()
