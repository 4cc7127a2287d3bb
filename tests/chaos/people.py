"""People around the deployment: who asks for runs, who reviews, who operates; each with a seed."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError

from adapter.errors import AdapterError, Refused, Unavailable
from interpreter.contract import names
from interpreter.contract.runs import workflow_id
from tests.chaos.deployment import Deployment

_APPLICATIONS = ("APP-1001", "APP-1001", "APP-1001", "APP-1002", "APP-1003", "APP-1005")
_MOST_ACTS = 6
_ACT_WAIT_SECONDS = 1.0
_MOVE_SECONDS = 0.4


@dataclass
class Applicant:
    """Asks for runs over HTTP, and repeats with the same key until there is an answer."""

    deployment: Deployment
    seed: int
    admitted: dict[str, str] = field(default_factory=dict)
    """Key -> run id of every admission that was answered."""

    async def ask(self, runs: int, seconds: float) -> None:
        """Ask for so many runs, spread over so many seconds."""
        [workflow] = await self._until_answered(
            lambda: self.deployment.client.get("/v1/workflows")["workflows"]
        )
        chance = random.Random(f"{self.seed}:applicant")
        async with asyncio.TaskGroup() as group:
            for number in range(runs):
                group.create_task(self._one(workflow, f"key-{number}", chance))
                await asyncio.sleep(chance.uniform(0.0, 2 * seconds / runs))

    async def _one(self, workflow: dict[str, Any], key: str, chance: random.Random) -> None:
        body = {
            "workflow": workflow["workflow"],
            "revision": workflow["revision"],
            "input": {"applicationId": chance.choice(_APPLICATIONS)},
        }
        headers = {"Idempotency-Key": key}
        run = await self._until_answered(
            lambda: self.deployment.client.post("/v1/runs", body, headers)
        )
        self.admitted[key] = run["runId"]

    async def _until_answered(self, ask: Callable[[], Any]) -> Any:
        while True:
            try:
                return await asyncio.to_thread(ask)
            except Unavailable:
                await asyncio.sleep(0.5)


@dataclass
class Reviewers:
    """Decide most reviews after a while; some never, so that their waits time out."""

    deployment: Deployment
    seed: int
    decided: int = 0

    async def work(self) -> None:
        """Look at the desk again and again, for ever."""
        while True:
            for review in await asyncio.to_thread(self._pending):
                chance = random.Random(f"{self.seed}:{review['correlationId']}")
                if chance.random() < 0.12:
                    continue
                await asyncio.to_thread(self._decide, review["reviewRequestId"], chance)
            await asyncio.sleep(0.5)

    def _pending(self) -> list[dict[str, Any]]:
        return list(self.deployment.desk.pending())

    def _decide(self, review: str, chance: random.Random) -> None:
        decision = "approved" if chance.random() < 0.8 else "rejected"
        try:
            self.deployment.desk.decide(review, decision)
        except Refused:
            # Withdrawn in the meantime.
            return
        self.decided += 1


@dataclass
class Movers:
    """Have runs continue as new at random moments, as `versions drain` does."""

    deployment: Deployment
    seed: int
    moved: int = 0

    async def work(self) -> None:
        """Ask one run after another, for ever; what is away is waited out."""
        chance = random.Random(f"{self.seed}:movers")
        client: Client | None = None
        while True:
            await asyncio.sleep(chance.uniform(0.0, 2 * _MOVE_SECONDS))
            # A nudge may be lost with a server that dies, like any other.
            with suppress(AdapterError, RPCError, RuntimeError):
                client = client or await Client.connect(self.deployment.addresses.temporal)
                runs = await asyncio.to_thread(self._open)
                if runs:
                    await self._move(client, chance.choice(runs))

    def _open(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for state in ("attention", "cancel-requested", "running", "waiting"):
            found += self.deployment.client.get("/v1/runs", state=state, limit=100)["runs"]
        return found

    async def _move(self, client: Client, run: dict[str, Any]) -> None:
        handle = client.get_workflow_handle(workflow_id(run["workflow"], run["runId"], 1))
        await handle.signal(names.HAND_OVER_SIGNAL, rpc_timeout=timedelta(seconds=2))
        self.moved += 1


@dataclass
class Operators:
    """Settle unknown effects by act, leave some alone, and cancel some runs while they go on."""

    deployment: Deployment
    seed: int
    acts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    given_up: set[str] = field(default_factory=set)
    _tried: Counter[str] = field(default_factory=Counter)

    async def work(self) -> None:
        """Look at runs again and again, for ever; a service that is away is waited out."""
        while True:
            try:
                runs = await asyncio.to_thread(self._listed)
                await asyncio.gather(*(self._look_at(run) for run in runs))
            except AdapterError:
                await asyncio.sleep(0.5)
            await asyncio.sleep(0.5)

    def _listed(self) -> list[dict[str, Any]]:
        client = self.deployment.client
        found: list[dict[str, Any]] = []
        for state in ("attention", "waiting"):
            found += client.get("/v1/runs", state=state, limit=100)["runs"]
        return found

    async def _look_at(self, run: dict[str, Any]) -> None:
        run_id = run["runId"]
        chance = random.Random(f"{self.seed}:{run_id}:{run['state']}:{self._tried[run_id]}")
        if run["state"] == "waiting":
            if random.Random(f"{self.seed}:{run_id}:cancel").random() < 0.06:
                await self._act(run_id, "cancel")
            return
        if run_id in self.given_up:
            return
        if self._tried[run_id] >= _MOST_ACTS or chance.random() < 0.05:
            self.given_up.add(run_id)
            return
        allowed = [control["name"] for control in run["controls"]]
        wished = chance.choices(["reconcile", "retry-same", "cancel"], [5, 5, 1])[0]
        if wished not in allowed:
            wished = chance.choice(allowed or ["cancel"])
        await self._act(run_id, wished)

    async def _act(self, run_id: str, kind: str) -> None:
        """One act, asked for twice under one request id, as an impatient person would."""
        key = f"{kind}-{self._tried[run_id]}"
        self._tried[run_id] += 1
        body = {"reason": "the line is back"}
        for _ in range(2):
            try:
                path = f"/v1/runs/{run_id}/{kind}"
                headers = {"Idempotency-Key": key}
                await asyncio.to_thread(self.deployment.client.post, path, body, headers)
            except Refused as error:
                self.refused[error.code] += 1
                return
            except Unavailable:
                await asyncio.sleep(_ACT_WAIT_SECONDS)
        self.acts[kind] += 1
