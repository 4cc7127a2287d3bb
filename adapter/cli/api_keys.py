"""The command `api-key`: makes a key, shows it once, and writes what the runtime file needs."""

from __future__ import annotations

import hashlib
import os
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from pydantic import ValidationError

from adapter.cli.options import FormatOption
from adapter.cli.terminal import Format, Terminal
from adapter.config.callers import OPERATORS_ALONE, Authentication
from adapter.config.findings import findings_of
from adapter.errors import Usage

PREFIX = "coordinator_"
"""What every key begins with, so that people and scanners know one when they see it."""

_KEY_BYTES = 32


def api_key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="the caller that the key is for")],
    workflow: Annotated[
        list[str] | None,
        typer.Option("--workflow", metavar="ID", help="a workflow it may use; repeatable"),
    ] = None,
    action: Annotated[
        list[str] | None,
        typer.Option("--action", metavar="ACTION", help="what it may do; repeatable"),
    ] = None,
    operator: Annotated[bool, typer.Option("--operator", help="it is an operator")] = False,
    days: Annotated[int, typer.Option("--days", min=1, max=3_650, help="how long it lives")] = 90,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="write the key there, and not on the screen"),
    ] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Make an API key. It is shown once; the deployment keeps its hash alone."""
    key = PREFIX + secrets.token_urlsafe(_KEY_BYTES)
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)
    part = {
        "apiKeys": {
            name: {
                "keys": [
                    {
                        "hash": f"sha256:{hashlib.sha256(key.encode()).hexdigest()}",
                        "expiresAt": ends.isoformat().replace("+00:00", "Z"),
                    }
                ],
                "workflows": workflow or ["*"],
                "actions": action or ["start", "status", "inspect", "events"],
                **({"operator": True} if operator else {}),
            }
        }
    }
    _require_sound(part)
    _require_operator(action or [], operator=operator)
    if output is not None:
        _keep(key, output)
    _show(Terminal(format), key, part, output)


def _require_sound(part: dict[str, Any]) -> None:
    try:
        Authentication.model_validate(part)
    except ValidationError as error:
        first = findings_of(error, frozenset())[0]
        raise Usage(
            "usage.invalid-value",
            first.message,
            place=f"#/authentication{first.pointer}",
            remedy=first.remedy,
        ) from error


def _require_operator(actions: list[str], *, operator: bool) -> None:
    alone = [one for one in actions if one in OPERATORS_ALONE]
    if alone and not operator:
        raise Usage(
            "usage.invalid-value",
            f"{alone[0]} is for operators alone",
            place="--action",
            remedy="add --operator, or leave the action out",
        )


def _keep(key: str, file: Path) -> None:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Usage(
            "output.unusable",
            "the file can not be made",
            place=str(file),
            remedy="name a file that is not there yet, in a folder of yours",
        ) from error
    with os.fdopen(descriptor, "w", encoding="ascii") as written:
        written.write(key + "\n")


def _show(terminal: Terminal, key: str, part: dict[str, Any], output: Path | None) -> None:
    if terminal.format is Format.JSON:
        shown = {"key": key} if output is None else {"file": str(output)}
        terminal.object({**shown, "authentication": part})
        return
    if output is None:
        terminal.line("The key, shown this once:")
        terminal.line(f"  {key}")
    else:
        terminal.line(f"The key is in {output}.")
    terminal.line()
    terminal.line("For the runtime file; a further key of a known caller goes under its keys:")
    terminal.line()
    for line in yaml.safe_dump({"authentication": part}, sort_keys=False).splitlines():
        terminal.line(line)
