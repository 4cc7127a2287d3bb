"""The command `convert-runtime`: a public runtime file as this program has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
import yaml

from activities.yaml import LARGEST_FILE_BYTES
from adapter.authoring import render_text
from adapter.authoring.proof import prove_runtime
from adapter.authoring.runtimes import public_document
from adapter.authoring.runtimes.conversion import converted_runtime
from adapter.cli.options import FormatOption
from adapter.cli.project import exit_code
from adapter.cli.terminal import Format, Terminal
from adapter.config.files import read_named_file
from adapter.config.loading import is_public_runtime
from adapter.errors import Usage

_HEAD = """\
# The parts of {name} that are the same here. Add apiVersion, kind, deployment, mode,
# temporal, api and authentication: see docs/runtime.md.
"""
_ROOT_CERTIFICATE = """\
# The certificate of database.trustedRootCertificateRef belongs in both database addresses:
# ?sslmode=verify-full&sslrootcert=/path/to/it
"""


def convert_runtime(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a runtime file of v1alpha1")],
    environment: Annotated[
        bool, typer.Option("--environment", help="take ${NAME} from this environment")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Write the secrets, database, keys and connections of a public runtime file for this program.

    The file is checked first, and nothing is written of one that has errors. A value that a
    variable gives is written out; without --environment that is its default. No secret is opened.
    """
    terminal = Terminal(format)
    if not is_public_runtime(file):
        raise Usage(
            "runtime.not-public",
            "this is no runtime file of the public format",
            place=str(file),
            remedy="name a file whose kind is CoordinatorRuntimeConfig",
        )
    variables: Mapping[str, str] = os.environ if environment else {}
    proof = prove_runtime(file, variables)
    if proof.errors:
        terminal.complain(render_text(proof.diagnostics, proof.sources))
        raise typer.Exit(exit_code(proof.errors))
    data = read_named_file(file, LARGEST_FILE_BYTES, code="runtime.unreadable", what="runtime file")
    public = public_document(data, file.name, variables)
    converted = converted_runtime(public)
    if format is Format.JSON:
        terminal.object(converted)
        return
    terminal.write(_HEAD.format(name=file.name))
    if "trustedRootCertificateRef" in public["database"]:
        terminal.write(_ROOT_CERTIFICATE)
    terminal.write(yaml.dump(converted, Dumper=_Plain, sort_keys=False))


class _Plain(yaml.SafeDumper):
    """Writes every value where it is used."""

    def ignore_aliases(self, data: object) -> bool:
        """True: a runtime file has no anchors."""
        return True
