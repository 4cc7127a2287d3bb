"""Commands that show a definition: explain, graph, schema, diff; all of them offline."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from adapter import authoring
from adapter.cli.options import FormatOption, ProjectArgument, ProjectOption, chosen_project
from adapter.cli.options import RuntimeOption as Runtime
from adapter.cli.project import catalogue_for, compiled
from adapter.cli.terminal import Format, Terminal
from adapter.errors import Unavailable
from adapter.package import read_package
from adapter.package.digests import SUMS_FILE
from interpreter.definition.document import PackagedDefinition


class PictureFormat(StrEnum):
    """The languages of a picture."""

    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"


def explain(
    project: ProjectArgument = None,
    folder: ProjectOption = None,
    runtime: Runtime = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Tell how a project runs: each step, what it reads and risks, and every way to end."""
    terminal = Terminal(format)
    told = authoring.explain(
        compiled(terminal, chosen_project(project, folder), catalogue_for(runtime))
    )
    if format is Format.JSON:
        terminal.object(told.to_json())
    else:
        terminal.write(told.to_text())


def graph(
    project: ProjectArgument = None,
    folder: ProjectOption = None,
    runtime: Runtime = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="else standard output")
    ] = None,
    format: Annotated[
        PictureFormat, typer.Option("--format", help="mermaid, dot for Graphviz, or svg")
    ] = PictureFormat.MERMAID,
) -> None:
    """Draw a project as a picture or in the language of one."""
    terminal = Terminal()
    packaged = compiled(terminal, chosen_project(project, folder), catalogue_for(runtime))
    text = authoring.graph(packaged, format.value)
    if output is None:
        terminal.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(
            "graph.unwritable",
            "the picture can not be written",
            place=str(output),
            remedy="name a file in a folder that you may write to",
        ) from error


def schema() -> None:
    """Print the JSON Schema of workflow.yaml, for editors that complete and check with it."""
    Terminal().object(authoring.project_schema())


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="a project or package folder")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="a project or package folder")],
    runtime: Runtime = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Say whether the revision changes between two projects or packages, and what changed."""
    terminal = Terminal(format)
    one, other = (_either(terminal, place, runtime) for place in (old, new))
    difference = authoring.diff(one, other)
    if format is Format.JSON:
        terminal.object(difference.to_json())
    else:
        terminal.write(difference.to_text())


def _either(terminal: Terminal, place: Path, runtime: Path | None) -> PackagedDefinition:
    if (place / SUMS_FILE).exists():
        return read_package(place).definition
    return compiled(terminal, place, catalogue_for(runtime))
