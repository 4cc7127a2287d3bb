"""The command `signal`: what completes a run's wait on a signal."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from adapter.cli.options import CredentialOption, FormatOption, RuntimeOption, UrlOption
from adapter.cli.runs import read_input, request_key, segment
from adapter.cli.service_client import ServiceClient
from adapter.cli.terminal import Format, Terminal

_SAID = {
    "completed": "a wait has taken it",
    "kept": "it is early: the next wait on its name takes it",
    None: "on record, its outcome is not known yet; repeat with the same id",
}


def signal(
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="id of the run")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="as the wait declares it")],
    payload: Annotated[
        str, typer.Option("--payload", metavar="FILE", help="JSON payload; - is stdin")
    ],
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="one id is one signal; a fresh one is made without it"
        ),
    ] = None,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Send a signal to a run; the same id is taken once, however often it is sent."""
    value = read_input(payload)
    client = ServiceClient.find(runtime, url, credential)
    used = request_key(id, "--id")
    path = f"/v1/runs/{segment(run)}/signals/{quote(name, safe='')}"
    found = client.post(path, value, {"Idempotency-Key": used})
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(found)
        return
    terminal.facts([("signal", found["id"]), ("id", used), ("outcome", found["outcome"])])
    terminal.line(_SAID[found["outcome"]])
