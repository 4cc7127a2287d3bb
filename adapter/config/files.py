"""Reads a file that an operator names: bounded, and never a folder, pipe or device."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from adapter.errors import Usage


def read_named_file(path: Path, most_bytes: int, *, code: str, what: str) -> bytes:
    """At most ``most_bytes`` + 1 bytes of a regular file; links are followed.

    Mounted settings are links on many platforms, so a link is no mistake here. Raises Usage
    ``code`` for a file that is absent, unreadable or not regular; ``what`` names it in the message.
    """
    try:
        # O_NONBLOCK: opening a pipe that nobody writes to must not wait.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise _unusable(code, f"there is no such {what}", path, "correct the path") from error
    except (OSError, ValueError) as error:
        remedy = "check that it exists and that you may read it"
        raise _unusable(code, f"the {what} can not be read", path, remedy) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            remedy = "name a regular file"
            raise _unusable(code, f"the {what} is not a regular file", path, remedy)
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most_bytes + 1)
    finally:
        os.close(handle)


def _unusable(code: str, message: str, path: Path, remedy: str) -> Usage:
    return Usage(code, message, place=str(path), remedy=remedy)
