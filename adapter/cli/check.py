"""The command `check`: a project, all that lies beside it, and runtime files, proved offline."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from adapter.authoring import explain, render_github, render_sarif, render_text
from adapter.authoring.projects import ProjectResult
from adapter.authoring.proof import prove_project, prove_runtime
from adapter.cli.options import ProjectArgument, ProjectOption, chosen_project
from adapter.cli.project import exit_code, facts_of, report_of
from adapter.cli.terminal import Format, Terminal
from adapter.config.catalogue import catalogue_of
from adapter.config.findings import ConfigurationError
from adapter.config.loading import Runtime, is_public_runtime, load_runtime
from adapter.errors import Usage

REFUSED = 1


class FindingsFormat(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


def check(
    project: ProjectArgument = None,
    folder: ProjectOption = None,
    runtime: Annotated[
        Path | None,
        typer.Option(
            "--runtime", "--runtime-config", metavar="FILE", help="check this runtime file too"
        ),
    ] = None,
    deny_warnings: Annotated[
        bool, typer.Option("--deny-warnings", help="refuse a project with warnings as well")
    ] = False,
    told: Annotated[
        bool, typer.Option("--explain", help="tell how a sound project runs, as explain does")
    ] = False,
    environment: Annotated[
        bool, typer.Option("--environment", help="take ${NAME} from this environment")
    ] = False,
    format: Annotated[
        FindingsFormat,
        typer.Option("--format", help="text, json, github annotations, or sarif"),
    ] = FindingsFormat.TEXT,
) -> None:
    """Prove a project without a server: every value a step reads exists on every route to it.

    A runtime.yaml beside it is checked with its bindings, and every case of its scenarios.yaml is
    played. With --runtime that file is checked as well, and its catalogue documents count for the
    project; alone it is all that is checked. Without either the current folder is the project.
    """
    alone = runtime is not None and project is None and folder is None
    if alone and told:
        raise Usage(
            "usage.missing",
            "there is no project to explain",
            place="--explain",
            remedy="name the project's folder as well",
        )
    place = chosen_project(project, folder)
    proof = _prove(None if alone else place, runtime, os.environ if environment else None)
    refused = bool(proof.errors) or (deny_warnings and bool(proof.warnings))
    shown = "" if alone else ("" if place == Path() else str(place))
    _write(proof, format, shown, told=told and not refused, refused=refused, alone=alone)
    if refused:
        raise typer.Exit(exit_code(proof.errors) if proof.errors else REFUSED)


def _prove(project: Path | None, runtime: Path | None, environment: Any) -> ProjectResult:
    if project is None:
        assert runtime is not None
        proof = prove_runtime(runtime, environment)
        if not proof.errors and not is_public_runtime(runtime):
            catalogue_of(load_runtime(runtime))
        return proof
    catalogue = catalogue_of(_sound(runtime))
    return prove_project(project, catalogue, runtime=runtime, environment=environment)


def _sound(runtime: Path | None) -> Runtime | None:
    """The runtime file if it may name catalogue documents; what is wrong with it comes later."""
    if runtime is None or is_public_runtime(runtime):
        return None
    try:
        return load_runtime(runtime)
    except ConfigurationError:
        return None


def _write(
    proof: ProjectResult,
    format: FindingsFormat,
    folder: str,
    *,
    told: bool,
    refused: bool,
    alone: bool,
) -> None:
    terminal = Terminal(Format.JSON if format is FindingsFormat.JSON else Format.TEXT)
    if format is FindingsFormat.GITHUB:
        terminal.write(render_github(proof.diagnostics, folder=folder))
    elif format is FindingsFormat.SARIF:
        terminal.write(render_sarif(proof.diagnostics, folder=folder))
    elif format is FindingsFormat.JSON:
        status = _status(proof, refused=refused, alone=alone)
        facts = {} if proof.definition is None else facts_of(proof.definition)
        if told and proof.definition is not None:
            facts |= explain(proof.definition).to_json()
        terminal.object(report_of("check", status, proof.diagnostics, ok=not refused) | facts)
    else:
        _write_text(proof, terminal, folder, refused=refused, told=told, alone=alone)


def _status(proof: ProjectResult, *, refused: bool, alone: bool) -> str:
    if refused:
        return "operational-failure" if exit_code(proof.errors) == 3 else "domain-refusal"
    if alone:
        return "checked"
    return "valid-with-warnings" if proof.warnings else "valid"


def _write_text(
    proof: ProjectResult, terminal: Terminal, folder: str, *, refused: bool, told: bool, alone: bool
) -> None:
    """Findings go to stderr when they refuse, so that a sound answer stands alone on stdout."""
    if proof.diagnostics:
        live = terminal.live
        text = render_text(proof.diagnostics, proof.sources, folder=folder, color=live)
        if refused:
            terminal.complain(text)
            return
        terminal.write(text + "\n")
    status = _status(proof, refused=refused, alone=alone)
    facts = {} if proof.definition is None else facts_of(proof.definition)
    terminal.facts({"status": status, **facts}.items())
    if told and proof.definition is not None:
        terminal.line()
        terminal.write(explain(proof.definition).to_text())
