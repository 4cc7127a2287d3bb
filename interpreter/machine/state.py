"""The state of a run between two events; a frozen value that goes to JSON and back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from pydantic import TypeAdapter

from interpreter.contract.calls import OnRecord
from interpreter.contract.effects import ROOT_BRANCH, VisitRef
from interpreter.contract.records import Closed, Closing, StepRecord
from interpreter.contract.values import JsonValue
from interpreter.machine.bounds import written_size


class Phase(StrEnum):
    """What a branch is doing at its node."""

    CALLING = "calling"
    WAITING = "waiting"
    ATTENTION = "attention"


@dataclass(frozen=True, slots=True)
class Cursor:
    """The node at which a branch stands.

    ``until_ms`` is when a wait is over (epoch milliseconds), ``code`` why attention is needed,
    ``plan`` and ``plan_digest`` what an approval is about.
    """

    node: str
    visit: int
    phase: Phase
    generation: int = 1
    sequence: int = 0
    until_ms: int | None = None
    code: str = ""
    plan: JsonValue = None
    plan_digest: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of execution: outputs by node, visits by node, and where it stands."""

    outputs: dict[str, JsonValue] = field(default_factory=dict)
    visits: dict[str, int] = field(default_factory=dict)
    cursor: Cursor | None = None
    after_cancel: bool = False


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What was fixed at admission; instants are RFC 3339 in UTC."""

    run_id: str
    workflow: str
    version: str
    input: JsonValue
    admitted_at: str
    deadline_at: str
    deadline_ms: int
    execution: int = 1


@dataclass(frozen=True, slots=True)
class KeptSignal:
    """A signal that arrived before a wait took it."""

    name: str
    id: str
    payload: JsonValue


@dataclass(frozen=True, slots=True)
class EffectView:
    """A mutation or evaluation as people see it: the operation and how it stands.

    ``act`` is the last one that had its command sent again; ``resend`` the generation and the
    sequence number of that while the run, which has passed the effect, has no answer to it.
    """

    operation: str
    standing: str
    act: str = ""
    resend: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything a run knows of itself.

    ``sequence`` numbers its projections; ``unwritten`` are those that no write has confirmed.
    ``kept_bytes`` is how much its branches' outputs take. ``ahead`` holds, by visit, what was on
    record beyond its own position when it was cancelled: only an execution that went back to an
    earlier point has any, and what has ended there is not cancelled (protocol rule 1).
    ``closing`` is the end that is being asked for, ``wanted`` one that waits for an unknown effect,
    ``closed`` what the ledger recorded.
    """

    facts: RunFacts
    branches: dict[str, Branch]
    sequence: int = 0
    unwritten: tuple[StepRecord, ...] = ()
    effects: dict[str, EffectView] = field(default_factory=dict)
    signals: tuple[KeptSignal, ...] = ()
    seen_signals: tuple[str, ...] = ()
    cancel_requested: bool = False
    deadline_passed: bool = False
    closing: Closing | None = None
    closed: Closed | None = None
    wanted: Closing | None = None
    kept_bytes: int = 0
    ahead: dict[str, OnRecord] = field(default_factory=dict)

    def visit(self, branch: str = ROOT_BRANCH) -> VisitRef | None:
        """The visit at which a branch stands, if it stands anywhere."""
        cursor = self.branches[branch].cursor
        if cursor is None:
            return None
        return VisitRef(self.facts.run_id, branch, cursor.node, cursor.visit)


def reached(state: RunState) -> int:
    """The sequence number up to which a run has come; what it waits for is still ahead."""
    cursors = [branch.cursor for branch in state.branches.values()]
    waiting = [one.sequence for one in cursors if one is not None and one.phase is Phase.WAITING]
    return min([state.sequence, *(sequence - 1 for sequence in waiting)])


_STATE: TypeAdapter[RunState] = TypeAdapter(RunState)


def state_to_json(state: RunState) -> JsonValue:
    """The state as JSON, for continue-as-new.

    Outputs and signals are JSON already, and most of it: a task has two seconds for everything.
    """
    bare = {name: replace(branch, outputs={}) for name, branch in state.branches.items()}
    written = _STATE.dump_python(replace(state, branches=bare, signals=()), mode="json")
    for name, branch in state.branches.items():
        written["branches"][name]["outputs"] = branch.outputs
    written["signals"] = [
        {"name": signal.name, "id": signal.id, "payload": signal.payload}
        for signal in state.signals
    ]
    return written


def state_from_json(value: JsonValue) -> RunState:
    """The state that ``state_to_json`` wrote; pydantic's ValidationError for anything else."""
    state = _STATE.validate_python(value)
    if "kept_bytes" in value:
        return state
    # Written before outputs were counted.
    outputs = [one for branch in state.branches.values() for one in branch.outputs.values()]
    return replace(state, kept_bytes=sum(map(written_size, outputs)))
