"""Where things are in this repository, for the tests of the house."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("adapter", "activities", "interpreter")
_NOT_OURS = {
    "__pycache__",
    "build",
    "dist",
    "node_modules",
}


def python_files(*folders: str) -> list[Path]:
    """Every Python file under the named folders, relative to the root."""
    return sorted(path for folder in folders for path in _walk(ROOT / folder, ".py"))


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file, read once a run."""
    return ast.parse((ROOT / path).read_text())


def text_files() -> list[Path]:
    """Every file of the repository that is no cache, environment or data."""
    return sorted(_walk(ROOT, ""))


def _walk(folder: Path, ending: str) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _is_ours(name)]
        yield from (
            (Path(place) / name).relative_to(ROOT) for name in names if name.endswith(ending)
        )


def _is_ours(folder: str) -> bool:
    hidden = folder.startswith(".") and folder != ".ci"
    return not hidden and folder not in _NOT_OURS and not folder.endswith(".egg-info")
