"""A public project whose calls are done for a task, from a start over HTTP to the appointment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client

from adapter.cli.activation import activate_project
from adapter.cli.credentials import ApiKey
from adapter.cli.local_files import Addresses, LocalFiles
from adapter.cli.service_client import ServiceClient
from adapter.config.loading import load_runtime
from adapter.embedded import ChildProcess, free_port
from adapter.errors import Unavailable
from adapter.wiring.deployment import schedule_of
from tests.fixtures.deployment import ROOT, service, until_polling, worker, write_runtime
from tests.fixtures.postgres import as_owner
from tests.fixtures.town import Town, opened_town

pytestmark = pytest.mark.timeout(150)
_PROJECT = ROOT / "tests" / "adapter" / "authoring" / "public" / "counter_booking"


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    with opened_town(tmp_path / "issuer") as town:
        yield town


def _connections(town: Town) -> dict[str, Any]:
    registry, messaging = "urn:pretend:registry", "urn:pretend:messaging"
    return {
        "records": {
            "product": "breg",
            "baseUrl": town.products.url("breg"),
            "profile": "coordinator",
            "authorization": town.written(registry, "read"),
        },
        "calendar": {
            "product": "scheduling",
            "baseUrl": town.products.url("scheduling"),
            "authorization": town.written() | {"taskAuthority": town.authority()},
            "observationAuthorization": town.written(scope="read"),
        },
        "letters": {
            "product": "messaging",
            "baseUrl": town.products.url("messaging"),
            "authorization": town.written(messaging, "send"),
        },
    }


@dataclass
class Desk:
    """A running deployment, as an application sees it."""

    client: ServiceClient
    town: Town
    files: LocalFiles

    async def ended(
        self, key: str, grant: dict[str, Any], opens: str = "2020-01-06T00:00:00Z"
    ) -> dict[str, Any]:
        """The run of a start with a grant, when it is over; it waits until the counter opens."""
        [workflow] = self.client.get("/v1/workflows")["workflows"]
        body = {
            "workflow": workflow["workflow"],
            "revision": workflow["revision"],
            "input": {
                "application": "APP-1001",
                "offering": "counter",
                "from": opens,
                "until": "2020-01-08T00:00:00Z",
                "grant": grant,
            },
        }
        run = self.client.post("/v1/runs", body, {"Idempotency-Key": key})["runId"]
        async with asyncio.timeout(60):
            while True:
                status: dict[str, Any] = self.client.get(f"/v1/runs/{run}")
                if status["state"] in ("finished", "failed", "attention"):
                    return status
                await asyncio.sleep(0.2)


async def until_ready(client: ServiceClient, process: ChildProcess) -> None:
    """Wait until the service is ready; AssertionError with its last words if it ends."""
    async with asyncio.timeout(60):
        while process.running:
            with suppress(Unavailable):
                client.get("/ready")
                return
            await asyncio.sleep(0.1)
    raise AssertionError(process.log_file.read_text()[-2000:])


@pytest_asyncio.fixture
async def desk(
    tmp_path: Path,
    database_url: str,
    temporal_address: str,
    temporal_client: Client,
    task_queue: str,
    town: Town,
) -> AsyncIterator[Desk]:
    """The project on a service and a worker of its own."""
    urls = (database_url, as_owner(database_url))
    nowhere, origin = "http://127.0.0.1:1", town.products.base_url
    addresses = Addresses(temporal_address, nowhere, free_port(), origin, *urls)
    changes: dict[str, dict[str, Any]] = {
        "temporal": {"taskQueue": task_queue},
        "waits": {"floorSeconds": 1},
    }
    files = write_runtime(
        tmp_path / "deployment", addresses, _connections(town), changes, deployment=task_queue
    )
    files.keep("worker-key", lambda: town.key)
    await activate_project(files.runtime, _PROJECT)
    client = ServiceClient(addresses.api, ApiKey(files.secret(files.api_key_file.name)))
    async with AsyncExitStack() as stack:
        processes = [service(files), worker(files, "worker-1")]
        for process in processes:
            stack.push_async_callback(process.stop)
            await process.start()
        await until_polling(files, processes[1])
        await until_ready(client, processes[0])
        yield Desk(client, town, files)
    await temporal_client.get_schedule_handle(schedule_of(load_runtime(files.runtime)).id).delete()


async def test_an_appointment_is_booked_under_a_grant_and_without_one_nothing_is(
    desk: Desk,
) -> None:
    booked = await desk.ended("one", desk.town.grant())
    assert (booked["state"], booked["outcome"]) == ("finished", "booked")
    assert desk.town.asserted == 3
    [appointment] = desk.town.products.effects("scheduling.create-appointment")
    assert appointment.applied == 1
    gone = desk.town.grant()
    desk.town.products.revoke_grant(gone["id"])
    failed = await desk.ended("two", gone)
    assert failed["state"] == "failed"
    assert failed["failureCode"] == "credential-refused"
    logs = "".join(log.read_text() for log in (desk.files.folder / "logs").glob("*.log"))
    assert "connection.unusable" not in logs
    assert gone["id"] not in logs
    assert "eyJ" not in logs


async def test_a_wait_does_not_make_a_grant_last(desk: Desk) -> None:
    grant = desk.town.grant(seconds=4)
    opens = datetime.fromtimestamp(grant["expiresAt"] + 1, UTC).isoformat()
    ended = await desk.ended("one", grant, opens)
    assert (ended["state"], ended["failureCode"]) == ("failed", "credential-refused")
    assert desk.town.asserted == 0
    assert desk.town.products.requests("scheduling.read-scheduling") == []
