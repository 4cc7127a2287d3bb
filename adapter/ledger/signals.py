"""Signals for a run's waits: on record before anything is sent, followed to one outcome."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from activities.errors import ActivityError
from adapter.crypto import Keyed
from adapter.errors import Refused
from adapter.ledger.book import Book
from adapter.ledger.entry import Entry, RunRow, lock_run, lock_with
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from adapter.ledger.run_keys import RunKeys
from interpreter.contract.calls import EndedWait, GivenSignal
from interpreter.contract.effects import VisitRef
from interpreter.contract.records import RunState
from interpreter.contract.runs import workflow_id
from interpreter.contract.schemas import validator
from interpreter.contract.values import JsonValue, canonical_bytes
from interpreter.definition.nodes import ForSignal

_SQL = queries("signals")
MOST_OPEN_SIGNALS: Final = 100
_PURPOSE: Final = "signal"
_LOST: Final = "signal-lost"
_CANCELLED: Final = "cancelled"
_CANCEL: Final = "cancel"
_FIRST_PATIENCE = timedelta(seconds=12)
"""Whoever recorded a signal delivers it at once; others leave it alone for so long."""


class SignalState(StrEnum):
    """How far a signal has come."""

    RECORDED = "recorded"
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class SignalWish:
    """A signal somebody sends; ``signal_id`` makes it repeatable within its run and name."""

    name: str
    actor: str
    signal_id: str
    payload: JsonValue


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal as it stands.

    ``outcome`` is empty while it is not known, then ``completed`` (``visit`` is the wait),
    ``kept``, ``late`` or ``too-many``.
    """

    id: str
    run_id: str
    workflow: str
    execution: int
    run_state: str
    name: str
    actor: str
    request_digest: str
    sealed_payload: bytes
    state: str
    outcome: str
    visit: str
    recorded_at: datetime
    concluded_at: datetime | None
    wrapped_key: bytes | None

    @property
    def workflow_id(self) -> str:
        """The Temporal workflow id of the run's latest execution."""
        return workflow_id(self.workflow, self.run_id, self.execution)

    @property
    def run_closed(self) -> bool:
        """True when the run has its final state."""
        return RunState(self.run_state).final


@dataclass(frozen=True, slots=True)
class _OpenSignals:
    now: datetime
    open: int


@dataclass(frozen=True, slots=True)
class _Stored:
    id: str
    sealed_payload: bytes


@dataclass(frozen=True, slots=True)
class _WaitRow:
    resolution: str | None
    id: str | None
    sealed_payload: bytes | None

    @property
    def has_lost_its_signal(self) -> bool:
        """True where a signal of Temporal's own tools has ended the wait: it is nowhere else."""
        return self.resolution == _LOST or (self.resolution == "resumed" and self.id is None)


class Signals:
    """Signals over PostgreSQL, and the end of the waits that they complete.

    Raises ActivityError ``run.unknown`` or ``signal.unknown``, and LedgerUnavailable when the fate
    of a write is not known.
    """

    def __init__(self, pool: Pool, run_keys: RunKeys, keyed: Keyed, book: Book) -> None:
        self._pool = pool
        self._book = book
        self._run_keys = run_keys
        self._keyed = keyed

    async def begin(self, run_id: str, wish: SignalWish) -> Signal:
        """Write a signal down, or give the one that the same id began.

        Refused ``idempotency.key-reused`` when it had another payload or sender, ``signal.late``
        when the run is over and ``signal.too-many`` while a hundred wait; those two are journalled.
        """
        signal = self._keyed.act_id(run_id, f"signal:{wish.name}", wish.signal_id)
        code = await self._pool.run(
            lambda transaction: self._begin(transaction, run_id, signal, wish)
        )
        if code:
            raise refusal(code)
        return await self.signal(signal)

    async def signal(self, signal_id: str) -> Signal:
        """A signal by its id in the ledger."""
        found = await self._pool.one(_question(signal_id))
        if found is None:
            raise ActivityError(
                "signal.unknown",
                "the ledger has no signal with this id",
                place=signal_id[:64],
                remedy="send signals through the service",
            )
        return found

    def payload(self, signal: Signal) -> JsonValue:
        """What a signal carries."""
        sealer = self._run_keys.sealer(signal.run_id, signal.wrapped_key)
        return sealer.open(signal.sealed_payload, _PURPOSE, signal.id)

    async def pending(self, limit: int = 20) -> list[Signal]:
        """Signals that are due for a delivery; they are kept from others for a while."""
        return await self._pool.ask(Question(_SQL["take_pending"], {"limit": limit}, Signal))

    async def conclude(self, signal_id: str, outcome: str) -> None:
        """Write what an execution said of a signal, insert-once, with its second audit record."""
        asked = await self.signal(signal_id)

        async def work(transaction: Transaction) -> None:
            run, facts = await lock_run(transaction, asked.run_id)
            standing = await transaction.one(_question(signal_id))
            if standing is None or standing.concluded_at is not None:
                return
            entry = Entry(run, facts.now, uncertain=facts.uncertain)
            told: dict[str, JsonValue] = {
                "signal": signal_id,
                "name": standing.name,
                "outcome": outcome,
            }
            entry.event("signal.concluded", **told)
            entry.journal("signal.concluded", self._refs(standing.actor), **told)
            taken = outcome in ("completed", "kept")
            state = SignalState.DONE if taken else SignalState.REFUSED
            end = {"signal": signal_id, "outcome": outcome, "visit": "", "now": facts.now}
            concluded = Write(_SQL["conclude"], {**end, "state": state.value})
            await transaction.commit(concluded, *entry.writes())

        await self._pool.through_failover(work)

    async def end_wait(self, wait: VisitRef, *, after_cancel: bool = False) -> EndedWait:
        """End a signal wait whose time is over: a signal that is on record by now came first.

        Insert-once: asked again, the end on record is given. ActivityError ``node.unknown``, and
        ``signal.lost`` for a wait that a signal has ended which nobody has any more: its execution
        went back to an earlier point and lost what only Temporal had. What came after that signal
        was done, so the time's way out is not taken; another signal ends the wait, or the run's
        deadline, or a cancel unless the wait is ``after_cancel`` itself.
        """
        source = await self._book.signal_wait(wait.run_id, wait.node)
        ended = await self._pool.run(
            lambda transaction: self._end_wait(transaction, wait, source, after_cancel=after_cancel)
        )
        if ended is None:
            raise ActivityError(
                "signal.lost",
                "the signal that ended this wait is not on record, and its execution has lost it",
                place=wait.id,
                remedy="send the signal again with `coordinatorctl signal`",
            )
        return ended

    async def note_dropped(self, run_id: str, name: str, verdict: str) -> None:
        """Journal that a signal from Temporal's own tools was of no use."""

        async def work(transaction: Transaction) -> None:
            run, facts = await lock_run(transaction, run_id)
            entry = Entry(run, facts.now, uncertain=facts.uncertain)
            entry.event("signal.dropped", code=verdict)
            refs = {"signal": self._keyed.reference("signal", name)}
            entry.journal("signal.dropped", refs, code=verdict)
            await transaction.commit(*entry.writes())

        await self._pool.run(work)

    async def _begin(
        self, transaction: Transaction, run_id: str, signal: str, wish: SignalWish
    ) -> str:
        """Empty when the signal is on record, else the code of the refusal."""
        counted = Question(_SQL["count_open"], {"run": run_id}, _OpenSignals)
        run, facts = await lock_with(transaction, run_id, counted)
        standing = await transaction.one(_question(signal))
        digest = self._digest(wish)
        if standing is not None:
            return "" if standing.request_digest == digest else "idempotency.key-reused"
        entry = Entry(run, facts.now)
        code = _refused_now(run, facts)
        told: dict[str, JsonValue] = {"signal": signal, "name": wish.name}
        if code:
            entry.journal("signal.refused", self._refs(wish.actor), **told, code=code)
            await transaction.commit(*entry.writes())
            return code
        entry.event("signal.recorded", **told)
        entry.journal("signal.recorded", self._refs(wish.actor), **told)
        recorded = {
            "signal": signal,
            "run": run.id,
            "execution": run.execution,
            "owner": run.owner,
            "scope": run.scope,
            "name": wish.name,
            "actor": wish.actor,
            "request_digest": digest,
            "sealed_payload": self._run_keys.sealer(run.id, run.wrapped_key).seal(
                wish.payload, _PURPOSE, signal
            ),
            "now": facts.now,
            "patience": _FIRST_PATIENCE,
        }
        await transaction.commit(Write(_SQL["record"], recorded), *entry.writes())
        return ""

    async def _end_wait(
        self, transaction: Transaction, wait: VisitRef, source: ForSignal, *, after_cancel: bool
    ) -> EndedWait | None:
        """How the wait ended; None where the signal that ended it is lost, without another."""
        run, facts = await lock_run(transaction, wait.run_id)
        keys: dict[str, JsonValue] = {"run": run.id, "visit": wait.id, "name": source.signal}
        known = await transaction.one(Question(_SQL["ended_wait"], keys, _WaitRow))
        lost = known is not None and known.has_lost_its_signal
        stopped = "" if run.closed else _stopped(run, facts.now, after_cancel=after_cancel)
        if known is not None and known.resolution == _CANCELLED:
            # Its execution went back to before the cancel, which is told again.
            return EndedWait(None, stopped)
        if known is not None and known.resolution is not None and not lost:
            return EndedWait(given_signal(self._run_keys, run, known.id, known.sealed_payload))
        if run.closed or (lost and stopped):
            return EndedWait(None, stopped)
        before = run.cancel_requested_at if stopped == _CANCEL else None
        given = await self._first_fitting(transaction, run, source, before)
        if given is None and before is not None:
            # Its execution is about to hear of the cancel, which then ends this wait.
            return EndedWait(None, stopped)
        if given is None and known is not None and known.resolution == _LOST:
            return None
        without = _LOST if lost else "expired"
        resolution = without if given is None else "resumed"
        entry = Entry(run, facts.now, uncertain=facts.uncertain)
        told: dict[str, JsonValue] = {"wait": wait.id, "resolution": resolution}
        entry.event("wait.resolved", **told)
        entry.journal("wait.resolved", {"step": self._keyed.reference("step", wait.id)}, **told)
        end = {**keys, "owner": run.owner, "scope": run.scope, "now": facts.now, "anew": lost}
        end |= {"resolution": resolution, "signal": None if given is None else given.id}
        writes = [Write(_SQL["end_signal_wait"], end)]
        if given is not None:
            done = {"state": SignalState.DONE.value, "outcome": "completed"}
            writes.append(Write(_SQL["conclude"], {**end, **done}))
        await transaction.commit(*writes, *entry.writes())
        return None if resolution == _LOST else EndedWait(given)

    async def _first_fitting(
        self, transaction: Transaction, run: RunRow, source: ForSignal, before: datetime | None
    ) -> GivenSignal | None:
        """The oldest signal that this wait takes and no wait has taken, recorded ``before``."""
        keys = {"run": run.id, "name": source.signal, "before": before}
        check = validator(source.signal_schema)
        for stored in await transaction.ask(Question(_SQL["open_signals"], keys, _Stored)):
            given = given_signal(self._run_keys, run, stored.id, stored.sealed_payload)
            if given is not None and check.is_valid(given.payload):
                return given
        return None

    def _refs(self, actor: str) -> dict[str, str]:
        return {"actor": self._keyed.reference("actor", actor)}

    def _digest(self, wish: SignalWish) -> str:
        """What tells two signals of one id apart."""
        parts = canonical_bytes([wish.actor, wish.payload]).decode()
        return self._keyed.reference("signal-request", parts)


def given_signal(
    run_keys: RunKeys, run: RunRow, signal: str | None, sealed: bytes | None
) -> GivenSignal | None:
    """A signal of a run with its payload, None where there is none."""
    if signal is None or sealed is None:
        return None
    sealer = run_keys.sealer(run.id, run.wrapped_key)
    return GivenSignal(signal, sealer.open(sealed, _PURPOSE, signal))


def _stopped(run: RunRow, now: datetime, *, after_cancel: bool) -> str:
    """What forbids a run to go on waiting, in the order of a dispatch's questions, or nothing."""
    if run.cancel_requested_at is not None and not after_cancel:
        return _CANCEL
    return "deadline" if now >= run.deadline_at else ""


def _question(signal_id: str) -> Question[Signal]:
    try:
        UUID(signal_id)
    except ValueError as error:
        raise ActivityError("signal.unknown", "this is no id of a signal") from error
    return Question(_SQL["signal"], {"signal": signal_id}, Signal)


def _refused_now(run: RunRow, facts: _OpenSignals) -> str:
    if run.closed:
        return "signal.late"
    return "signal.too-many" if facts.open >= MOST_OPEN_SIGNALS else ""


def refusal(code: str) -> Refused:
    """The refusal of a signal, with what to do about it."""
    message, remedy = _WORDS[code]
    return Refused(code, message, place="signal", remedy=remedy)


_WORDS = {
    "idempotency.key-reused": (
        "an earlier signal with this id had another payload or sender",
        "repeat the first one unchanged, or take a new id",
    ),
    "signal.late": (
        "no wait of the run can take this signal any more",
        "read the run's status; start a new run where the work is still wanted",
    ),
    "signal.too-many": (
        f"{MOST_OPEN_SIGNALS} signals of this run are waiting for a wait",
        "send it again once some of them were taken",
    ),
}
