"""Commands about a project folder: init, check, explain, package; all of them offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from activities.catalogue import Catalogue
from adapter.authoring import ProjectResult, load_project
from adapter.authoring.diagnostics.json import render_json
from adapter.authoring.diagnostics.text import render_text
from adapter.cli.explanation import explained_nodes
from adapter.cli.options import FormatOption, ProjectOption, RuntimeOption
from adapter.cli.starter import FILES
from adapter.cli.terminal import Format, Terminal
from adapter.config.catalogue import catalogue_of
from adapter.config.loading import load_runtime
from adapter.errors import Refused, Unavailable
from adapter.package import write_package
from interpreter.definition.document import PackagedDefinition

REFUSED = 1


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
    terminal.line(f"next: coordinatorctl check --project {directory}")


def check(
    project: Annotated[
        Path | None, typer.Option("--project", metavar="DIR", help="the project's folder")
    ] = None,
    runtime: RuntimeOption = None,
    deny_warnings: Annotated[bool, typer.Option("--deny-warnings")] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Prove a project without a server: every value a step reads exists on every route to it.

    With --runtime the file itself is checked, and its catalogue documents count for the project;
    without --project and --runtime the current folder is the project.
    """
    loaded = None if runtime is None else load_runtime(runtime)
    terminal = Terminal(format)
    if project is None and loaded is not None:
        catalogue_of(loaded)
        _say_sound(terminal, {"status": "valid", "runtime": str(loaded.path)})
        return
    folder = project or Path()
    result = load_project(folder, catalogue_of(loaded))
    if result.definition is None or (deny_warnings and result.warnings):
        refuse_project(terminal, result, folder)
    found = _facts(result.definition)
    status = "valid-with-warnings" if result.warnings else "valid"
    if format is Format.TEXT and result.warnings:
        terminal.line(render_text(result.diagnostics, result.sources, folder=str(folder)))
    _say_sound(
        terminal,
        {"status": status, **found, "diagnostics": [d.to_json() for d in result.diagnostics]},
    )


def explain(project: ProjectOption = Path(), format: FormatOption = Format.TEXT) -> None:
    """Tell how a project runs: each step, what it does, and where it can go."""
    terminal = Terminal(format)
    packaged = _compiled(terminal, project, Catalogue.standard())
    nodes = explained_nodes(packaged)
    if format is Format.JSON:
        terminal.object(_facts(packaged) | {"nodes": nodes})
        return
    terminal.facts(_facts(packaged).items())
    terminal.line()
    rows = [
        (n["node"], n["does"], ", ".join(f"{o} → {to}" for o, to in n["outlets"].items()))
        for n in nodes
    ]
    terminal.table(("step", "does", "goes on"), rows)


def package(
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="a folder that does not exist")
    ],
    project: ProjectOption = Path(),
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Freeze a project into an immutable package, and tell the digest to pin."""
    terminal = Terminal(format)
    loaded = None if runtime is None else load_runtime(runtime)
    packaged = _compiled(terminal, project, catalogue_of(loaded))
    digest = write_package(packaged, output)
    facts = {"root": str(output), "package": digest, **_facts(packaged)}
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


def _compiled(terminal: Terminal, folder: Path, catalogue: Catalogue) -> PackagedDefinition:
    result = load_project(folder, catalogue)
    if result.definition is None:
        refuse_project(terminal, result, folder)
    return result.definition


def refuse_project(terminal: Terminal, result: ProjectResult, folder: Path) -> NoReturn:
    """Write every finding and leave with exit code 1."""
    if terminal.format is Format.JSON:
        terminal.out.write(render_json(result.diagnostics))
    else:
        text = render_text(
            result.diagnostics, result.sources, folder=str(folder), color=terminal.live
        )
        terminal.complain(text)
    raise typer.Exit(REFUSED)


def _facts(packaged: PackagedDefinition) -> dict[str, Any]:
    definition = packaged.definition
    return {
        "workflow": definition.id,
        "version": packaged.labels.version,
        "revision": definition.revision,
        "steps": len(definition.nodes),
    }


def _say_sound(terminal: Terminal, facts: dict[str, Any]) -> None:
    if terminal.format is Format.JSON:
        terminal.object(facts)
    else:
        terminal.facts((name, value) for name, value in facts.items() if name != "diagnostics")
