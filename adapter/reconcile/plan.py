"""What is to be done about an unfinished run: pure rules over what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from adapter.reconcile.observe import Observation
from adapter.temporal.executions import Fate
from interpreter.contract.records import RunState, StartState
from interpreter.contract.values import JsonValue

LOST_ADMISSION: Final = "execution-of-lost-admission"

_CLOCKS: Final = timedelta(minutes=1)
"""How far the clocks of Temporal and of the database may be apart."""


@dataclass(frozen=True, slots=True)
class Leave:
    """All is as it should be, or nothing can be done."""


@dataclass(frozen=True, slots=True)
class Bind:
    """Temporal has an execution after all whose start had been given up."""

    temporal_run_id: str


@dataclass(frozen=True, slots=True)
class Resume:
    """The execution is live: the ledger is to say so, and which Temporal run carries it."""

    temporal_run_id: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The execution finished and published its output; the ledger has missed it."""

    outcome: str
    output: JsonValue


@dataclass(frozen=True, slots=True)
class RequireRecovery:
    """The execution is lost or ended in a way that the ledger can not account for."""

    code: str


Step: TypeAlias = Leave | Bind | Resume | Finish | RequireRecovery


def plan(seen: Observation) -> Step:
    """What one observation asks for; never a success that nobody can prove.

    A workflow writes its end into the ledger before it ends. So an execution that is over while the
    ledger holds it open was ended by somebody else (*Terminate*, a time-out), or the ledger was
    restored. Only a completed one carries its own proof. A reset gives the execution another
    Temporal run: that is live, and merely bound anew. An execution that is older than the admission
    of its run is of one that a restore has taken away, and was repeated since: it is sealed under a
    key that nobody has any more, so it never goes on, and what it sent is not on record.
    """
    unfinished, found = seen.unfinished, seen.found
    failed_start = unfinished.start_state == StartState.FAILED
    if found.fate is Fate.LIVE:
        if _older_than_admission(seen):
            flagged = unfinished.run_state == RunState.RECOVERY_REQUIRED
            return Leave() if flagged else RequireRecovery(LOST_ADMISSION)
        if failed_start:
            return Bind(found.temporal_run_id)
        return _of_live(seen)
    if failed_start or unfinished.execution != unfinished.latest:
        return Leave()
    if found.fate is Fate.COMPLETED and found.result is not None:
        return Finish(found.result.outcome, found.result.output)
    if unfinished.run_state == RunState.RECOVERY_REQUIRED:
        return Leave()
    lost = _older_than_admission(seen)
    return RequireRecovery(LOST_ADMISSION if lost else f"execution-{found.fate.value}")


def _older_than_admission(seen: Observation) -> bool:
    created_at, started_at = seen.unfinished.created_at, seen.found.started_at
    return bool(created_at and started_at and started_at < created_at - _CLOCKS)


def _of_live(seen: Observation) -> Step:
    unfinished, found = seen.unfinished, seen.found
    flagged = unfinished.run_state == RunState.RECOVERY_REQUIRED
    moved = unfinished.temporal_run_id != found.temporal_run_id
    return Resume(found.temporal_run_id) if flagged or moved else Leave()
