"""What else lies in a project folder: files that look as if they counted, and do not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from activities.yaml.reader import LARGEST_FILE_BYTES, read_yaml
from activities.yaml.sources import Spot
from activities.yaml.tree import Scalar, Table
from adapter.authoring.diagnostics.diagnostic import Diagnostic, Report
from adapter.authoring.files import project_folder, read_regular_file
from adapter.errors import Unavailable

MOST_ENTRIES = 1_024

_PASSED_OVER = frozenset({".coordinator", "workflow.yaml", "functions.rhai"})
"""What a deployment keeps here, and what is judged where it is read."""

_ENDINGS = (".yaml", ".yml")
_FILE_OF_KIND = {
    "CoordinatorProject": "workflow.yaml",
    "CoordinatorScenarios": "scenarios.yaml",
    "CoordinatorRuntime": "runtime.yaml",
    "CoordinatorRuntimeConfig": "runtime.yaml",
}


def check_folder(path: Path) -> tuple[Diagnostic, ...]:
    """Findings about the entries of a project folder other than its own files' contents.

    A link or special file and a file of ours under another name are errors, a folder that is not
    looked into is a warning (contract 2.4); ``.coordinator`` is passed over. Raises Usage or
    Unavailable when there is no readable folder.
    """
    folder = project_folder(path)
    report = Report()
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise Unavailable(
            "coordinator.definition.read",
            "the folder can not be read",
            place=str(path),
            remedy="check its permissions",
        ) from error
    if len(names) > MOST_ENTRIES:
        message = f"the project folder has more than {MOST_ENTRIES} entries"
        report.add("coordinator.project.too-many-files", Spot("."), message)
        return report.findings()
    for name in names:
        if name not in _PASSED_OVER:
            _entry(folder, name, report)
    return report.findings()


def _entry(folder: Path, name: str, report: Report) -> None:
    try:
        mode = os.lstat(folder / name).st_mode
    except OSError:
        return  # It has gone since the folder was listed.
    shown = name if name.isprintable() else ascii(name)
    if stat.S_ISDIR(mode) and name not in _FILE_OF_KIND.values():
        message = f"the folder `{shown}` is not looked into"
        report.add("coordinator.project.unread-directory", Spot(shown), message)
    elif not stat.S_ISREG(mode):
        message = f"`{shown}` is a link or no regular file"
        report.add("coordinator.project.not-a-regular-file", Spot(shown), message)
    elif name.endswith(_ENDINGS) and name not in _FILE_OF_KIND.values():
        _kind(folder, name, report)


def _kind(folder: Path, name: str, report: Report) -> None:
    """Report a file that says to be one of ours; other YAML is nobody's business here."""
    silent = Report()
    data = read_regular_file(folder, name, LARGEST_FILE_BYTES, silent)
    tree = None if data is None else read_yaml(data, name, silent, substitution=True)[0]
    entry = tree.entries.get("kind") if isinstance(tree, Table) else None
    if entry is None or not isinstance(entry.value, Scalar):
        return
    belongs = _FILE_OF_KIND.get(str(entry.value.value))
    if belongs is not None:
        message = f"a file of this kind is read only as {belongs}"
        remedy = f"rename it to {belongs}, or move it out of the project"
        report.add("coordinator.project.misplaced-kind", entry.value.spot, message, remedy)
