"""The command `token`: an access token on standard output, for curl and other programs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from adapter.cli.credentials import ClientTokens
from adapter.cli.local_access import AUDIENCE, ISSUER_NAME, PEOPLE_CLIENT
from adapter.cli.options import CredentialOption, FormatOption, RuntimeOption
from adapter.cli.service_client import ServiceClient
from adapter.cli.terminal import Format, Terminal
from adapter.config.loading import load_runtime
from adapter.config.location import find_runtime
from adapter.errors import Usage
from adapter.issuer import IssuerFolder, Tokens


def token(
    person: Annotated[
        str | None,
        typer.Option(
            "--person", metavar="NAME", help="of a person, by the development issuer alone"
        ),
    ] = None,
    runtime: RuntimeOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Print an access token of this client: curl -H "Authorization: Bearer $(…)"."""
    made = _own(runtime, credential) if person is None else _of_person(person, runtime)
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object({"token": made})
    else:
        terminal.line(made)


def _own(runtime: Path | None, credential: Path | None) -> str:
    found = ServiceClient.find(runtime, None, credential).credential
    if not isinstance(found, ClientTokens):
        raise Usage(
            "token.no-client",
            "the credential is no client that gets tokens",
            place="--credential",
            remedy="name a profile, see docs/cli.md",
        )
    return found.token().reveal()


def _of_person(name: str, runtime: Path | None) -> str:
    loaded = load_runtime(find_runtime(runtime))
    folder = loaded.folder / "issuer"
    part = loaded.document.authentication.issuers.get(ISSUER_NAME)
    if loaded.document.mode != "development" or part is None or not folder.is_dir():
        raise Usage(
            "token.no-issuer",
            "people get their tokens from the deployment's issuer",
            place="--person",
            remedy="sign in there; only a deployment of `coordinatorctl dev` does without",
        )
    tokens = Tokens(IssuerFolder(folder), part.issuer, time.time)
    return tokens.of_person(PEOPLE_CLIENT, name, AUDIENCE)
