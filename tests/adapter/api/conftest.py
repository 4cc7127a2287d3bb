"""The service over a real socket, on ports kept in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

import httpx
import pytest
import uvicorn

from adapter.api import (
    ActView,
    ActWish,
    AdmissionRequest,
    Admitted,
    Attestation,
    Diagnosis,
    EffectView,
    EventRequest,
    EventSource,
    EventView,
    Finding,
    HoldView,
    Inspection,
    Owner,
    ReviewView,
    RunFilter,
    RunPage,
    RunView,
    Scope,
    Service,
    SignalView,
    SignalWish,
    SignedMessage,
    StepView,
    WaitView,
    WorkflowView,
    create_app,
    webhook_of,
)
from adapter.errors import Refused, Unavailable
from interpreter.contract.records import RunState, StartState
from interpreter.contract.values import canonical_bytes
from tests.fixtures.access import FixedAccess, key_policy

REVISION = "sha256:" + "a" * 64
WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
REGISTRY_SECRET = "whsec_" + "cmVn" * 8
MAIL_SECRET = "whsec_" + "bWFp" * 8
_NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_ACT = ActView("a-1", "cancel", "", "boss", "ticket 81", "done", "accepted", "", _NOW)


@dataclass
class MemoryBook:
    """The ledger's port: one active workflow whose input is an object."""

    admitted: dict[tuple[Owner, str, str], tuple[bytes, RunView]] = field(default_factory=dict)
    owners: dict[str, Owner] = field(default_factory=dict)
    readers: list[tuple[str, str, str]] = field(default_factory=list)
    up: bool = True
    journal: bool = True

    async def admit(self, request: AdmissionRequest) -> Admitted:
        """Commit an admission in memory."""
        if not self.up:
            raise Unavailable("ledger.unavailable", "the ledger does not answer")
        identity = (request.owner, request.workflow, request.key)
        body = canonical_bytes([request.revision, request.input])
        if identity in self.admitted:
            known, run = self.admitted[identity]
            if known != body:
                raise Refused("idempotency.key-reused", "the key has another body")
            return Admitted(run, created=False)
        if request.revision != REVISION:
            raise Refused("revision.not-active", "another revision is active")
        run = self._run(request, str(uuid5(NAMESPACE_OID, repr(identity))))
        self.admitted[identity] = (body, run)
        self.owners[run.run_id] = request.owner
        return Admitted(run, created=True)

    def _run(self, request: AdmissionRequest, run_id: str) -> RunView:
        return RunView(
            run_id=run_id,
            workflow=request.workflow,
            version="1",
            revision=request.revision,
            state=RunState.QUEUED,
            start=StartState.PENDING,
            admitted_at=_NOW,
            deadline_at=_NOW + timedelta(days=1),
            acts=("cancel",),
        )

    async def admit_event(self, request: EventRequest) -> Admitted:
        """Admit by the event's identity, as input its data."""
        event = request.event
        key = repr((request.trigger, event.source, event.id))
        sender = Owner("event-source", request.source)
        return await self.admit(
            AdmissionRequest(sender, key, request.workflow, REVISION, event.data)
        )

    def change(self, run_id: str, **facts: object) -> None:
        """Let a run stand otherwise."""
        for identity, (body, run) in self.admitted.items():
            if run.run_id == run_id:
                self.admitted[identity] = (body, replace(run, **facts))  # type: ignore[arg-type]

    async def workflows(self, scope: Scope) -> list[WorkflowView]:
        """One workflow."""
        if not scope.covers("notice"):
            return []
        return [WorkflowView("notice", "1", REVISION, "sha256:" + "c" * 64)]

    async def run(self, run_id: str, scope: Scope) -> RunView | None:
        """The run if the scope covers it."""
        for _, run in self.admitted.values():
            owned = scope.owner in (None, self.owners[run.run_id])
            if run.run_id == run_id and owned and scope.covers(run.workflow):
                return run
        return None

    async def runs(self, scope: Scope, only: RunFilter, cursor: str | None, limit: int) -> RunPage:
        """All runs that the scope covers."""
        ids = [run.run_id for _, run in self.admitted.values()]
        seen = [run for run_id in ids if (run := await self.run(run_id, scope))]
        wanted = [run for run in seen if only.state in (None, run.state)]
        return RunPage(wanted[:limit], "more" if len(wanted) > limit else None)

    async def inspect(self, run_id: str, scope: Scope) -> Inspection | None:
        """A run with one of each, an act and a receipt if it has output."""
        run = await self.run(run_id, scope)
        if run is None:
            return None
        return Inspection(
            run,
            [StepView("main/read:1", "read", "call", "succeeded", "next", "", _NOW)],
            [
                EffectView(
                    "main/read:1",
                    "read",
                    "breg.read-record/v1",
                    "register",
                    "accepted",
                    "",
                    1,
                    _NOW,
                    _NOW,
                    "r-1" if run.output is not None else "",
                )
            ],
            [WaitView("main/wait:1", "wait", "completion", _NOW, _NOW, 3, _NOW, "")],
            signals=[SignalView("s-1", "paid", "kept", "", False, _NOW, _NOW)],
            acts=[] if run.output is None else [_ACT],
        )

    async def events(
        self, run_id: str, scope: Scope, after: int, limit: int
    ) -> list[EventView] | None:
        """Three events."""
        if await self.run(run_id, scope) is None:
            return None
        return [EventView(n, "run.admitted", _NOW) for n in (1, 2, 3) if n > after][:limit]

    async def note_read(self, run_id: str, actor: str, what: str) -> None:
        """Remember who was shown what, as long as it is up and takes records."""
        if not (self.up and self.journal):
            raise Unavailable("ledger.unavailable", "the journal takes no record")
        self.readers.append((run_id, actor, what))

    async def ready(self) -> bool:
        """Whether it is up."""
        return self.up


@dataclass
class MemoryExecutions:
    """Temporal's port, with a note of what was asked."""

    asked: list[tuple[str, ...]] = field(default_factory=list)
    up: bool = True

    async def start(self, run_id: str) -> None:
        """Note a start."""
        if not self.up:
            raise Unavailable("temporal.unavailable", "Temporal does not answer")
        self.asked.append(("start", run_id))

    async def hint(self, message: SignedMessage, member: str, subject: str) -> bool:
        """Note a hint; a message's id is known the second time."""
        known = ("message", message.id) in self.asked
        self.asked += [("message", message.id), ("hint", message.source, member, subject)]
        return known

    async def ready(self) -> bool:
        """Whether it is up."""
        return self.up


@dataclass
class MemoryDesk:
    """Acts in memory: ``outcome`` is what the next look tells, ``refusal`` why none begins."""

    begun: dict[str, tuple[str, ActWish]] = field(default_factory=dict)
    outcome: str = "accepted"
    refusal: str = ""

    async def begin(self, run_id: str, wish: ActWish) -> ActView:
        """Keep the wish."""
        if self.refusal:
            raise Refused(self.refusal, "not now")
        act_id = str(uuid5(NAMESPACE_OID, repr((run_id, wish.kind, wish.key))))
        self.begun[act_id] = (run_id, wish)
        return self._view(act_id)

    async def carry_out(self, act_id: str, seconds: float) -> ActView:
        """It stands as it stands."""
        return self._view(act_id)

    async def find(self, run_id: str, act_id: str) -> ActView | None:
        """An act of this run."""
        known = act_id in self.begun and self.begun[act_id][0] == run_id
        return self._view(act_id) if known else None

    def _view(self, act_id: str) -> ActView:
        wish = self.begun[act_id][1]
        state = "done" if self.outcome else "recorded"
        return ActView(
            act_id, wish.kind, wish.effect, wish.actor, wish.reason, state, self.outcome, "", _NOW
        )


@dataclass
class MemorySignals:
    """Signals in memory: ``outcome`` is what the next look tells, ``refusal`` why none begins."""

    begun: dict[str, tuple[str, SignalWish]] = field(default_factory=dict)
    outcome: str = "completed"
    refusal: tuple[str, int] | None = None
    run_closed: bool = False

    async def begin(self, run_id: str, wish: SignalWish) -> SignalView:
        """Keep the wish."""
        if self.refusal is not None:
            code, status = self.refusal
            raise Refused(code, "not so", status=status)
        signal_id = str(uuid5(NAMESPACE_OID, repr((run_id, wish.name, wish.key))))
        self.begun[signal_id] = (run_id, wish)
        return await self.carry_out(signal_id, 0)

    async def carry_out(self, signal_id: str, seconds: float) -> SignalView:
        """It stands as it stands."""
        wish = self.begun[signal_id][1]
        return SignalView(signal_id, wish.name, self.outcome, "", self.run_closed, _NOW)


@dataclass
class MemoryOversight:
    """The deployment in memory: well, until ``findings`` says otherwise."""

    findings: list[Finding] = field(default_factory=list)
    asked: list[tuple[object, ...]] = field(default_factory=list)
    hold: HoldView = field(default=HoldView(False, False, "", None, None, 0))

    async def diagnose(self) -> Diagnosis:
        """Some numbers."""
        return Diagnosis(
            findings=self.findings,
            deployment="test",
            epoch="e",
            counter=7,
            hold=self.hold,
            states={"finished": 2},
            unknown_effects=0,
            failed_starts=0,
            pending_starts=0,
            oldest_pending_start_at=None,
            open_acts=0,
            oldest_act_at=None,
            open_signals=0,
            oldest_signal_at=None,
            open_hints=0,
            oldest_hint_at=None,
            oldest_due_at=None,
            unerased_runs=2,
            oldest_unerased_at=_NOW,
            last_pass_at=_NOW,
            last_pass_age=3,
            namespace_retention=None,
            failing_executions=None,
        )

    async def restore_hold(self, actor: str, reason: str) -> HoldView:
        """Hold."""
        self.asked.append(("hold", actor, reason))
        self.hold = HoldView(True, True, "operator", _NOW, _NOW, 1)
        return self.hold

    async def complete_recovery(self, actor: str, attested: Attestation) -> ReviewView:
        """Nothing remains."""
        if not (attested.history_complete and attested.prior_fenced):
            raise Refused("recovery.not-attested", "say so")
        return ReviewView(1, 0, 0)

    async def release_restore_hold(self, actor: str, reason: str, leave_unknown: bool) -> HoldView:
        """Release."""
        self.hold = HoldView(False, True, "", None, _NOW, 0)
        return self.hold

    async def release_admission_hold(self, actor: str, attested: Attestation) -> HoldView:
        """Admit."""
        return HoldView(False, False, "", None, _NOW, 0)

    async def retain(self, actor: str, before: datetime, limit: int) -> int:
        """Erase."""
        self.asked.append(("retain", before, limit))
        return 4


@dataclass
class Running:
    """A served application and what it was built from."""

    url: str
    book: MemoryBook
    executions: MemoryExecutions
    desk: MemoryDesk
    oversight: MemoryOversight
    signals: MemorySignals

    def client(self, caller: str = "desk") -> httpx.AsyncClient:
        """A client with a caller's key."""
        return httpx.AsyncClient(base_url=self.url, headers={"X-API-Key": f"key-of-{caller}"})

    async def start(self, key: str = "k1", caller: str = "desk", **body: object) -> httpx.Response:
        """POST /v1/runs with a body that is right where nothing else is said."""
        sent = {"workflow": "notice", "revision": REVISION, "input": {"id": "a"}} | body
        async with self.client(caller) as client:
            return await client.post("/v1/runs", json=sent, headers={"Idempotency-Key": key})


@pytest.fixture
async def service() -> AsyncIterator[Running]:
    """The service on a free port."""
    book, executions, desk = MemoryBook(), MemoryExecutions(), MemoryDesk()
    oversight, signals = MemoryOversight(), MemorySignals()
    access = FixedAccess.of_keys(
        desk=key_policy("desk"),
        other=key_policy("other"),
        boss=key_policy("boss", operator=True),
        clerk=key_policy("clerk", actions=["status"]),
        narrow=key_policy("narrow", workflows=["letters"]),
    )
    sources = {"casework": webhook_of(WEBHOOK_SECRET)}
    senders = [
        EventSource("registry", "urn:registry", None, webhook_of(REGISTRY_SECRET)),
        EventSource("mail", "urn:mail", frozenset({"letters"}), webhook_of(MAIL_SECRET)),
    ]
    app = create_app(Service(book, executions, desk, access, sources, oversight, signals, senders))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Running(f"http://127.0.0.1:{port}", book, executions, desk, oversight, signals)
    server.should_exit = True
    await task
