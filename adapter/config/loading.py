"""From a runtime file to the frozen `Runtime` that every program is built from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from adapter.config.connections import ConfiguredConnections
from adapter.config.document import RuntimeDocument
from adapter.config.findings import ConfigurationError, Finding, findings_of
from adapter.config.rules import broken_rules
from adapter.config.secrets import SecretStore
from adapter.config.tree import Tree, read_tree
from adapter.errors import Usage

_TAGS = frozenset({"none", "bearer"})


@dataclass(frozen=True, slots=True)
class Runtime:
    """A checked runtime file: its document, its folder, and the way to its secrets."""

    path: Path
    document: RuntimeDocument
    secrets: SecretStore

    @property
    def folder(self) -> Path:
        """The folder of the runtime file: relative paths in it start here."""
        return self.path.parent

    @property
    def connections(self) -> ConfiguredConnections:
        """The logical connections, as calls see them."""
        return ConfiguredConnections(self.document.connections, self.secrets)

    def catalogue_files(self) -> list[Path]:
        """The deployment's own catalogue documents."""
        return [self.folder / name for name in self.document.catalogue]


def load_runtime(path: Path, environment: Mapping[str, str] = os.environ) -> Runtime:
    """Read and check a runtime file; no secret is opened.

    Raises Usage ``runtime.unreadable`` or ConfigurationError with every finding of the file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Usage(
            "runtime.unreadable",
            "the runtime file can not be read",
            place=str(path),
            remedy="check that it exists and that you may read it",
        ) from error
    tree = read_tree(data)
    folder = path.absolute().parent
    document = None if tree.findings else _document(tree, folder)
    if document is None:
        placed = [replace(f, line=f.line or tree.line(f.pointer)) for f in tree.findings]
        raise ConfigurationError(str(path), placed)
    root = document.secrets.file_root
    secrets = SecretStore(None if root is None else folder / root, environment)
    return Runtime(path.absolute(), document, secrets)


def _document(tree: Tree, folder: Path) -> RuntimeDocument | None:
    if not isinstance(tree.value, dict):
        message, remedy = "a runtime file is a mapping", "start from `coordinatorctl dev`'s own"
        tree.findings.append(Finding("config.missing-envelope", "", message, remedy))
        return None
    try:
        document = RuntimeDocument.model_validate(tree.value)
    except ValidationError as error:
        tree.findings += findings_of(error, _TAGS)
        return None
    tree.findings += broken_rules(document, folder)
    return None if tree.findings else document
