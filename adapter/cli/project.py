"""Commands about a project folder: init and package, and how a project's findings are written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from activities.catalogue import Catalogue
from adapter.authoring import Diagnostic, ProjectResult, load_project, render_text
from adapter.authoring.diagnostics.json import findings_document
from adapter.cli.options import (
    FormatOption,
    ProjectArgument,
    ProjectOption,
    RuntimeOption,
    chosen_project,
)
from adapter.cli.starter import FILES
from adapter.cli.terminal import Format, Terminal
from adapter.config.catalogue import catalogue_of
from adapter.config.loading import load_runtime
from adapter.errors import Refused, Unavailable
from adapter.package import write_package
from interpreter.definition.document import PackagedDefinition

REFUSED, UNREADABLE = 1, 3
REPORT_VERSION = "coordinator/v1"
REPORT_KIND = "CoordinatorCtlReport"

_UNREADABLE_CODES = frozenset({"coordinator.definition.read", "coordinator.scenario.read"})


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="a folder that does not exist")],
    format: FormatOption = Format.TEXT,
) -> None:
    """Write a small project that passes `check`, to start from."""
    try:
        directory.mkdir(parents=True)
        for name, text in FILES.items():
            (directory / name).write_text(text, encoding="utf-8")
    except FileExistsError as error:
        raise Refused(
            "project.exists",
            "something stands there already, and nothing is overwritten",
            place=str(directory),
            remedy="name a folder that does not exist yet",
        ) from error
    except OSError as error:
        raise Unavailable(
            "project.unwritable",
            "the folder can not be made",
            place=str(directory),
            remedy="check that you may write there",
        ) from error
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object({"status": "initialized", "files": sorted(FILES)})
        return
    terminal.line(f"wrote {', '.join(sorted(FILES))} into {directory}")
    terminal.line(f"next: coordinatorctl check {directory}")
    terminal.line(f"then: coordinatorctl test {directory}")


def package(
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="a folder that does not exist")
    ],
    project: ProjectArgument = None,
    folder: ProjectOption = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Freeze a project into an immutable package, and tell the digest to pin."""
    terminal = Terminal(format)
    packaged = compiled(terminal, chosen_project(project, folder), catalogue_for(runtime))
    digest = write_package(packaged, output)
    facts = {"root": str(output), "package": digest, **facts_of(packaged)}
    if format is Format.JSON:
        terminal.object(facts)
    else:
        terminal.facts(facts.items())


def compile_project(folder: Path, catalogue: Catalogue) -> PackagedDefinition:
    """The definition of a project that has no errors; Refused ``project.invalid`` otherwise."""
    result = load_project(folder, catalogue)
    if result.definition is None:
        first = result.errors[0]
        raise Refused(
            first.code,
            f"{first.message} ({len(result.errors)} errors)",
            place=f"{folder}/{first.spot.file}:{first.spot.line}",
            remedy=f"see `coordinatorctl check --project {folder}`",
        )
    return result.definition


def compiled(terminal: Terminal, folder: Path, catalogue: Catalogue) -> PackagedDefinition:
    """The definition of a project; without one its findings are written and the command ends."""
    result = load_project(folder, catalogue)
    if result.definition is None:
        refuse_project(terminal, result, folder)
    return result.definition


def catalogue_for(runtime: Path | None) -> Catalogue:
    """The standard catalogue, and the documents that a runtime file adds to it."""
    return catalogue_of(None if runtime is None else load_runtime(runtime))


def refuse_project(terminal: Terminal, result: ProjectResult, folder: Path) -> NoReturn:
    """Write every finding and leave with exit code 1, or 3 when a file can not be read."""
    code = exit_code(result.errors)
    if terminal.format is Format.JSON:
        status = "operational-failure" if code == UNREADABLE else "domain-refusal"
        terminal.object(report_of("", status, result.diagnostics, ok=False))
    else:
        shown = "" if folder == Path() else str(folder)
        text = render_text(result.diagnostics, result.sources, folder=shown, color=terminal.live)
        terminal.complain(text)
    raise typer.Exit(code)


def exit_code(errors: Iterable[Diagnostic]) -> int:
    """1 for findings of what was read, 3 when something could not be read at all."""
    return UNREADABLE if any(one.code in _UNREADABLE_CODES for one in errors) else REFUSED


def report_of(
    command: str, status: str, diagnostics: Iterable[Diagnostic], *, ok: bool
) -> dict[str, Any]:
    """``{apiVersion, kind, ok, command?, status, errors, warnings, diagnostics}``."""
    return {
        "apiVersion": REPORT_VERSION,
        "kind": REPORT_KIND,
        **({"command": command} if command else {}),
        "status": status,
        **findings_document(diagnostics),
        "ok": ok,
    }


def facts_of(packaged: PackagedDefinition) -> dict[str, Any]:
    """``{workflow, version, revision, steps}``."""
    definition = packaged.definition
    return {
        "workflow": definition.id,
        "version": packaged.labels.version,
        "revision": definition.revision,
        "steps": len(definition.nodes),
    }
