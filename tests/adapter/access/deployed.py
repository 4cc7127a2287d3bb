"""The service on a real ledger, with an issuer, its clients and API keys; Temporal is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from temporalio.client import Client

from activities.catalogue import Catalogue
from adapter.access import Trouble
from adapter.api import Codec, EventSource, Service, create_app, webhook_of
from adapter.authoring import load_project
from adapter.config.callers import ACTIONS, OPERATORS_ALONE, Authentication
from adapter.crypto import KeyRing, Sealer
from adapter.errors import Unavailable
from adapter.ledger import Ledger, Package, Packages
from adapter.reconcile.acts import Courier
from adapter.reconcile.diagnosis import Norms
from adapter.reconcile.marks import Marks
from adapter.reconcile.signals import SignalCourier
from adapter.reconcile.starts import Starter
from adapter.temporal.schedule import ReconcileSchedule
from adapter.wiring.acts import LedgerDesk
from adapter.wiring.book import LedgerBook
from adapter.wiring.codec import DeploymentPayloads
from adapter.wiring.executions import TemporalExecutions
from adapter.wiring.oversight import DeploymentOversight
from adapter.wiring.sealing import codec_of
from adapter.wiring.signals import LedgerSignals
from interpreter.contract.runs import Binding
from tests.adapter.access.tokens import AUDIENCE, ISSUER, Mint
from tests.fixtures.access import FAR_AWAY, FixedAccess, key_hash

WORKFLOW = "followed-application"
PROJECT = Path(__file__).parents[3] / "examples" / WORKFLOW
SENDER_SECRET = "whsec_" + "cmVn" * 8
PLAIN = [action for action in ACTIONS if action not in OPERATORS_ALONE]


class AwayTemporal:
    """A Temporal server that never answers: what is asked for stays on record."""

    async def client(self) -> Client:
        """Unavailable."""
        raise Unavailable("temporal.unavailable", "it does not answer")


def policy(actions: list[str], workflows: list[str], *, operator: bool = False) -> dict[str, Any]:
    """A policy."""
    return {"actions": actions, "workflows": workflows, "operator": operator}


def policies() -> dict[str, dict[str, Any]]:
    """Every policy by its name: clients of the issuer and callers with API keys have the same."""
    mine, letters = [WORKFLOW], ["letters"]
    lacking = {
        f"without-{action}": policy([one for one in ACTIONS if one != action], mine, operator=True)
        for action in ACTIONS
    }
    return {
        "plain": policy(PLAIN, mine),
        "letters": policy(PLAIN, letters),
        "operator": policy(list(ACTIONS), mine, operator=True),
        "every-operator": policy(list(ACTIONS), ["*"], operator=True),
        "letters-operator": policy(list(ACTIONS), letters, operator=True),
        **lacking,
    }


def authentication(mint: Mint) -> Authentication:
    """The issuer of a mint, and an API key for every policy; one of them has ended."""
    clients = {name: {"requiredScopes": ["runs"], **one} for name, one in policies().items()}
    keys = {
        name: {"keys": [{"hash": key_hash(f"key-of-{name}"), "expiresAt": FAR_AWAY}], **one}
        for name, one in policies().items()
    }
    ended = {"hash": key_hash("key-of-ended"), "expiresAt": "2020-01-01T00:00:00Z"}
    keys["ended"] = {"keys": [ended], **policy(PLAIN, [WORKFLOW])}
    part = {
        "issuer": ISSUER,
        "audience": AUDIENCE,
        "keySet": {"type": "static", "documentRef": "secret:file/keys"},
        "clients": clients,
    }
    return Authentication.model_validate({"issuers": {"staff": part}, "apiKeys": keys})


@dataclass(frozen=True)
class Deployed:
    """A served application on a ledger of its own."""

    app: FastAPI
    url: str
    ledger: Ledger
    mint: Mint
    revision: str
    troubles: list[Trouble]

    def client(self, headers: dict[str, str]) -> httpx.AsyncClient:
        """A client with these headers."""
        # Making a context for TLS would take longer than the request.
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=30, verify=False)

    def token(self, client: str, subject: str = "ann", **claims: Any) -> dict[str, str]:
        """The header of somebody through a client."""
        made = self.mint.token(now=time.time(), client_id=client, sub=subject, **claims)
        return {"Authorization": f"Bearer {made}"}

    def key(self, name: str) -> dict[str, str]:
        """The header of a caller with an API key."""
        return {"X-API-Key": f"key-of-{name}"}

    async def start(self, headers: dict[str, str], key: str) -> str:
        """Start a run; gives its id."""
        async with self.client({**headers, "Idempotency-Key": key}) as client:
            answer = await client.post("/v1/runs", json=self.start_body())
        assert answer.status_code == 202, answer.text
        return str(answer.json()["runId"])

    def start_body(self) -> dict[str, Any]:
        """A start that fits the workflow."""
        return {
            "workflow": WORKFLOW,
            "revision": self.revision,
            "input": {"applicationId": "APP-1", "channel": "online"},
        }


@asynccontextmanager
async def deployed(database_url: str, owner_url: str) -> AsyncIterator[Deployed]:
    """The service on a fresh database in which the example is active."""
    loaded = load_project(PROJECT, Catalogue.standard()).definition
    assert loaded is not None
    keys = KeyRing.generate()
    package = Package("sha256:" + "d" * 64, loaded.definition, loaded.labels)
    async with Packages.open(owner_url, keys, "test") as packages:
        await packages.apply(package, "test")
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=4) as ledger:
        mint = Mint()
        troubles: list[Trouble] = []
        app = create_app(_service(ledger, mint, troubles))
        async with _served(app) as url:
            yield Deployed(app, url, ledger, mint, loaded.definition.revision, troubles)


def _service(ledger: Ledger, mint: Mint, troubles: list[Trouble]) -> Service:
    away = AwayTemporal()
    every = timedelta(minutes=1)
    marks = Marks(ledger, ReconcileSchedule("test", "test", every))
    norms = Norms(every, timedelta(days=1), signs=True)
    starter = Starter(ledger.admissions, away, "test")
    return Service(
        book=LedgerBook(ledger, Binding()),
        executions=TemporalExecutions(ledger, away, starter),
        acts=LedgerDesk(ledger, Courier(ledger, away)),
        access=FixedAccess(authentication(mint), mint.published),
        completions={"casework": webhook_of(SENDER_SECRET)},
        oversight=DeploymentOversight(marks, away, norms, "test", lambda: troubles),
        signals=LedgerSignals(ledger, SignalCourier(ledger, away)),
        event_sources=[
            EventSource("registry", "urn:example:registry", None, webhook_of(SENDER_SECRET))
        ],
        codec=Codec(DeploymentPayloads(ledger, codec_of(ledger), "default"), frozenset()),
    )


@asynccontextmanager
async def _served(app: FastAPI) -> AsyncIterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task
