"""Where the runtime file is: the flag, else the environment, else the current folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from adapter.errors import Usage

VARIABLE = "COORDINATOR_RUNTIME"
DEVELOPMENT_FOLDER = ".coordinator"
FILE_NAME = "runtime.yaml"


def find_runtime(flag: Path | None = None, environment: Mapping[str, str] = os.environ) -> Path:
    """The runtime file to use; Usage ``runtime.absent`` if it does not exist."""
    path, origin = _candidate(flag, environment)
    if not path.is_file():
        raise Usage(
            "runtime.absent",
            f"there is no runtime file here ({origin})",
            place=str(path),
            remedy=f"name one with --runtime or {VARIABLE}, or run `coordinatorctl dev` first",
        )
    return path


def _candidate(flag: Path | None, environment: Mapping[str, str]) -> tuple[Path, str]:
    if flag is not None:
        return flag, "named by --runtime"
    if named := environment.get(VARIABLE):
        return Path(named), f"named by {VARIABLE}"
    return Path(DEVELOPMENT_FOLDER) / FILE_NAME, "the default place"


def setting(name: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """An environment variable of this project's own, None when it is unset or empty."""
    return environment.get(f"COORDINATOR_{name}") or None
