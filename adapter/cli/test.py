"""The command `coordinatorctl test`: plays a project's scenarios offline, on a virtual clock."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from adapter.authoring import Diagnostic, ProjectResult, Sources, load_project
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.diagnostics.text import render_text
from adapter.authoring.files import project_folder
from adapter.authoring.formats.envelope import V1ALPHA1
from adapter.authoring.scenarios import (
    SCENARIOS_FILE,
    Suite,
    SuiteResult,
    TextReport,
    Written,
    load_suite,
    render_junit,
    run_suite,
    skeletons,
    suite_document,
    write_skeletons,
)
from adapter.authoring.scenarios.document import written_document
from adapter.cli.options import ProjectArgument, ProjectOption, RuntimeOption, chosen_project
from adapter.cli.project import catalogue_for, exit_code, refuse_project, report_of
from adapter.cli.terminal import Format, Terminal
from adapter.errors import Usage
from interpreter.definition.document import PackagedDefinition
from interpreter.scenario import Dialect, Outlet, outlets_of

FAILED = 1
_PROGRESS_FROM = 200
"""Cases from which on a person sees how far the suite has come."""


class ResultFormat(StrEnum):
    """How results are written."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def play(
    named: ProjectArgument = None,
    folder: ProjectOption = None,
    scenarios: Annotated[
        Path | None,
        typer.Option("--scenarios", metavar="FILE", help="else scenarios.yaml of the project"),
    ] = None,
    case: Annotated[
        list[str] | None, typer.Option("--case", metavar="ID", help="only this case; repeatable")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="say which ways out of which steps no case takes")
    ] = False,
    generate: Annotated[
        bool, typer.Option("--generate", help="write a skeleton case for each of those")
    ] = False,
    runtime: RuntimeOption = None,
    format: Annotated[
        ResultFormat, typer.Option("--format", help="text, json, or junit for build servers")
    ] = ResultFormat.TEXT,
) -> None:
    """Play a project's scenarios without a server; a month of waiting takes no time."""
    terminal = Terminal(Format.JSON if format is ResultFormat.JSON else Format.TEXT)
    project = chosen_project(named, folder)
    result = load_project(project, catalogue_for(runtime))
    if result.definition is None:
        refuse_project(terminal, result, project)
    file = scenarios or project_folder(project) / SCENARIOS_FILE
    if generate and not file.exists():
        _begin(terminal, result, result.definition, file)
        return
    reading = load_suite(file, result.definition.definition)
    if reading.suite is None:
        _refuse(terminal, reading.diagnostics, reading.sources, _folder(file))
    suite = reading.suite
    _check_ids(suite, case or ())
    played = run_suite(
        result.definition, suite, only=case or (), progress=_progress(terminal, suite)
    )
    written = _generate(result.definition, played, file) if generate else None
    _report(played, terminal, format, coverage or generate, file, result.definition, written)
    if not played.passed:
        raise typer.Exit(FAILED)


def _check_ids(suite: Suite, wanted: Sequence[str]) -> None:
    known = [one.id for one in suite.cases]
    for id in wanted:
        if id not in known:
            raise Usage(
                "scenarios.unknown-case",
                "the file has no such case",
                place="--case",
                remedy=suggestion(id, known) or "see the ids of its cases",
            )


def _begin(
    terminal: Terminal, result: ProjectResult, packaged: PackagedDefinition, file: Path
) -> None:
    """Write the first file of scenarios; the project's format decides about the file's."""
    dialect = Dialect.PUBLIC if result.format == V1ALPHA1 else Dialect.FULL
    made = tuple(skeletons(packaged, outlets_of(packaged.definition), dialect))
    if not made:
        raise Usage(
            "scenarios.nothing-to-generate",
            "no step of the workflow has a way out that a case could take",
            place=str(file),
            remedy="write a case by hand",
        )
    written = write_skeletons(file, made, None, packaged.definition)
    if terminal.format is Format.JSON:
        terminal.object({"status": "generated", **written_document(written)})
    else:
        _say_written(terminal, written)


def _generate(packaged: PackagedDefinition, played: SuiteResult, file: Path) -> Written | None:
    """Add a skeleton for every way out that is not taken; None when there is none."""
    suite = played.suite
    untaken: tuple[Outlet, ...] = played.coverage.untaken
    dialect = suite.cases[0].dialect
    made = tuple(skeletons(packaged, untaken, dialect, suite.cases))
    if not made:
        return None
    return write_skeletons(file, made, suite, packaged.definition)


def _say_written(terminal: Terminal, written: Written) -> None:
    verb = "wrote" if written.created else "added"
    terminal.line(f"{verb} {len(written.ids)} cases: {written.file}")
    for id in written.ids:
        note = "  (to be completed)" if id in written.incomplete else ""
        terminal.line(f"  {id}{note}")


def _report(
    played: SuiteResult,
    terminal: Terminal,
    format: ResultFormat,
    coverage: bool,
    file: Path,
    packaged: PackagedDefinition,
    written: Written | None,
) -> None:
    folder = _folder(file)
    if format is ResultFormat.JUNIT:
        terminal.write(render_junit(played, packaged.definition.id, folder=folder))
        return
    if format is ResultFormat.JSON:
        document = suite_document(played)
        if written is not None:
            document["generated"] = written_document(written)
        terminal.object(document)
        return
    report = TextReport(folder=folder, color=terminal.live, coverage=coverage)
    terminal.write(report.render(played))
    if written is not None:
        terminal.line()
        _say_written(terminal, written)


def _refuse(
    terminal: Terminal, found: Sequence[Diagnostic], sources: Sources, folder: str
) -> NoReturn:
    """Write every finding; exit code 1, or 3 when the file can not be read."""
    code = exit_code(found)
    if terminal.format is Format.JSON:
        status = "operational-failure" if code != FAILED else "domain-refusal"
        terminal.object(report_of("test", status, found, ok=False))
    else:
        terminal.complain(render_text(found, sources, folder=folder, color=terminal.live))
    raise typer.Exit(code)


def _folder(file: Path) -> str:
    return "" if file.parent == Path() else str(file.parent)


class _Progress:
    """One line on stderr that says how far a long suite has come."""

    def __call__(self, done: int, total: int) -> None:
        """Write the line, once for every hundredth of the cases."""
        if done % max(1, total // 100) == 0 or done == total:
            end = "\r\033[K" if done == total else ""
            sys.stderr.write(f"\r{done} of {total} cases{end}")
            sys.stderr.flush()


def _progress(terminal: Terminal, suite: Suite) -> _Progress | None:
    watched = terminal.live and sys.stderr.isatty()
    return _Progress() if watched and len(suite.cases) >= _PROGRESS_FROM else None
