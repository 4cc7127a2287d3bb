"""Tests of pending starts: finished within seconds, outages waited out, refusals handed over."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from temporalio.client import Client

from activities.errors import LedgerUnavailable
from adapter.errors import Refused, Unavailable
from adapter.reconcile import starts
from adapter.reconcile.outbox import keep_delivering
from adapter.reconcile.starts import Starter
from interpreter.contract.runs import StartRun


@dataclass(frozen=True)
class Pending:
    """A run that waits for its start."""

    run_id: str
    execution: int = 1


@dataclass
class Memory:
    """The ledger's side, and Temporal's, in memory."""

    pending: list[Pending] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    away: bool = False

    async def start_request(self, run_id: str) -> StartRun:
        """The start input."""
        if self.away:
            raise LedgerUnavailable("ledger.unavailable", "the ledger does not answer")
        return StartRun(run_id, "notice", "1", "sha256:0", {}, "", "")

    async def bind_started(self, run_id: str, execution: int, temporal_run_id: str) -> None:
        """Bind a run."""
        self.bound[run_id] = temporal_run_id
        self.pending = [one for one in self.pending if one.run_id != run_id]

    async def start_failed(self, run_id: str, execution: int, code: str) -> None:
        """Give a run up."""
        self.failed[run_id] = code
        self.pending = [one for one in self.pending if one.run_id != run_id]

    async def pending_starts(self, older_than: float, limit: int = 100) -> list[Pending]:
        """What is pending."""
        return self.pending[:limit]

    async def client(self) -> Client:
        """No client: the start itself is replaced."""
        return None  # type: ignore[return-value]


Answers = dict[str, str | Exception]


@pytest.fixture
def temporal(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """What Temporal answers to the start of a run: its run id, or an error."""
    answers: Answers = {}

    async def start_run(_client: Client, start: StartRun, _queue: str) -> str:
        answer = answers.get(start.run_id, f"t-{start.run_id}")
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(starts, "start_run", start_run)
    return answers


async def test_a_pending_run_is_started_and_bound(temporal: Answers) -> None:
    memory = Memory([Pending("a"), Pending("b")])
    assert await Starter(memory, memory, "q").finish_pending() == 2
    assert memory.bound == {"a": "t-a", "b": "t-b"}


async def test_a_refused_start_is_handed_to_a_person_and_others_go_on(temporal: Answers) -> None:
    temporal["a"] = Refused("temporal.refused", "no")
    memory = Memory([Pending("a"), Pending("b")])
    assert await Starter(memory, memory, "q").finish_pending() == 1
    assert memory.failed == {"a": "temporal.refused"}
    assert memory.bound == {"b": "t-b"}


async def test_an_outage_fails_nothing(temporal: Answers) -> None:
    temporal["a"] = Unavailable("temporal.unavailable", "away")
    memory = Memory([Pending("a")])
    with pytest.raises(Unavailable):
        await Starter(memory, memory, "q").finish_pending()
    assert memory.failed == {}
    assert memory.pending == [Pending("a")]


async def test_the_loop_waits_an_outage_out(temporal: Answers) -> None:
    memory = Memory([Pending("a")], away=True)
    stop, finish = asyncio.Event(), Starter(memory, memory, "q").finish_pending
    loop = asyncio.create_task(keep_delivering(stop, finish, every=0.01))
    await asyncio.sleep(0.05)
    memory.away = False
    async with asyncio.timeout(5):
        while not memory.bound:
            await asyncio.sleep(0.01)
    stop.set()
    await loop
    assert memory.bound == {"a": "t-a"}
