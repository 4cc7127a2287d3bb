"""Admission by itself: how many runs the service admits in a second through ``POST /v1/runs``."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe
from statistics import median

import httpx
import yaml

from adapter.config.loading import load_runtime
from adapter.crypto import new_secret
from adapter.embedded import SERVICE_ROLE, LedgerAddresses, free_port
from adapter.ledger import Package, Packages, migrate
from adapter.wiring.deployment import key_ring
from benchmarks.cases import CASES, RUN_INPUT
from benchmarks.ground import Ground
from benchmarks.percentiles import p99
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Labels

RUNS = 500

_READY_SECONDS = 30.0
_CALLER = "benchmark"


@dataclass(frozen=True, slots=True, repr=False)
class Service:
    """Where the measured service listens, and the API key that it knows."""

    address: str
    key: str


@dataclass
class Admissions:
    """Rounds of admissions: runs per second of each, and the seconds that every request took."""

    throughput: list[float] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)

    def to_json(self) -> dict[str, float]:
        """The median throughput, and the latency of all requests together, in seconds."""
        return {
            "runs_per_second": round(median(self.throughput), 1),
            "latency": round(median(self.latency), 4),
            "latency_p99": round(p99(self.latency), 4),
        }

    def table(self) -> str:
        """The same as Markdown."""
        half, most = median(self.latency) * 1000, p99(self.latency) * 1000
        return "\n".join(
            [
                f"admission: {len(self.throughput)} rounds through POST /v1/runs",
                "",
                "| runs/s | p50 / p99 ms |",
                "| --- | --- |",
                f"| {median(self.throughput):.0f} | {half:.0f} / {most:.0f} |",
                "",
            ]
        )


async def measure_admission(ground: Ground, rounds: int, runs: int, concurrency: int) -> Admissions:
    """Admit ``runs`` fresh runs in every round, with ``concurrency`` requests open at once.

    The service is the real one, with a ledger of its own on the same PostgreSQL. It also starts
    each run in Temporal before it answers; no worker takes them, so nothing else is measured.
    """
    service = await _deployed(ground)
    definition = CASES["reads"].definition
    body = {"workflow": definition.id, "revision": definition.revision, "input": RUN_INPUT}
    measured = Admissions()
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(_client(service)) for _ in range(min(concurrency, runs))
        ]
        await _until_ready(clients[0])
        await _admit(clients, body, concurrency)
        for _ in range(rounds):
            begun = time.perf_counter()
            measured.latency += await _admit(clients, body, runs)
            measured.throughput.append(runs / (time.perf_counter() - begun))
    return measured


async def _deployed(ground: Ground) -> Service:
    """A deployment with one active definition, and its service as a process."""
    database = await ground.database("admission")
    service = Service(f"127.0.0.1:{free_port()}", token_urlsafe(32))
    runtime = _runtime_file(ground, service, database)
    await migrate(database.owner, SERVICE_ROLE)
    definition = CASES["reads"].definition
    loaded = load_runtime(runtime)
    keys, deployment = key_ring(loaded), loaded.document.deployment
    async with Packages.open(database.owner, keys, deployment) as packages:
        package = Package(definition.revision, definition, Labels(version="1"))
        await packages.apply(package, _CALLER)
    await ground.spawn("service", ["adapter.cli.service", "serve", "--runtime", str(runtime)])
    return service


def _runtime_file(ground: Ground, service: Service, database: LedgerAddresses) -> Path:
    """Write the deployment's runtime file, and its secrets beside it."""
    folder = ground.folder / "deployment"
    folder.mkdir(mode=0o700)
    secrets = {
        "database-url": database.service,
        "owner-url": database.owner,
        "state-key": new_secret().decode(),
        "admission-key": new_secret().decode(),
    }
    for name, secret in secrets.items():
        (folder / name).write_text(secret)
        (folder / name).chmod(0o600)
    document = {
        "apiVersion": "coordinator/v1",
        "kind": "CoordinatorRuntime",
        "deployment": "benchmark",
        "mode": "development",
        "secrets": {"fileRoot": "."},
        "temporal": {"address": ground.temporal_address},
        "database": {
            "url": "secret:file/database-url",
            "migrationUrl": "secret:file/owner-url",
        },
        "keys": {
            "admission": {"active": 1, "versions": {"1": "secret:file/admission-key"}},
            "state": {"active": 1, "versions": {"1": "secret:file/state-key"}},
        },
        "api": {"bind": service.address, "publicUrl": f"http://{service.address}"},
        "authentication": {
            "apiKeys": {
                _CALLER: {
                    "keys": [
                        {
                            "hash": f"sha256:{sha256(service.key.encode()).hexdigest()}",
                            "expiresAt": "2100-01-01T00:00:00Z",
                        }
                    ],
                    "workflows": ["*"],
                    "actions": ["start"],
                }
            },
            # The service is measured, not what it would grant to one caller.
            "limits": {"perSecond": 10_000, "burst": 100_000},
        },
    }
    runtime = folder / "runtime.yaml"
    runtime.write_text(yaml.safe_dump(document, sort_keys=False))
    return runtime


def _client(service: Service) -> httpx.AsyncClient:
    """A client for one request at a time: a shared one would spend more than the service does."""
    return httpx.AsyncClient(
        base_url=f"http://{service.address}",
        headers={"X-API-Key": service.key},
        # Sooner than the service hangs up on an idle connection.
        limits=httpx.Limits(max_connections=1, keepalive_expiry=2.0),
        timeout=60.0,
        verify=False,
    )


async def _until_ready(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(_READY_SECONDS):
        while True:
            try:
                if (await client.get("/ready")).is_success:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)


async def _admit(clients: list[httpx.AsyncClient], body: JsonValue, runs: int) -> list[float]:
    """Admit runs under fresh keys; the seconds of every request."""
    numbers: Iterator[int] = iter(range(runs))
    durations: list[float] = []

    async def keep_one_open(client: httpx.AsyncClient) -> None:
        for _ in numbers:
            headers = {"Idempotency-Key": str(uuid.uuid4())}
            begun = time.perf_counter()
            answer = await client.post("/v1/runs", json=body, headers=headers)
            durations.append(time.perf_counter() - begun)
            assert answer.status_code == 202, answer.text

    async with asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(keep_one_open(client))
    return durations
