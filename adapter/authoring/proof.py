"""All that `check` looks at: the project, its folder, its runtime files and its scenarios."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from activities.catalogue.catalogue import Catalogue
from activities.yaml.reader import LARGEST_FILE_BYTES
from activities.yaml.sources import Sources
from adapter.authoring.diagnostics.diagnostic import Diagnostic, Report, Severity
from adapter.authoring.files import project_folder
from adapter.authoring.folder import check_folder
from adapter.authoring.projects import ProjectResult, load_project
from adapter.authoring.runtimes import RuntimeReading, check_bindings, read_runtime
from adapter.authoring.runtimes.replies import check_replies
from adapter.authoring.scenarios.reading import load_suite
from adapter.authoring.scenarios.running import run_suite
from adapter.authoring.scenarios.suite import SCENARIOS_FILE, V1ALPHA1
from adapter.config.files import read_named_file
from interpreter.definition.document import PackagedDefinition

RUNTIME_FILE = "runtime.yaml"


def prove_project(
    path: Path,
    catalogue: Catalogue,
    *,
    runtime: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> ProjectResult:
    """Check a project with all that lies beside it (contract 2.4); every case is played.

    ``runtime`` is checked with the workflow's bindings, as a ``runtime.yaml`` of the folder is.
    ``environment`` gives the values of ``${NAME}`` in runtime files of the public format. Raises
    Unavailable when there is no readable folder, Usage when there is no readable ``runtime``.
    """
    folder = project_folder(path)
    result = load_project(path, catalogue)
    sources = Sources(dict(result.sources.files))
    found = [*result.diagnostics, *check_folder(folder)]
    readings = []
    for file in _runtimes(folder, runtime):
        shown = file.name if file.parent == folder else str(file)
        reading, about = _check_runtime(file, shown, result.definition, environment)
        readings.append(reading)
        found += about
    scenarios = folder / SCENARIOS_FILE
    if result.definition is not None and _is_file(scenarios):
        found += _play(scenarios, result.definition, sources, readings)
    return ProjectResult(result.definition, tuple(found), sources, result.format)


def prove_runtime(path: Path, environment: Mapping[str, str] | None = None) -> ProjectResult:
    """Check a runtime file alone, in either format; Usage ``runtime.unreadable`` if it is none."""
    return ProjectResult(None, _check_runtime(path, str(path), None, environment)[1], Sources())


def _runtimes(folder: Path, named: Path | None) -> Iterator[Path]:
    """The runtime files to check, none of them twice."""
    own = folder / RUNTIME_FILE
    there = _is_file(own)
    if named is not None and not (there and named.exists() and own.samefile(named)):
        yield named.absolute()
    if there:
        yield own


def _is_file(path: Path) -> bool:
    """True for a regular file; what else lies there was reported with the folder."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _check_runtime(
    file: Path,
    shown: str,
    definition: PackagedDefinition | None,
    environment: Mapping[str, str] | None,
) -> tuple[RuntimeReading, tuple[Diagnostic, ...]]:
    """Findings about a runtime file; its lines are never shown, for one may hold a secret."""
    report = Report()
    data = read_named_file(file, LARGEST_FILE_BYTES, code="runtime.unreadable", what="runtime file")
    reading: RuntimeReading = read_runtime(data, shown, file.absolute().parent, report, environment)
    if definition is not None:
        check_bindings(reading, definition.definition, report)
    return reading, report.findings()


def _play(
    file: Path,
    definition: PackagedDefinition,
    sources: Sources,
    readings: Iterable[RuntimeReading],
) -> tuple[Diagnostic, ...]:
    reading = load_suite(file, definition.definition)
    sources.files.update(reading.sources.files)
    if reading.suite is None:
        return reading.diagnostics
    played = run_suite(definition, reading.suite).findings
    if reading.suite.format == V1ALPHA1:
        # Its own check says nothing about values that no product would give; `test` does.
        played = tuple(one for one in played if one.severity is Severity.ERROR)
    report = Report()
    for one in readings:
        check_replies(one, definition.definition, reading.suite, report)
    return (*reading.diagnostics, *played, *report.findings())
