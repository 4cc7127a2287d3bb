"""Acts as people ask for them: over HTTP and with `coordinatorctl`, on a whole deployment."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from adapter.api import Codec, EventSource, Service, create_app, webhook_of
from adapter.cli.main import main
from adapter.crypto import PublicKeys, SigningKeys
from adapter.reconcile.diagnosis import Norms
from adapter.reconcile.signals import SignalCourier
from adapter.wiring.acts import LedgerDesk
from adapter.wiring.book import LedgerBook
from adapter.wiring.codec import DeploymentPayloads
from adapter.wiring.executions import TemporalExecutions
from adapter.wiring.oversight import DeploymentOversight
from adapter.wiring.sealing import codec_of
from adapter.wiring.signals import LedgerSignals
from interpreter.contract.records import RunState
from interpreter.contract.runs import Binding
from tests.fixtures.access import FixedAccess, key_policy
from tests.recovery.conftest import ONE_MESSAGE, SEND, FixedTemporal, Site

KEY = "key-of-ops"
EVENTS_SECRET = "whsec_" + "cmVn" * 8
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class Desk:
    """The service's address, and a command line against it."""

    url: str
    key_file: Path
    captured: pytest.CaptureFixture[str]

    async def ctl(self, *arguments: str) -> tuple[int, Any]:
        """Run `coordinatorctl`; gives its exit code and what it says."""
        where = ("--url", self.url, "--api-key-file", str(self.key_file), "--format", "json")
        code = await asyncio.to_thread(main, [*arguments, *where])
        return code, json.loads(self.captured.readouterr().out)


@pytest.fixture(name="desk")
async def served_desk(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Desk]:
    """The service over the site, for an operator."""
    access = FixedAccess.of_keys(ops=key_policy("ops", operator=True))
    book, acts = LedgerBook(site.ledger, Binding()), LedgerDesk(site.ledger, site.courier)
    norms = Norms(timedelta(minutes=1), timedelta(days=1), signs=True)
    marks, temporal = site.reconciliation.marks, FixedTemporal(site.client)
    oversight = DeploymentOversight(marks, temporal, norms, site.queue)
    executions = TemporalExecutions(site.ledger, FixedTemporal(site.client), site.starter)
    signals = LedgerSignals(site.ledger, SignalCourier(site.ledger, FixedTemporal(site.client)))
    sources = {"casework": webhook_of(SECRET)}
    registry = EventSource("registry", "urn:registry", None, webhook_of(EVENTS_SECRET))
    payloads = DeploymentPayloads(site.ledger, codec_of(site.ledger), site.client.namespace)
    parts = (book, executions, acts, access, sources, oversight, signals, [registry])
    app = create_app(Service(*parts, codec=Codec(payloads, frozenset())))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    key_file = tmp_path / "key"
    key_file.write_text(KEY)
    yield Desk(f"http://127.0.0.1:{port}", key_file, capsys)
    server.should_exit = True
    await task


async def test_an_operator_settles_an_unknown_effect_by_command(site: Site, desk: Desk) -> None:
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
        _, shown = await desk.ctl("status", run_id)
        controls = [control["name"] for control in shown["controls"]]
        assert controls == ["retry-same", "reconcile", "cancel"]
        code, done = await desk.ctl(
            "reconcile", "--run", run_id, "--reason", "line is back", "--request-id", "q1"
        )
        assert (code, done["act"]["outcome"], done["requestId"]) == (0, "confirmed", "q1")
        await site.until(run_id, RunState.FINISHED)
        _, again = await desk.ctl(
            "reconcile", run_id, "--reason", "line is back", "--request-id", "q1"
        )
        assert again["act"] == done["act"]
        _, found = await desk.ctl("inspect", run_id)
    [act] = found["acts"]
    assert (act["kind"], act["actor"], act["reason"]) == ("reconcile", "ops", "line is back")
    assert len(site.pretend.requests(SEND)) == 1


async def test_a_retry_by_command_names_its_effect_and_is_refused_once_it_is_settled(
    site: Site, desk: Desk
) -> None:
    site.pretend.fault(SEND, "lost-response")
    asked = ("--reason", "line is back", "--effect", "main/send:1")
    async with site.worker():
        run_id = await site.start(ONE_MESSAGE)
        await site.until(run_id, RunState.ATTENTION)
        code, done = await desk.ctl("retry-same", run_id, *asked)
        assert (code, done["act"]["effect"]) == (0, "main/send:1")
        assert done["act"]["outcome"] == "accepted"
        await site.until(run_id, RunState.FINISHED)
        code, refused = await desk.ctl("retry-same", run_id, *asked)
    assert (code, "act.closed" in json.dumps(refused)) == (1, True)
    assert site.applied() == [1]


@pytest.mark.parametrize("arguments", [(), ("RUN", "--run", "RUN")])
async def test_a_command_names_one_run(desk: Desk, arguments: tuple[str, ...]) -> None:
    code, said = await desk.ctl("cancel", *arguments, "--reason", "x")
    assert (code, "run.id-invalid" in json.dumps(said)) == (2, True)


async def test_the_doctor_ends_with_one_when_a_run_needs_a_person(site: Site, desk: Desk) -> None:
    # The database is a copy of one that may have been migrated long ago, when nobody signed.
    await site.ledger.checkpoints(SigningKeys({1: bytes(32)}, 1, PublicKeys({}))).seal()
    await site.reconcile()
    code, found = await desk.ctl("doctor")
    assert (code, found["healthy"], found["lastPassAgeSeconds"] < 60) == (0, True, True)
    site.pretend.fault(SEND, "lost-response")
    async with site.worker():
        await site.until(await site.start(ONE_MESSAGE), RunState.ATTENTION)
    code, found = await desk.ctl("doctor")
    assert code == 1
    assert [one["code"] for one in found["findings"]] == ["doctor.attention"]
    assert found["unknownEffects"] == 1


async def test_a_restore_is_gone_through_by_command(site: Site, desk: Desk) -> None:
    vouched = ("--recovery-reference", "ticket 7", "--prior-deployment-fenced")
    code, held = await desk.ctl("restore-hold", "--reason", "restored last night")
    assert (code, held["restoreHold"], held["code"]) == (0, True, "operator")
    code, refused = await desk.ctl("complete-execution-recovery", *vouched)
    assert (code, refused["code"]) == (1, "recovery.not-attested")
    complete = "--execution-history-complete"
    assert (await desk.ctl("complete-execution-recovery", *vouched, complete))[0] == 0
    code, held = await desk.ctl("release-restore-hold", "--reason", "reviewed")
    assert (code, held["restoreHold"], held["admissionsHold"]) == (0, False, True)
    done = await desk.ctl("release-admission-hold", *vouched, "--admission-history-complete")
    assert (done[0], done[1]["admissionsHold"]) == (0, False)
    code, erased = await desk.ctl("retain", "--before", "2026-01-01T00:00:00Z")
    assert (code, erased) == (0, {"erased": 0})
