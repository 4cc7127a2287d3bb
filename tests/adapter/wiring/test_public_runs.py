"""Projects of the public format on real servers, bound by a runtime file of the deployment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from temporalio.client import Client

from activities.calls.observe import WaitTimes
from activities.catalogue import Catalogue
from activities.products import Products
from activities.register import activities_of
from adapter.authoring import load_project
from adapter.cli.activation import bound
from adapter.config.catalogue import catalogue_of
from adapter.config.loading import Runtime, load_runtime
from adapter.crypto import KeyRing, Sealer
from adapter.errors import Refused
from adapter.ledger import Admission, Ledger, RunStatus
from adapter.package import Package, read_package, write_package
from adapter.reconcile.starts import Starter
from adapter.temporal.client import TemporalAddress, connect
from adapter.wiring.sealing import codec_of
from adapter.worker import WorkerParts, new_worker, prefetch_from
from examples.products.client import PretendProducts
from interpreter.contract.records import RunState
from tests.adapter.authoring.public_projects import FOLDER, longest_project

_numbers = count(1)
_PAST = "2026-01-05T00:00:00Z"


def _runtime(folder: Path, products: PretendProducts) -> Runtime:
    """What a deployer writes: each connection of the projects under its own name."""

    def connection(product: str, **settings: Any) -> dict[str, Any]:
        authorization = {"type": "bearer", "tokenRef": "secret:file/token"}
        at = {"product": product, "baseUrl": products.url(product)}
        return {**at, "authorization": authorization, **settings}

    document = {
        "apiVersion": "coordinator/v1",
        "kind": "CoordinatorRuntime",
        "deployment": "test",
        "mode": "development",
        "secrets": {"fileRoot": "."},
        "temporal": {"address": "127.0.0.1:1"},
        "database": {"url": "secret:file/token", "migrationUrl": "secret:file/token"},
        "keys": {
            name: {"active": 1, "versions": {"1": f"secret:file/{name}-key"}}
            for name in ("admission", "state")
        },
        "api": {"bind": "127.0.0.1:1", "publicUrl": "http://127.0.0.1:1"},
        "connections": {
            "records": connection("breg", profile="reviewer"),
            "letters": connection("messaging"),
            "calendar": connection("scheduling"),
            "judge": connection("evaluation", protocol="system-one", model="small"),
            "directory": connection(
                "external",
                paths=["offices/licensing", "offices/closed"],
                responseSchema={"type": "object", "required": ["status", "body"]},
            ),
        },
    }
    (folder / "token").write_text("pretend-products")
    (folder / "token").chmod(0o600)
    (folder / "runtime.yaml").write_text(yaml.safe_dump(document))
    return load_runtime(folder / "runtime.yaml", {})


@dataclass
class Deployment:
    """A ledger, a Temporal and a runtime file; a worker runs as long as the fixture."""

    runtime: Runtime
    ledger: Ledger
    client: Client
    queue: str
    folder: Path
    started: list[str] = field(default_factory=list)

    async def apply(self, project: Path) -> Package:
        """Package a project, and activate the package as `apply` does."""
        definition = load_project(project, catalogue_of(self.runtime)).definition
        assert definition is not None
        place = self.folder / f"package-{next(_numbers)}"
        read = read_package(place, write_package(definition, place))
        await self.ledger.packages.apply(bound(self.runtime, read), "deployer")
        return read

    async def run(self, project: Path, value: Any) -> RunStatus:
        """Start a run of a project, and wait for its end."""
        definition = (await self.apply(project)).definition.definition
        key = f"key-{next(_numbers)}"
        asked = Admission("owner", "", definition.id, key, definition.revision, value)
        run_id = (await self.ledger.admissions.admit(asked)).run_id
        await Starter(self.ledger.admissions, _Open(self.client), self.queue).start(run_id)
        async with asyncio.timeout(50):
            while (status := await self.ledger.reads.run_status(run_id, None)).closed_at is None:
                assert status.state is not RunState.ATTENTION, status
                await asyncio.sleep(0.1)
        self.started.append(status.workflow_id)
        return status


@dataclass
class _Open:
    connected: Client

    async def client(self) -> Client:
        return self.connected


@pytest.fixture
async def deployment(
    database_url: str,
    temporal_address: str,
    task_queue: str,
    products: PretendProducts,
    tmp_path: Path,
) -> AsyncIterator[Deployment]:
    """A deployment with one worker."""
    runtime = _runtime(tmp_path, products)
    calls = Products(Catalogue.standard(), runtime.connections)
    keys = KeyRing.generate()
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=6) as ledger:
        codec = codec_of(ledger, prefetch_from(ledger.definitions))
        client = await connect(TemporalAddress(temporal_address), codec)
        activities = activities_of(
            ledger.effects, ledger.runs, ledger.acts, ledger.book, calls, WaitTimes(1.0)
        )
        async with new_worker(WorkerParts(client, task_queue, activities, grace_seconds=1)):
            made = Deployment(runtime, ledger, client, task_queue, tmp_path)
            yield made
            for identity in made.started:
                await _closed(client, identity)
        await calls.aclose()


async def _closed(client: Client, identity: str) -> None:
    """Wait until Temporal has closed an execution, so that its worker may go."""
    async with asyncio.timeout(20):
        while (await client.get_workflow_handle(identity).describe()).close_time is None:
            await asyncio.sleep(0.05)


async def test_a_run_that_waits_first_reads_and_sends(
    deployment: Deployment, products: PretendProducts
) -> None:
    done = await deployment.run(
        FOLDER / "late-reminder", {"application": "APP-1001", "remindAt": _PAST}
    )
    assert (done.state, done.outcome) == (RunState.FINISHED, "reminded")
    [sent] = products.effects("messaging.submit-message/v1")
    assert sent.applied == 1
    closed = await deployment.run(
        FOLDER / "late-reminder", {"application": "APP-1004", "remindAt": _PAST}
    )
    assert (closed.outcome, closed.output) == ("left_alone", None)


@pytest.mark.parametrize(("office", "outcome"), [("licensing", "found"), ("closed", "absent")])
async def test_a_status_of_an_external_answer_decides(
    deployment: Deployment, office: str, outcome: str
) -> None:
    done = await deployment.run(FOLDER / "office_lookup", {"office": office})
    assert (done.state, done.outcome) == (RunState.FINISHED, outcome)


async def test_a_judgement_leads_to_an_action_of_the_registry(
    deployment: Deployment, products: PretendProducts
) -> None:
    done = await deployment.run(
        FOLDER / "bakery-judgement", {"application": "APP-1001", "threshold": 0}
    )
    assert (done.state, done.outcome) == (RunState.FINISHED, "noted")
    [acted] = products.effects("breg.invoke-action/v1")
    assert acted.applied == 1


async def test_a_project_without_connections_runs(deployment: Deployment) -> None:
    done = await deployment.run(FOLDER / "only-waits", {"at": _PAST, "way": "next"})
    assert (done.outcome, done.output) == ("other", [1, 2.5, {"a": None}])
    failed = await deployment.run(FOLDER / "only-waits", {"at": _PAST, "way": "unheard"})
    assert (failed.state, failed.failure_code) == (RunState.FAILED, "choice-invalid")


async def test_two_letters_are_two_effects(
    deployment: Deployment, products: PretendProducts
) -> None:
    people = [{"email": "a@example.org"}, {"email": "b@example.org"}]
    done = await deployment.run(FOLDER / "settled_letter", {"people": people})
    assert len(done.output) == 2
    assert [one.applied for one in products.effects("messaging.submit-message/v1")] == [1, 1]


async def test_all_64_steps_are_run(deployment: Deployment, tmp_path: Path) -> None:
    folder = tmp_path / "longest"
    folder.mkdir()
    value = {"at": _PAST, "id": "APP-1001", "stop_at": "end"}
    done = await deployment.run(longest_project(folder), value)
    assert done.state is RunState.FINISHED
    assert done.output > 3


async def test_a_connection_that_the_deployment_lacks_refuses_the_package(
    deployment: Deployment,
) -> None:
    del deployment.runtime.document.connections["records"]
    with pytest.raises(Refused) as refused:
        await deployment.apply(FOLDER / "late-reminder")
    assert (refused.value.code, refused.value.place) == (
        "connection.unbound",
        "/connections/records",
    )
