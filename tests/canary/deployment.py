"""A deployment in which every secret is a marker, over servers of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from adapter.cli.activation import activate_project
from adapter.cli.credentials import ApiKey
from adapter.cli.exchange import ask_once
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.local_issuer import prepare_issuer
from adapter.cli.pretend_connections import pretend_connections
from adapter.cli.service_client import ServiceClient
from adapter.config.loading import load_runtime
from adapter.embedded import (
    FAST_TIMERS,
    SERVICE_ROLE,
    ChildProcess,
    EmbeddedPostgres,
    EmbeddedTemporal,
    free_port,
)
from adapter.errors import Unavailable
from adapter.issuer import IssuerFolder
from adapter.ledger.migrations import migrate
from examples.products.client import PretendProducts
from tests.canary.markers import CONTROL, Markers
from tests.fixtures.deployment import ROOT, service, until_polling, worker, write_runtime

PROJECT = Path(__file__).with_name("project")
WORKERS = ("worker-1", "worker-2")
_DATABASE = "coordinator"
_KEY_BYTES = 32
_READY_SECONDS = 90.0
_EARLY = {"limit.historyCount.suggestContinueAsNew": "14"}
"""Executions continue as new after so few events that every longer run does."""

PRODUCT_WORDS = (
    "answer header",
    "garbage",
    "problem title",
    "problem detail",
    "error body",
    "receipt",
)


@dataclass
class Deployment:
    """Running servers, and where they keep what they know."""

    folder: Path
    markers: Markers
    files: LocalFiles
    postgres: EmbeddedPostgres
    temporal: EmbeddedTemporal
    addresses: Addresses
    ours: list[ChildProcess]
    secrets: dict[str, str] = field(default_factory=dict)
    logs: dict[str, Path] = field(default_factory=dict)
    """The log of each process that is not a product's."""

    def __post_init__(self) -> None:
        self.logs |= {process.name: process.log_file for process in self.ours}
        self.logs |= {"PostgreSQL": self.postgres.log_file, "Temporal": self.temporal.log_file}

    @property
    def client(self) -> ServiceClient:
        """The service, with the one API key there is."""
        key = ApiKey(self.files.secret(self.files.api_key_file.name))
        return ServiceClient(self.addresses.api, key)

    @property
    def package(self) -> Path:
        """The folder of the package that is active."""
        return self.folder / "package"

    def products(self) -> PretendProducts:
        """The control of the products, to be closed."""
        return PretendProducts(self.addresses.products)

    async def stop(self) -> None:
        """Stop what is ours, then the servers, so that everything is on disk."""
        await asyncio.gather(*(process.stop() for process in self.ours))
        await asyncio.gather(self.postgres.stop(), self.temporal.stop())


@asynccontextmanager
async def deployment(folder: Path, markers: Markers) -> AsyncIterator[Deployment]:
    """Everything started and the project active; what still runs is ended afterwards."""
    # A name that every process shows on its command line.
    place = folder / markers(CONTROL)
    place.mkdir()
    async with AsyncExitStack() as stack:
        postgres = EmbeddedPostgres(place / "postgres", free_port())
        temporal = EmbeddedTemporal(
            place / "temporal" / "temporal.db",
            log_file=place / "logs" / "temporal.log",
            port=free_port(),
            ui_port=free_port(),
            dynamic_config={**FAST_TIMERS, **_EARLY},
        )
        stack.push_async_callback(temporal.stop)
        stack.push_async_callback(postgres.stop)
        _write_secrets(LocalFiles(place), markers)
        api_port = free_port()
        issuer, issuer_origin = _issuer(place, markers)
        products, origin = _products(place, markers, api_port, issuer_origin)
        stack.push_async_callback(issuer.stop)
        stack.push_async_callback(products.stop)
        servers = (postgres, temporal, issuer, products)
        await asyncio.gather(*(server.start() for server in servers))
        ledger = await postgres.ensure_ledger(_DATABASE)
        await migrate(ledger.owner, SERVICE_ROLE)
        urls = (ledger.service, ledger.owner)
        addresses = Addresses(
            temporal.address, temporal.ui_url, api_port, origin, *urls, issuer_origin
        )
        files = _files(place, markers, addresses)
        await _until_answers(origin, "/health")
        await _until_answers(issuer_origin, "/health")
        _write_project(place, markers)
        await activate_project(files.runtime, place / "project")
        ours = [service(files), *(worker(files, name) for name in WORKERS)]
        made = Deployment(place, markers, files, postgres, temporal, addresses, ours)
        made.secrets = _generated_secrets(place)
        made.logs["issuer"] = issuer.log_file
        for process in ours:
            stack.push_async_callback(process.stop)
        await asyncio.gather(*(process.start() for process in ours))
        await asyncio.gather(*(until_polling(files, process) for process in ours[1:]))
        await _until_answers(addresses.api, "/ready")
        yield made


def _write_secrets(files: LocalFiles, markers: Markers) -> None:
    """Secrets that are markers, where `dev` would generate its own."""
    files.secrets.mkdir(parents=True, mode=0o700)
    raw = {
        "admission-key-1": "admission key",
        "state-key-1": "state key",
        "audit-key-1": "signing key",
    }
    signed = {"casework-events": "completion secret", "registry-events": "event secret"}
    plain = {files.api_key_file.name: "api key", "products-token": "product token"}
    written = {name: _key(markers(kind)) for name, kind in raw.items()}
    written |= {name: f"whsec_{_key(markers(kind))}" for name, kind in signed.items()}
    written |= {name: markers(kind) for name, kind in plain.items()}
    for name, text in written.items():
        (files.secrets / name).write_text(text + "\n")
        (files.secrets / name).chmod(0o600)
    files.prepare()


def _generated_secrets(place: Path) -> dict[str, str]:
    """Secrets that can be no markers: passwords, and the private halves of keys."""
    found = {
        f"database {path.name}": path.read_text().strip()
        for path in (place / "postgres").glob("password*")
    }
    for path in (place / "secrets").iterdir():
        if path.read_bytes().startswith(b"{"):
            found[f"private key {path.name}"] = json.loads(path.read_text())["d"]
    return found


def _key(marker: str) -> str:
    return b64encode(marker.encode().ljust(_KEY_BYTES, b"k")).decode()


def _files(place: Path, markers: Markers, addresses: Addresses) -> LocalFiles:
    shown = {kind: {"bind": f"127.0.0.1:{free_port()}"} for kind in ("service", "worker")}
    changes: dict[str, dict[str, Any]] = {
        "temporal": {"taskQueue": markers(CONTROL)},
        "waits": {"floorSeconds": 1, "pollSeconds": {"casework": 1}},
        "reconcile": {"everySeconds": 5},
        "telemetry": {"metrics": shown, "traces": {"file": "traces.jsonl"}},
    }
    connections = pretend_connections(addresses.products, addresses.issuer)
    connections["directory"] |= {"queryParameters": ["q"], "maximumResponseBytes": 262_144}
    return write_runtime(place, addresses, connections, changes, deployment=markers(CONTROL))


def _write_project(place: Path, markers: Markers) -> None:
    source = yaml.safe_load((place / "runtime.yaml").read_text())["events"]["sources"]
    words = {
        "WORKFLOW": markers(CONTROL),
        "EVENT": source["registry"]["source"],
        "LITERAL": markers("literal"),
    }
    text = (PROJECT / "workflow.yaml").read_text()
    for word, meant in words.items():
        text = text.replace(word, meant)
    (place / "project").mkdir()
    (place / "project" / "workflow.yaml").write_text(text)
    functions = (PROJECT / "functions.rhai").read_text()
    remark = f"// {markers('function source')}\n"
    (place / "project" / "functions.rhai").write_text(remark + functions)


def _issuer(place: Path, markers: Markers) -> tuple[ChildProcess, str]:
    """An issuer whose every access token carries a marker."""
    folder, port = prepare_issuer(LocalFiles(place)), free_port()
    known = IssuerFolder(folder)
    for client in known.clients().values():
        known.admit(replace(client, claims={"note": markers("access token")}))
    process = ChildProcess(
        "issuer",
        [sys.executable, "-m", "adapter.issuer", "--folder", str(folder), "--port", str(port)],
        log_file=place / "logs" / "issuer.log",
        environment=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        directory=ROOT,
    )
    return process, f"http://127.0.0.1:{port}"


def _products(
    place: Path, markers: Markers, api_port: int, issuer: str
) -> tuple[ChildProcess, str]:
    files, port = LocalFiles(place), free_port()
    settings = {
        "bearer": files.secret("products-token"),
        "issuer": issuer,
        "webhookUrl": f"http://127.0.0.1:{api_port}/v1/review-completions",
        "webhookSecret": files.secret("casework-events"),
        "words": {word: markers(word) for word in PRODUCT_WORDS},
    }
    # Outside the deployment, as a product is.
    outside = place.parent / "products"
    outside.mkdir()
    (outside / "settings.json").write_text(json.dumps(settings))
    arguments = ["--port", str(port), "--settings", str(outside / "settings.json")]
    process = ChildProcess(
        "products",
        [sys.executable, "-m", "tests.canary.products", *arguments],
        log_file=outside / "products.log",
        environment=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        directory=ROOT,
    )
    return process, f"http://127.0.0.1:{port}"


async def _until_answers(origin: str, path: str) -> None:
    async with asyncio.timeout(_READY_SECONDS):
        while True:
            with suppress(Unavailable):
                if (await asyncio.to_thread(ask_once, origin, "GET", path)).status == 200:
                    return
            await asyncio.sleep(0.1)


def write_package(made: Deployment) -> None:
    """The package of the active project, as a deployer carries it about."""
    from adapter import package as packages
    from adapter.cli.project import compile_project
    from adapter.config.catalogue import catalogue_of

    runtime = load_runtime(made.files.runtime)
    compiled = compile_project(made.folder / "project", catalogue_of(runtime))
    packages.write_package(compiled, made.package)
