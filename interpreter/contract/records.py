"""What a run asks to have written down, and how a run stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from interpreter.contract.values import JsonValue


class RunState(StrEnum):
    """The states of a run (design section 7)."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    ATTENTION = "attention"
    RECOVERY_REQUIRED = "recovery-required"
    CANCEL_REQUESTED = "cancel-requested"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    CANCELLED_AFTER_EFFECT = "cancelled-after-effect"
    EXPIRED = "expired"
    ROLLED_BACK = "rolled-back"

    @property
    def final(self) -> bool:
        """True when nothing will be sent for this run any more."""
        return self in _FINAL


_FINAL = frozenset(
    {
        RunState.FINISHED,
        RunState.FAILED,
        RunState.CANCELLED,
        RunState.CANCELLED_AFTER_EFFECT,
        RunState.EXPIRED,
        RunState.ROLLED_BACK,
    }
)


class StartState(StrEnum):
    """How far the Temporal start of an admitted run has come."""

    PENDING = "start_pending"
    STARTED = "started"
    FAILED = "start_failed"


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A projection of one visit: what happened to it, in the machine's own order.

    ``sequence`` is the machine's number (protocol rule 1); ``state`` is ``running``, ``waiting``,
    ``succeeded``, ``failed`` or ``cancelled``; ``outlet`` the way the run left the node.
    """

    sequence: int
    branch: str
    node: str
    visit: int
    kind: str
    state: str
    outlet: str = ""
    code: str = ""

    def to_json(self) -> list[JsonValue]:
        """A compact list, since it travels in activity inputs."""
        return [
            self.sequence,
            self.branch,
            self.node,
            self.visit,
            self.kind,
            self.state,
            self.outlet,
            self.code,
        ]

    @staticmethod
    def from_json(value: JsonValue) -> StepRecord:
        """The record that ``to_json`` wrote."""
        return StepRecord(*value)


@dataclass(frozen=True, slots=True)
class Closing:
    """How the machine wants an execution to end; the ledger's own record wins (rule 1).

    ``state`` is final except ``cancelled``: the ledger turns it into ``cancelled-after-effect``
    when it holds an accepted effect. ``seen`` is the ledger's furthest position that the workflow
    knows of. ``despite_cancel`` marks an end that a cancel on record does not change: that of an
    ``onCancel`` route, or one that its workflow has proved. ``changed`` is true of a cancelled end
    whose execution knows of an accepted effect: a restored ledger may have lost it.
    """

    state: RunState
    sequence: int
    outcome: str = ""
    output: JsonValue = None
    failure_code: str = ""
    failure_place: str = ""
    steps: tuple[StepRecord, ...] = ()
    seen: int = 0
    despite_cancel: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """The outcome on record of an execution: insert-once, so the first writer's words."""

    state: RunState
    outcome: str = ""
    output: JsonValue = None
    failure_code: str = ""


@dataclass(frozen=True, slots=True)
class LedgerMark:
    """How far the ledger is, as ledger and Temporal both keep it (protocol rule 9).

    ``epoch`` is the UUID of the time since the last restore, ``counter`` counts the reconciler's
    passes, and runs that ended before ``erased_before`` were erased as far as they could be.
    """

    epoch: str
    counter: int
    erased_before: datetime | None = None

    def to_json(self) -> JsonValue:
        """``{epoch, counter}`` and ``erasedBefore`` if anything was erased."""
        mark: dict[str, JsonValue] = {"epoch": self.epoch, "counter": self.counter}
        if self.erased_before is not None:
            mark["erasedBefore"] = self.erased_before.isoformat()
        return mark

    @staticmethod
    def from_json(value: JsonValue) -> LedgerMark:
        """The mark that ``to_json`` wrote; KeyError, TypeError or ValueError for anything else."""
        erased = value.get("erasedBefore")
        return LedgerMark(
            str(value["epoch"]),
            int(value["counter"]),
            None if erased is None else datetime.fromisoformat(erased),
        )
