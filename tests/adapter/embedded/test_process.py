"""A child process: it obeys, it tells how it ended, and it never outlives its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adapter.embedded import ChildProcess, EmbeddedError

_PARENT = """
import asyncio, sys
from pathlib import Path
from adapter.embedded import ChildProcess

async def main():
    child = ChildProcess("sleeper", {command!r}, log_file=Path({log!r}), stop_seconds=0.3)
    await child.start()
    print(child.pid, flush=True)
    await child.wait()

asyncio.run(main())
"""


def _gone(pid: int, seconds: float = 10.0) -> bool:
    """Wait until a process we are not the parent of has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def _orphan_maker(tmp_path: Path, command: list[str]) -> tuple[subprocess.Popen[str], int]:
    """Start a parent with one child; give the parent and the child's process id."""
    script = _PARENT.format(command=command, log=str(tmp_path / "child.log"))
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=os.getcwd()
    )
    assert parent.stdout is not None
    return parent, int(parent.stdout.readline())


def _end(parent: subprocess.Popen[str]) -> None:
    parent.kill()
    parent.communicate()


def test_kill_9_of_the_parent_leaves_no_orphan(tmp_path: Path) -> None:
    parent, child = _orphan_maker(tmp_path, ["sleep", "300"])
    _end(parent)
    assert _gone(child)


def test_kill_9_of_the_parent_ends_even_a_deaf_child_and_its_children(tmp_path: Path) -> None:
    grandchild = tmp_path / "grandchild"
    deaf = f"trap '' TERM; sleep 300 & echo $! > {grandchild}; while :; do sleep 0.1; done"
    parent, child = _orphan_maker(tmp_path, ["sh", "-c", deaf])
    while not grandchild.exists() or not grandchild.read_text().strip():
        time.sleep(0.02)
    _end(parent)
    assert _gone(child)
    assert _gone(int(grandchild.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of a dead keeper")
async def test_kill_9_of_the_keeper_ends_the_child(tmp_path: Path) -> None:
    child = ChildProcess("sleeper", ["sleep", "300"], log_file=tmp_path / "log")
    await child.start()
    assert child._keeper is not None
    child._keeper.kill()
    assert await child.wait() == -signal.SIGKILL
    assert _gone(child.pid)


async def test_the_stop_signal_is_the_one_asked_for(tmp_path: Path) -> None:
    script = "trap 'echo interrupted; exit 7' USR1; echo up; while :; do sleep 0.05; done"
    log = tmp_path / "log"
    child = ChildProcess("script", ["sh", "-c", script], log_file=log, stop_signal=signal.SIGUSR1)
    await child.start()
    while "up" not in log.read_text():
        await asyncio.sleep(0.02)
    assert await child.stop() == 7
    assert "interrupted" in log.read_text()


async def test_a_deaf_child_is_killed_after_the_grace(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    child = ChildProcess("deaf", ["sh", "-c", script], log_file=log, stop_seconds=0.3)
    await child.start()
    while "up" not in log.read_text():
        await asyncio.sleep(0.02)
    assert await child.stop() == 128 + signal.SIGKILL


async def test_a_missing_command_is_an_exit_code_and_a_line_in_the_log(tmp_path: Path) -> None:
    child = ChildProcess("nothing", ["/no/such/program"], log_file=tmp_path / "log")
    await child.start()
    assert await child.wait() == 126
    assert (tmp_path / "log").read_text() == "cannot run /no/such/program: ENOENT\n"


async def test_an_unusable_log_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    child = ChildProcess("nothing", ["true"], log_file=tmp_path / "file" / "log")
    with pytest.raises(EmbeddedError, match="file") as caught:
        await child.start()
    assert caught.value.code == "embedded.directory-unusable"
    assert caught.value.place == str(tmp_path / "file")


async def test_stopping_twice_or_before_the_start_is_harmless(tmp_path: Path) -> None:
    child = ChildProcess("sleeper", ["sleep", "300"], log_file=tmp_path / "log")
    assert await child.stop() is None
    await child.start()
    assert await child.stop() == 128 + signal.SIGTERM
    assert await child.stop() == 128 + signal.SIGTERM
    child.kill()


async def test_the_environment_is_only_what_was_given(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = ChildProcess(
        "env", ["/usr/bin/env"], log_file=log, environment={"ONLY": "this"}, directory=tmp_path
    )
    await child.start()
    assert await child.wait() == 0
    assert "ONLY=this" in log.read_text()
    assert "HOME=" not in log.read_text()


async def test_a_start_that_waits_for_a_lock_can_be_given_up(tmp_path: Path) -> None:
    def child(name: str) -> ChildProcess:
        lock, log = tmp_path / "lock", tmp_path / "log"
        return ChildProcess(name, ["sleep", "300"], log_file=log, lock_file=lock)

    first, second = child("first"), child("second")
    await first.start()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(second.start(), 0.3)
    began = time.monotonic()
    assert await second.stop() == 75
    assert time.monotonic() - began < 5
    await first.stop()
