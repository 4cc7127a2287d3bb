"""Reads the files of a project folder: regular files only, bounded, never through a link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from activities.yaml.sources import Spot
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.errors import Unavailable


def project_folder(path: Path) -> Path:
    """The folder of a project; ``path`` may also name its workflow.yaml.

    Raises Unavailable ``coordinator.definition.read``.
    """
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise _no_project(path, "there is no such folder") from error
    except (OSError, ValueError) as error:
        raise _no_project(path, "the folder can not be read") from error
    if stat.S_ISDIR(found.st_mode):
        return path
    if path.name == "workflow.yaml":
        return path.parent
    raise _no_project(path, "this is not a project folder")


def _no_project(path: Path, message: str) -> Unavailable:
    return Unavailable(
        "coordinator.definition.read",
        message,
        place=str(path),
        remedy="name the folder that holds workflow.yaml, and check that you may read it",
    )


def read_regular_file(
    folder: Path, name: str, most_bytes: int, report: Report, spot: Spot | None = None
) -> bytes | None:
    """The first ``most_bytes`` + 1 bytes of a file, or None after a finding at ``spot``.

    A link, a folder, a pipe or a device is refused without being opened.
    """
    place = spot or Spot(name)
    try:
        found = os.lstat(folder / name)
        if not stat.S_ISREG(found.st_mode):
            message = f"{name} is not a regular file"
            report.add("coordinator.definition.file", place, message)
            return None
        # O_NONBLOCK: a pipe that took the file's place must not block the open.
        handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        report.add("coordinator.definition.read", place, f"there is no {name} in the project")
        return None
    except OSError:
        remedy = "check the file's permissions"
        report.add("coordinator.definition.read", place, f"{name} can not be read", remedy)
        return None
    with os.fdopen(handle, "rb") as file:
        return file.read(most_bytes + 1)
