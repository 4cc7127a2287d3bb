"""The keeper: one small process that owns one server and never outlives its own parent.

It is run as a file (`python -I -S keeper.py …`) and imports nothing of this house. Its standard
input is a pipe whose other end the parent holds: when the parent ends in any way, kill -9
included, the pipe closes and the keeper stops the server politely, then by force. This works
on every POSIX system; on Linux the server also asks the kernel to be signalled if the keeper
itself is killed.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import fcntl
import os
import select
import signal
import sys
import threading
import time
from typing import NoReturn

__all__ = ["CANNOT_RUN", "LOCK_BUSY", "main"]

LOCK_BUSY = 75
CANNOT_RUN = 126

_PR_SET_PDEATHSIG = 1
_PR_SET_SECUREBITS = 28
_SECBIT_NO_SETUID_FIXUP = 1 << 2
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_CAP_DAC_OVERRIDE = 1
_CAPABILITY_VERSION_3 = 0x20080522


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="keeper")
    parser.add_argument("--log", required=True)
    parser.add_argument("--signal", type=int, required=True)
    parser.add_argument("--grace", type=float, required=True)
    parser.add_argument("--lock")
    parser.add_argument("--lock-wait", type=float, default=0.0)
    parser.add_argument("--stale")
    parser.add_argument("--uid", type=int)
    parser.add_argument("--gid", type=int)
    parser.add_argument("--keep-reach", action="store_true")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def _take_lock(path: str, seconds: float) -> bool:
    """Lock `path` for this process and, by inheritance, for every process of the server.

    The kernel frees the lock with the last of them, so a free lock proves that nothing of an
    earlier server is left, whatever its pid file says. Gives up when the parent ends.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(descriptor, True)
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            parent_ended = bool(select.select([0], [], [], 0.1)[0])
            if parent_ended or time.monotonic() >= until:
                return False
        else:
            return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _prctl(option: int, *values: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)][:4]
    if library.prctl(option, *padded) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _keep_only_reach() -> None:
    """Keep one power of root through the exec: to pass folders whose modes shut others out."""
    library = ctypes.CDLL(None, use_errno=True)
    bit = 1 << _CAP_DAC_OVERRIDE
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)
    if library.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE)


def _become(uid: int, gid: int, keep_reach: bool) -> None:
    linux = sys.platform == "linux"
    if linux and keep_reach:
        # Keeps capabilities over the change of user, and lets access(2) count them, which
        # PostgreSQL asks about its own programs.
        _prctl(_PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP)
    os.setgroups([gid])
    os.setgid(gid)
    os.setuid(uid)
    if linux and keep_reach:
        _keep_only_reach()


def _exec(options: argparse.Namespace) -> NoReturn:
    """Turn the forked child into the server."""
    try:
        os.setpgid(0, 0)
        if options.uid is not None:
            _become(options.uid, options.gid, options.keep_reach)
        if sys.platform == "linux":
            # After the change of user, which clears it.
            _prctl(_PR_SET_PDEATHSIG, options.signal)
        os.execvp(options.command[0], options.command)
    except OSError as error:
        reason = errno.errorcode.get(error.errno or 0, "unknown")
        os.write(2, f"cannot run {options.command[0]}: {reason}\n".encode())
    finally:
        os._exit(CANNOT_RUN)


def _signal_group(child: int, number: int) -> None:
    try:
        os.killpg(child, number)
    except (ProcessLookupError, PermissionError):
        pass


def _stop(child: int, number: int, grace: float) -> None:
    """Ask once, wait `grace` seconds, then end the whole group. Ends with the keeper itself."""
    try:
        os.kill(child, number)
    except ProcessLookupError:
        return
    time.sleep(grace)
    _signal_group(child, signal.SIGKILL)


def _stop_with_parent(child: int, number: int, grace: float) -> None:
    while os.read(0, 512):
        pass
    _stop(child, number, grace)


def _outcome(child: int) -> int:
    """Wait for the server, clear away what is left of its group, give a shell's exit code."""
    if hasattr(os, "waitid"):
        # Unreaped, the child keeps its group number from being given to another process.
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        _signal_group(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


def main() -> int:
    """Run the command of the arguments until it ends or the parent does."""
    options = _arguments()
    log = os.open(options.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    if options.lock and not _take_lock(options.lock, options.lock_wait):
        return LOCK_BUSY
    if options.stale:
        _remove(options.stale)
    null = os.open(os.devnull, os.O_RDONLY)
    child = os.fork()
    if child == 0:
        os.dup2(null, 0)
        os.dup2(log, 1)
        _exec(options)
    stopping = (child, options.signal, options.grace)

    def on_terminate(_number: int, _frame: object) -> None:
        threading.Thread(target=_stop, args=stopping, daemon=True).start()

    signal.signal(signal.SIGTERM, on_terminate)
    signal.signal(signal.SIGINT, on_terminate)
    threading.Thread(target=_stop_with_parent, args=stopping, daemon=True).start()
    os.write(1, f"{child}\n".encode())
    return _outcome(child)


if __name__ == "__main__":
    sys.stdout = sys.stderr
    os._exit(main())
