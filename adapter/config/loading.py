"""From a runtime file to the frozen `Runtime` that every program is built from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from activities.yaml import (
    LARGEST_FILE_BYTES,
    Problems,
    Scalar,
    Sequence,
    Table,
    Tree,
    read_yaml,
)
from activities.yaml.sources import pointer_parts
from activities.yaml.tree import find_key
from adapter.config.callers import KEY_SET_KINDS
from adapter.config.connections import ConfiguredConnections
from adapter.config.document import RuntimeDocument
from adapter.config.files import read_named_file
from adapter.config.findings import ConfigurationError, Finding, findings_of
from adapter.config.identities import KINDS
from adapter.config.rules import broken_rules
from adapter.config.secret_providers import ProviderUse
from adapter.config.secrets import SecretStore

PUBLIC = "id.registrystack.org/formats/coordinator/runtime/v1alpha1"
"""The ``apiVersion`` of the public format's runtime files; no process is built from one."""

_TAGS = KINDS | KEY_SET_KINDS
_SCHEMA_KEY = "responseSchema"


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
    data = read_named_file(path, LARGEST_FILE_BYTES, code="runtime.unreadable", what="runtime file")
    folder = path.absolute().parent
    found: list[Finding] = []
    document = parse_runtime(data, path.name, folder, found)
    if document is None:
        raise ConfigurationError(str(path), found)
    root = document.secrets.file_root
    providers = {
        name: ProviderUse(part.use, part.settings)
        for name, part in document.secrets.providers.items()
    }
    secrets = SecretStore(None if root is None else folder / root, environment, providers)
    return Runtime(path.absolute(), document, secrets)


def is_public_runtime(path: Path) -> bool:
    """True for a runtime file of the public format; False for what can not be read as one."""
    data = read_named_file(path, LARGEST_FILE_BYTES, code="runtime.unreadable", what="runtime file")
    tree, _ = read_yaml(data, path.name, Problems(), substitution=True)
    return isinstance(tree, Table) and _is_public(tree)


def parse_runtime(
    data: bytes, name: str, folder: Path, found: list[Finding]
) -> RuntimeDocument | None:
    """The document of a file called ``name`` in ``folder``, or None after findings."""
    problems = Problems()
    tree, _ = read_yaml(data, name, problems, substitution=True)
    if tree is not None:
        _refuse_nulls(tree, problems)
    found += [
        Finding(one.code, one.spot.pointer, one.message, one.remedy, one.spot.line)
        for one in problems.found
    ]
    if tree is None or found:
        return None
    if not isinstance(tree, Table):
        message, remedy = "a runtime file is a mapping", "start from `coordinatorctl dev`'s own"
        found.append(Finding("config.missing-envelope", "", message, remedy, tree.spot.line))
        return None
    if _is_public(tree):
        found.append(_public_format(tree))
        return None
    try:
        document = RuntimeDocument.model_validate(tree.to_json())
    except ValidationError as error:
        found += _placed(tree, findings_of(error, _TAGS))
        return None
    found += _placed(tree, broken_rules(document, folder))
    return None if found else document


def _placed(tree: Tree, findings: list[Finding]) -> list[Finding]:
    return [replace(one, line=find_key(tree, pointer_parts(one.pointer)).line) for one in findings]


def _is_public(tree: Table) -> bool:
    entry = tree.entries.get("apiVersion")
    return entry is not None and isinstance(entry.value, Scalar) and entry.value.value == PUBLIC


def _public_format(tree: Table) -> Finding:
    return Finding(
        "config.unsupported-api-version",
        "/apiVersion",
        "this is the runtime file of another program; it is checked with its project only",
        "bind the project's connections in a runtime file of `coordinator/v1`, see docs/runtime.md",
        tree.entries["apiVersion"].value.spot.line,
    )


def _refuse_nulls(tree: Tree, problems: Problems) -> None:
    """Null is a value in a schema only: elsewhere a key without a value was forgotten."""
    if isinstance(tree, Scalar) and tree.value is None:
        message, remedy = "the value is empty", "leave the key out, or give it a value"
        problems.add("config.null-value", tree.spot, message, remedy)
    elif isinstance(tree, Sequence):
        for item in tree.items:
            _refuse_nulls(item, problems)
    elif isinstance(tree, Table):
        for key, entry in tree.entries.items():
            if key != _SCHEMA_KEY:
                _refuse_nulls(entry.value, problems)
