"""The first opponent: Temporal workflows written by hand, with nothing but Temporal behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
from temporalio import activity, workflow

from benchmarks.cases import message_input

ATTEMPT_LIMIT = timedelta(seconds=10)
MOST_CONNECTIONS = 100


@dataclass(frozen=True)
class Job:
    """The start input: what the run is about, and how many calls it makes."""

    run: dict[str, str]
    steps: int


class ProductClient:
    """The product over httpx, as one keeps it in a worker: one client, its connections kept."""

    def __init__(self, base_url: str) -> None:
        limits = httpx.Limits(
            max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_CONNECTIONS
        )
        self._http = httpx.AsyncClient(base_url=base_url, limits=limits, timeout=5.0)

    async def read(self, record_id: str) -> dict[str, Any]:
        """One record; httpx's errors are left to Temporal's retries."""
        answer = await self._http.get(
            f"/v1/records/applications/{record_id}", params={"accessProfile": "caseworker"}
        )
        record: dict[str, Any] = answer.raise_for_status().json()
        return record

    async def submit(self, message: dict[str, Any], key: str) -> dict[str, Any]:
        """Submit a message once for a key; the same errors."""
        headers = {"idempotency-key": key}
        answer = await self._http.post("/v1/messages", json=message, headers=headers)
        accepted: dict[str, Any] = answer.raise_for_status().json()
        return accepted

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()


class PlainCalls:
    """The activities."""

    def __init__(self, product: ProductClient) -> None:
        self._product = product

    @activity.defn
    async def read_record(self, record_id: str) -> dict[str, Any]:
        """Read a record."""
        return await self._product.read(record_id)

    @activity.defn
    async def submit_message(self, message: dict[str, Any]) -> dict[str, Any]:
        """Submit a message; every attempt of the activity has the same key."""
        info = activity.info()
        return await self._product.submit(message, f"{info.workflow_id}/{info.activity_id}")

    def callables(self) -> list[Callable[..., Any]]:
        """What a worker registers."""
        return [self.read_record, self.submit_message]


@workflow.defn(name="reads-by-hand")
class Reads:
    """Reads in a row."""

    @workflow.run
    async def run(self, job: Job) -> str:
        """Give the id in the last record."""
        record: dict[str, Any] = {}
        for _ in range(job.steps):
            record = await workflow.execute_activity_method(
                PlainCalls.read_record, job.run["recordId"], start_to_close_timeout=ATTEMPT_LIMIT
            )
        return str(record["recordId"])


@workflow.defn(name="effects-by-hand")
class Effects:
    """Effects in a row."""

    @workflow.run
    async def run(self, job: Job) -> str:
        """Give the id of the last message."""
        accepted: dict[str, Any] = {}
        for _ in range(job.steps):
            accepted = await workflow.execute_activity_method(
                PlainCalls.submit_message,
                message_input(job.run),
                start_to_close_timeout=ATTEMPT_LIMIT,
            )
        return str(accepted["id"])


WORKFLOWS: list[type[Any]] = [Reads, Effects]
