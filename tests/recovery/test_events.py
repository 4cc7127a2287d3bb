"""Event triggers from end to end: one event, one run, whatever becomes of the workflow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from activities.catalogue import Catalogue
from adapter.api import CloudEvent, EventRequest
from adapter.authoring import load_project
from adapter.cli.local_files import Addresses, Bound, LocalFiles
from adapter.cli.main import main
from adapter.ledger import Package, RunFilter
from adapter.wiring.events import admit_event
from interpreter.contract.records import StartState
from interpreter.contract.runs import Binding
from interpreter.definition.document import Definition, Labels
from tests.adapter.api.test_signatures import signed
from tests.house.places import ROOT
from tests.recovery.conftest import Site
from tests.recovery.test_service import EVENTS_SECRET, Desk, served_desk

__all__ = ["served_desk"]

DATA = {"recordId": "APP-1001", "submittedVia": "portal"}
TRIGGER = "application-submitted"
ADDRESS = ("followed-application", TRIGGER)


def example() -> Definition:
    """The example whose runs an event admits."""
    loaded = load_project(ROOT / "examples" / "followed-application", Catalogue.standard())
    assert loaded.definition is not None, loaded.diagnostics
    return loaded.definition.definition


def changed(**members: Any) -> Definition:
    """The example with another trigger, and so another revision."""
    document = example().to_json()
    trigger = document["triggers"][TRIGGER] | members
    return Definition.model_validate(document | {"triggers": {TRIGGER: trigger}})


async def activate(site: Site, made: Definition, number: int = 1) -> None:
    """Make this definition the active one."""
    package = Package(f"sha256:events-{number}", made, Labels(version=f"e{number}"))
    await site.ledger.packages.apply(package, "deployer")


@pytest.fixture
async def client(site: Site, desk: Desk) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the service without any key; the example is active."""
    await activate(site, example())
    async with httpx.AsyncClient(base_url=desk.url, timeout=30) as made:
        yield made


async def send(
    client: httpx.AsyncClient,
    data: Any = DATA,
    to: str = f"followed-application/{TRIGGER}",
    **attributes: Any,
) -> Any:
    """Send an event of the registry; gives status and body."""
    event = {
        "specversion": "1.0",
        "id": "e-1",
        "source": "urn:registry",
        "type": "registry.application.submitted",
        "data": data,
    }
    body = json.dumps(event | attributes)
    headers = signed(body, EVENTS_SECRET)
    answer = await client.post(f"/v1/events/{to}", content=body, headers=headers)
    return answer.status_code, answer.json()


async def test_an_event_starts_a_run_with_the_input_that_its_trigger_makes(
    site: Site, client: httpx.AsyncClient
) -> None:
    status, admitted = await send(client)
    assert (status, admitted["created"]) == (202, True)
    site.started.append(admitted["runId"])
    assert (await site.status(admitted["runId"])).start_state is StartState.STARTED
    start = await site.ledger.admissions.start_request(admitted["runId"])
    assert start.input == {"applicationId": "APP-1001", "channel": "online"}
    owner = site.ledger.keyed.owner("event-source", "urn:registry")
    assert (await site.status(admitted["runId"])).owner == owner
    [told] = await site.sql("select data from coordinator.events where type = 'run.admitted'")
    assert told[0]["trigger"] == TRIGGER


async def test_many_deliveries_of_one_event_at_once_admit_one_run(
    site: Site, client: httpx.AsyncClient
) -> None:
    answers = await asyncio.gather(*(send(client) for _ in range(8)))
    assert {status for status, _ in answers} == {202}
    [run_id] = {body["runId"] for _, body in answers}
    assert [body["created"] for _, body in answers].count(True) == 1
    site.started.append(run_id)


async def test_an_event_is_the_same_whatever_its_sender_is_called_here(
    site: Site, client: httpx.AsyncClient
) -> None:
    event = CloudEvent("e-1", "urn:registry", "registry.application.submitted", "", DATA)
    admitted = [
        await admit_event(site.ledger, Binding(), EventRequest(name, *ADDRESS, event))
        for name in ("registry", "registry-with-a-new-secret")
    ]
    assert [one.created for one in admitted] == [True, False]


async def test_another_event_admits_another_run_and_other_content_none(
    site: Site, client: httpx.AsyncClient
) -> None:
    runs = [(await send(client, id=id))[1]["runId"] for id in ("e-1", "e-2", "e-1")]
    assert (runs[0], len(set(runs))) == (runs[2], 2)
    site.started += set(runs)
    others: list[dict[str, Any]] = [{"data": {**DATA, "recordId": "B"}}, {"subject": "another"}]
    for other in others:
        status, refused = await send(client, **other)
        assert (status, refused["code"]) == (409, "event.id-reused")
    assert (await send(client, time="2026-01-02T03:04:05Z"))[0] == 202


async def test_an_event_finds_its_run_though_the_workflow_changed_or_was_withdrawn(
    site: Site, client: httpx.AsyncClient
) -> None:
    _, first = await send(client)
    site.started.append(first["runId"])
    await activate(site, changed(event="registry.application.changed"), 2)
    assert (await send(client))[1] == {**first, "created": False}
    status, other = await send(client, id="e-2")
    assert (status, other["code"]) == (422, "event.type-unexpected")
    await site.ledger.packages.withdraw("followed-application", "operator")
    assert (await send(client))[1]["runId"] == first["runId"]
    status, other = await send(client, id="e-2")
    assert (status, other["code"]) == (409, "revision.not-active")


async def test_what_is_not_there_is_404(client: httpx.AsyncClient) -> None:
    status, refused = await send(client, to="followed-application/unheard-of")
    assert (status, refused["code"]) == (404, "trigger.unknown")
    status, refused = await send(client, to=f"unheard-of/{TRIGGER}")
    assert (status, refused["code"]) == (404, "workflow.unknown")


async def test_an_event_has_to_fit_its_trigger(site: Site, client: httpx.AsyncClient) -> None:
    status, refused = await send(client, {"recordId": "hunter2"})
    assert (status, refused["code"], refused["place"]) == (422, "event.invalid", "/data")
    status, refused = await send(client, {**DATA, "submittedVia": "hunter2"})
    assert (status, refused["place"]) == (422, "/data/submittedVia")
    assert "hunter2" not in json.dumps(refused)
    status, refused = await send(client, type="another")
    assert (status, refused["code"]) == (422, "event.type-unexpected")
    await activate(site, changed(source="urn:another"), 2)
    status, refused = await send(client)
    assert (status, refused["code"]) == (403, "event.source-denied")
    assert await site.sql("select * from coordinator.runs") == []


async def test_a_mapping_that_makes_no_input_admits_nothing(
    site: Site, client: httpx.AsyncClient
) -> None:
    await activate(site, changed(input={"input": "/absent"}), 2)
    status, refused = await send(client)
    assert (status, refused["code"]) == (422, "event.unmapped")
    await activate(site, changed(input={"literal": {"applicationId": ""}}), 3)
    status, refused = await send(client)
    assert (status, refused["code"]) == (422, "input.invalid")
    assert await site.sql("select * from coordinator.runs") == []


async def test_a_hold_keeps_events_out_until_it_is_released(
    site: Site, client: httpx.AsyncClient
) -> None:
    await site.sql("update coordinator.control set admissions_hold = true")
    status, refused = await send(client)
    assert (status, refused["code"]) == (409, "admission.held")
    await site.sql("update coordinator.control set admissions_hold = false")
    status, admitted = await send(client)
    assert status == 202
    site.started.append(admitted["runId"])


async def test_a_new_record_of_the_registry_starts_a_run(
    site: Site, client: httpx.AsyncClient, desk: Desk
) -> None:
    address = f"{desk.url}/v1/events/followed-application/{TRIGGER}"
    site.pretend.registry_events(address, EVENTS_SECRET, "urn:registry")
    site.pretend.put_record("applications", "APP-9000", {"submittedVia": "counter"})
    async with asyncio.timeout(20):
        while not (runs := (await site.ledger.reads.list_runs(RunFilter())).runs):
            await asyncio.sleep(0.1)
    request = await site.ledger.admissions.start_request(runs[0].run_id)
    assert request.input == {"applicationId": "APP-9000", "channel": "counter"}


async def test_a_developer_sends_an_event_by_command(
    client: httpx.AsyncClient, desk: Desk, tmp_path: Path
) -> None:
    port = int(desk.url.rpartition(":")[2])
    nowhere = "http://127.0.0.1:1"
    at = Addresses("127.0.0.1:1", nowhere, port, nowhere, "postgresql:", "postgresql:")
    files = LocalFiles(tmp_path)
    files.prepare()
    (files.secrets / "registry-events").write_text(EVENTS_SECRET)
    files.write_runtime(at, {}, Bound({}, event_source="urn:registry"))
    data = tmp_path / "event.json"
    data.write_text(json.dumps(DATA))
    asked = ("emit", "followed-application", TRIGGER, "--data", str(data), "--id", "e-9")
    named = ("--runtime", str(files.runtime), "--format", "json", "--type")
    answers = []
    for kind in ("registry.application.submitted", "registry.application.submitted", "other"):
        code = await asyncio.to_thread(main, [*asked, *named, kind])
        answers.append((code, json.loads(desk.captured.readouterr().out)))
    (first, made), (second, again), (third, refused) = answers
    assert (first, second, third) == (0, 0, 1)
    assert (made["created"], again["created"]) == (True, False)
    assert (made["runId"], refused["code"]) == (again["runId"], "event.id-reused")
