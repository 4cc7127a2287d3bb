"""Options that several commands share, each described once."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from adapter.cli.terminal import Format
from adapter.errors import Usage

FormatOption = Annotated[
    Format, typer.Option("--format", help="text for people, json for programs")
]
RuntimeOption = Annotated[
    Path | None,
    typer.Option(
        "--runtime",
        metavar="FILE",
        help="runtime file; else COORDINATOR_RUNTIME, else .coordinator/runtime.yaml",
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url", metavar="ORIGIN", help="the service; else COORDINATOR_URL, else api.publicUrl"
    ),
]
CredentialOption = Annotated[
    Path | None,
    typer.Option(
        "--credential",
        "--api-key-file",
        "--token-file",
        "--profile",
        metavar="FILE",
        help="file with an API key, an access token or a client's profile; else the environment",
    ),
]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="id of the run")]
ProjectArgument = Annotated[
    Path | None,
    typer.Argument(metavar="[PROJECT]", help="the project's folder; else the current one"),
]
ProjectOption = Annotated[
    Path | None, typer.Option("--project", metavar="DIR", help="the same as PROJECT")
]


def chosen_project(argument: Path | None, option: Path | None) -> Path:
    """The project that was named, either way; Usage ``usage.invalid`` when both name one."""
    if argument is not None and option is not None and argument != option:
        raise Usage(
            "usage.invalid",
            "two projects are named",
            place="--project",
            remedy="name one project, with or without the flag",
        )
    return argument or option or Path()


def instant_of(text: str, place: str) -> datetime:
    """The instant that an option names; Usage ``usage.invalid-value`` for one without offset."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Usage(
            "usage.invalid-value",
            "this is no instant with an offset",
            place=place,
            remedy="write it as RFC 3339, for example 2026-12-01T00:00:00Z",
        )
    return found
