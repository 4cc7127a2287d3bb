"""The files of a development deployment: generated keys, and the runtime file that names them."""

from __future__ import annotations

import json
import os
import secrets
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from adapter.cli.credentials import DEVELOPMENT_PROFILE
from adapter.cli.local_access import (
    APPLICATION_CLIENT,
    OPERATOR_CLIENT,
    authentication_part,
    write_profile,
)
from adapter.cli.service_client import DEVELOPMENT_KEY
from adapter.config.document import API_VERSION, KIND
from adapter.config.location import FILE_NAME
from adapter.errors import Unavailable
from interpreter.definition.document import Definition

EVENT_SOURCE = "urn:example:registry"
"""Whose events may admit runs of a development deployment, where its project names no source."""

_KEY_BYTES = 32
_PORTS_FILE = "ports.json"
_UI_KEY = "temporal-ui-key"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the servers of a development deployment are."""

    temporal: str
    temporal_ui: str
    api_port: int
    products: str
    database_url: str = field(repr=False)
    owner_url: str = field(repr=False)
    issuer: str = ""

    @property
    def api(self) -> str:
        """The origin of the service."""
        return f"http://127.0.0.1:{self.api_port}"


@dataclass(frozen=True, slots=True)
class Bound:
    """What a deployment's operations lead to: connection documents and own catalogue documents.

    ``event_source`` is the ``source`` of the events that may admit runs.
    """

    connections: dict[str, Any]
    catalogue: tuple[Path, ...] = ()
    event_source: str = EVENT_SOURCE


class LocalFiles:
    """A folder such as `.coordinator/`; what is generated once is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.secrets = self.folder / "secrets"

    @property
    def runtime(self) -> Path:
        """The runtime file, written anew at every start because ports may have moved."""
        return self.folder / FILE_NAME

    @property
    def api_key_file(self) -> Path:
        """The file with the API key that commands use."""
        return self.secrets / DEVELOPMENT_KEY

    @property
    def profile(self) -> Path:
        """The profile of the commands, which find it by themselves."""
        return self.folder / DEVELOPMENT_PROFILE

    @property
    def application_profile(self) -> Path:
        """The profile of a program that is no operator."""
        return self.folder / "application-profile.yaml"

    @property
    def temporal_ui_key(self) -> str:
        """The API key of this start's Temporal UI, which opens payloads and nothing else."""
        return self.secret(_UI_KEY)

    def prepare(self) -> None:
        """Make the folder and every secret that is not there yet, mode 0600."""
        try:
            self.secrets.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Keys lie here, perhaps inside a folder that somebody commits whole.
            (self.folder / ".gitignore").write_text("*\n")
            for name in ("admission-key-1", "state-key-1", "audit-key-1"):
                self._generate(name, b64encode(secrets.token_bytes(_KEY_BYTES)).decode())
            self._generate(DEVELOPMENT_KEY, secrets.token_urlsafe(_KEY_BYTES))
            # Its address is shown to whoever asks Temporal's UI: no start has that of another.
            self._write(_UI_KEY, secrets.token_urlsafe(_KEY_BYTES))
            self._generate("products-token", secrets.token_urlsafe(_KEY_BYTES))
            for name in ("casework-events", "registry-events"):
                events = b64encode(secrets.token_bytes(_KEY_BYTES)).decode()
                self._generate(name, f"whsec_{events}")
        except OSError as error:
            raise Unavailable(
                "local.folder-unusable",
                "the folder of the development deployment can not be written",
                place=str(error.filename or self.folder),
                remedy="check who owns it, or choose another folder with --data",
            ) from error

    def secret(self, name: str) -> str:
        """A generated secret's text."""
        return (self.secrets / name).read_text().strip()

    def keep(self, name: str, make: Callable[[], str]) -> str:
        """The text of a secret, made at the first start."""
        if not (self.secrets / name).exists():
            self._write(name, make())
        return self.secret(name)

    def ports(self) -> dict[str, int]:
        """The ports of the last start, by server; empty at first."""
        try:
            known = json.loads((self.folder / _PORTS_FILE).read_text())
            return {str(name): int(port) for name, port in known.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def remember_ports(self, ports: dict[str, int]) -> None:
        """Keep the ports for the next start."""
        (self.folder / _PORTS_FILE).write_text(json.dumps(ports, indent=2) + "\n")

    def write_runtime(self, addresses: Addresses, waits: dict[str, Any], bound: Bound) -> None:
        """Write the runtime file and the database's address for these servers."""
        self._write("database-url", addresses.database_url)
        self._write("migration-url", addresses.owner_url)
        document = self._document(addresses, waits, bound)
        text = "# Written by `coordinatorctl dev` and `demo` at every start; changes are lost.\n"
        draft = self.runtime.with_suffix(".new")
        draft.write_text(text + yaml.safe_dump(document, sort_keys=False))
        draft.replace(self.runtime)
        self.profile.unlink(missing_ok=True)
        if addresses.issuer:
            write_profile(self.profile, OPERATOR_CLIENT, addresses.issuer, addresses.api)
            write_profile(
                self.application_profile, APPLICATION_CLIENT, addresses.issuer, addresses.api
            )

    def _document(self, at: Addresses, waits: dict[str, Any], bound: Bound) -> dict[str, Any]:
        keys = self.secret(DEVELOPMENT_KEY), self.temporal_ui_key
        ui_port = at.temporal_ui.rpartition(":")[2]
        return {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "deployment": "development",
            "mode": "development",
            "secrets": {"fileRoot": "secrets"},
            "temporal": {"address": at.temporal, "uiUrl": at.temporal_ui},
            "database": {
                "url": "secret:file/database-url",
                "migrationUrl": "secret:file/migration-url",
            },
            "keys": {
                "admission": {"active": 1, "versions": {"1": "secret:file/admission-key-1"}},
                "state": {"active": 1, "versions": {"1": "secret:file/state-key-1"}},
            },
            "audit": {"signingKey": {"active": 1, "versions": {"1": "secret:file/audit-key-1"}}},
            "api": {"bind": f"127.0.0.1:{at.api_port}", "publicUrl": at.api},
            "connections": bound.connections,
            "catalogue": [str(file) for file in bound.catalogue],
            "waits": waits,
            "events": {
                "completions": {"casework": {"secretRef": "secret:file/casework-events"}},
                "sources": {
                    "registry": {
                        "source": bound.event_source,
                        "secretRef": "secret:file/registry-events",
                        "workflows": ["*"],
                    }
                },
            },
            "authentication": authentication_part(at.issuer, *keys),
            "codec": {
                "uiOrigins": [f"http://{host}:{ui_port}" for host in ("127.0.0.1", "localhost")],
                "keyInPath": True,
            },
        }

    def _generate(self, name: str, secret: str) -> None:
        if not (self.secrets / name).exists():
            self._write(name, secret)

    def _write(self, name: str, secret: str) -> None:
        # Moved into place whole: a crash must not leave half a key behind.
        draft = self.secrets / f"{name}.new"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secret + "\n")
        draft.replace(self.secrets / name)


def event_source_of(definition: Definition) -> str:
    """The source that the project's triggers declare; the development one where none does."""
    declared = (trigger.source for trigger in definition.triggers.values())
    return next((source for source in declared if source), EVENT_SOURCE)
