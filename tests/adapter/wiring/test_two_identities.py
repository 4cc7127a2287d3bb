"""Two connections to one product, each under its own client, with a new token at every attempt."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import pytest_asyncio
import yaml
from temporalio.client import Client as TemporalClient

from adapter.cli.activation import activate_project
from adapter.cli.credentials import ApiKey
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.service_client import ServiceClient
from adapter.config.loading import load_runtime
from adapter.crypto.web_keys import new_signing_key, public_half
from adapter.embedded import free_port
from adapter.issuer import Client
from adapter.wiring.deployment import schedule_of
from tests.activities.inputs import INPUTS
from tests.adapter.wiring.test_task_runs import until_ready
from tests.fixtures.deployment import service, until_polling, worker, write_runtime
from tests.fixtures.postgres import as_owner
from tests.fixtures.town import Town, opened_town

pytestmark = pytest.mark.timeout(150)
RESOURCE = "urn:pretend:messaging"
SEND = "messaging.submit-message/v1"
CONNECTIONS = ("letters", "notices")


def step(operation: str, after: str) -> dict[str, Any]:
    """A message by one of the two connections, tried again when it is refused for now."""
    return {
        "type": "call",
        "operation": operation,
        "input": {"literal": deepcopy(INPUTS[SEND])},
        "policy": {"attempts": 5},
        "next": after,
    }


PROJECT = {
    "apiVersion": "coordinator/v1",
    "kind": "CoordinatorProject",
    "project": {"id": "two-letters", "version": "1", "title": "Two letters"},
    "input": {"type": "object"},
    "connections": dict.fromkeys(CONNECTIONS, "messaging"),
    "operations": {name: {"operation": SEND, "connection": name} for name in CONNECTIONS},
    "deadlineSeconds": 3600,
    "start": "first",
    "steps": {
        "first": step("letters", "second"),
        "second": step("notices", "done"),
        "done": {"type": "finish", "outcome": "sent"},
    },
    "outcomes": {"sent": True},
}


@dataclass
class Seen:
    """What a request to a connection's address carried."""

    connection: str
    claims: dict[str, Any]
    status: int


@dataclass
class Wire:
    """A way to the products that looks at the tokens: ``/CONNECTION/…`` leads to ``/…``."""

    products: str
    address: str = ""
    seen: list[Seen] = field(default_factory=list)

    def forward(self, path: str, headers: dict[str, str], body: bytes) -> httpx.Response:
        """Pass a request on, and remember whose it was."""
        connection, _, rest = path.removeprefix("/").partition("/")
        answer = httpx.post(f"{self.products}/{rest}", headers=headers, content=body)
        token = headers["Authorization"].removeprefix("Bearer ")
        claims = jwt.decode(token, options={"verify_signature": False})
        self.seen.append(Seen(connection, claims, answer.status_code))
        return answer


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """An issuer and the products that believe it."""
    with opened_town(tmp_path / "issuer") as town:
        yield town


@pytest.fixture
def wire(town: Town) -> Iterator[Wire]:
    """The way to the products of the town."""
    made = Wire(town.products.base_url)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept = {k: v for k, v in self.headers.items() if k.lower() != "host"}
            answer = made.forward(self.path, kept, body)
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    made.address = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def connections(town: Town, wire: Wire) -> dict[str, Any]:
    """One address of one product twice, under two clients with a key each."""
    path = town.products.url("messaging").removeprefix(wire.products)
    return {
        name: {
            "product": "messaging",
            "baseUrl": f"{wire.address}/{name}{path}",
            "authorization": town.written(RESOURCE, "send")
            | {"clientId": f"{name}-desk", "signingKeyRef": f"secret:file/{name}-key"},
        }
        for name in CONNECTIONS
    }


@dataclass
class Running:
    """A deployment with a service; workers come and go."""

    files: LocalFiles
    client: ServiceClient

    def start(self) -> str:
        """Start the one workflow that there is."""
        [workflow] = self.client.get("/v1/workflows")["workflows"]
        body = {name: workflow[name] for name in ("workflow", "revision")} | {"input": {}}
        run: str = self.client.post("/v1/runs", body, {"Idempotency-Key": "one"})["runId"]
        return run


@pytest_asyncio.fixture
async def running(
    tmp_path: Path,
    database_url: str,
    temporal_address: str,
    temporal_client: TemporalClient,
    task_queue: str,
    town: Town,
    wire: Wire,
) -> AsyncIterator[Running]:
    """The project on a service of its own, without a worker."""
    urls = (database_url, as_owner(database_url))
    nowhere = "http://127.0.0.1:1"
    addresses = Addresses(temporal_address, nowhere, free_port(), town.products.base_url, *urls)
    files = write_runtime(
        tmp_path / "deployment",
        addresses,
        connections(town, wire),
        {"temporal": {"taskQueue": task_queue}, "waits": {"floorSeconds": 1}},
        deployment=task_queue,
    )
    for name in CONNECTIONS:
        key = new_signing_key("ES256")
        town.folder.admit(Client(f"{name}-desk", (public_half(key),), (RESOURCE,), ("send",)))
        written = json.dumps(key)
        files.keep(f"{name}-key", lambda written=written: written)  # type: ignore[misc]
    project = tmp_path / "project"
    project.mkdir()
    (project / "workflow.yaml").write_text(yaml.safe_dump(PROJECT, sort_keys=False))
    await activate_project(files.runtime, project)
    client = ServiceClient(addresses.api, ApiKey(files.secret(files.api_key_file.name)))
    process = service(files)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(process.stop)
        await process.start()
        await until_ready(client, process)
        yield Running(files, client)
    await temporal_client.get_schedule_handle(schedule_of(load_runtime(files.runtime)).id).delete()


async def test_each_connection_calls_under_its_own_client_with_a_new_token_each_time(
    running: Running, town: Town, wire: Wire
) -> None:
    town.products.fault(SEND, "rate-limited", retryAfter=4)
    async with worked(running, "worker-1"):
        run = running.start()
        async with asyncio.timeout(30):
            while not wire.seen:
                await asyncio.sleep(0.05)
    # The back-off goes on in another process, which knows nothing of the first one's token.
    async with worked(running, "worker-2"), asyncio.timeout(40):
        while running.client.get(f"/v1/runs/{run}")["state"] != "finished":
            await asyncio.sleep(0.2)
    calls = [(one.connection, one.claims["client_id"], one.status) for one in wire.seen]
    assert calls == [
        ("letters", "letters-desk", 429),
        ("letters", "letters-desk", 202),
        ("notices", "notices-desk", 202),
    ]
    assert len({one.claims["jti"] for one in wire.seen}) == 3
    assert {one.claims["scope"] for one in wire.seen} == {"send"}
    first, again, _ = (one.claims["iat"] for one in wire.seen)
    assert again - first >= 3


async def test_an_identity_that_is_taken_away_ends_its_own_connection_alone(
    running: Running, town: Town, wire: Wire
) -> None:
    key = public_half(new_signing_key("ES256"))
    town.folder.admit(Client("notices-desk", (key,), (RESOURCE,), ("send",)))
    async with worked(running, "worker-1"), asyncio.timeout(40):
        run = running.start()
        while (status := running.client.get(f"/v1/runs/{run}"))["state"] != "failed":
            await asyncio.sleep(0.2)
    assert status["failureCode"] == "credential-refused"
    assert [(one.connection, one.status) for one in wire.seen] == [("letters", 202)]


@asynccontextmanager
async def worked(running: Running, name: str) -> AsyncIterator[None]:
    """A worker while the context is entered."""
    process = worker(running.files, name)
    await process.start()
    try:
        await until_polling(running.files, process)
        yield
    finally:
        await process.stop()
