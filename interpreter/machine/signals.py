"""What becomes of a signal: whether a wait takes it now, may take it later, or can not any more."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from interpreter.contract.names import RESERVED_PREFIX
from interpreter.contract.values import JsonValue
from interpreter.definition import nodes as n
from interpreter.machine.program import Program
from interpreter.machine.state import Branch, Phase, RunState

MOST_KEPT_SIGNALS = 100
MOST_KEPT_BYTES = 4_194_304
"""Of their JSON: what an execution hands to the next one has to fit into one sealed payload."""


class SignalVerdict(StrEnum):
    """What becomes of a signal.

    ``completed``: a wait has taken it. ``kept``: it is early, and the next wait on its name takes
    it. ``late``: no wait that could take it can be reached any more. ``too-many``: as many, or as
    much, as is kept is kept already. ``unfit``: its payload has another form than every wait on its
    name asks for. ``unknown``: the definition waits for no such signal.
    """

    COMPLETED = "completed"
    KEPT = "kept"
    LATE = "late"
    TOO_MANY = "too-many"
    UNFIT = "unfit"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict; ``branch`` is the one whose open wait takes the signal.

    ``repeated`` means that this signal was taken before, so that nothing is to be done.
    """

    verdict: SignalVerdict
    branch: str = ""
    repeated: bool = False


def judge(program: Program, state: RunState, name: str, id: str, payload: JsonValue) -> Judged:
    """What becomes of a signal that arrives in this state; the state itself stays as it is."""
    if id in state.seen_signals:
        kept = any(signal.id == id for signal in state.signals)
        verdict = SignalVerdict.KEPT if kept else SignalVerdict.COMPLETED
        return Judged(verdict, repeated=True)
    nodes = program.definition.nodes
    named = {key for key, node in nodes.items() if waits_for(node, name)}
    if not named or name.startswith(RESERVED_PREFIX):
        return Judged(SignalVerdict.UNKNOWN)
    fitting = {key for key in named if takes(program, nodes[key], name, payload)}
    if not fitting:
        return Judged(SignalVerdict.UNFIT)
    if state.closed is not None or state.closing is not None:
        return Judged(SignalVerdict.LATE)
    for branch, at in state.branches.items():
        cursor = at.cursor
        if cursor is not None and cursor.phase is Phase.WAITING and cursor.node in fitting:
            return Judged(SignalVerdict.COMPLETED, branch)
    if not any(fitting & _ahead(program, at) for at in state.branches.values()):
        return Judged(SignalVerdict.LATE)
    if not _has_room(state, payload):
        return Judged(SignalVerdict.TOO_MANY)
    return Judged(SignalVerdict.KEPT)


def has_passed(state: RunState, visit: str) -> bool:
    """True when a branch has left a visit (``branch/node:visit``) behind, however that ended."""
    branch, _, rest = visit.rpartition("/")
    node, _, number = rest.rpartition(":")
    at = state.branches.get(branch)
    if at is None or not number.isdecimal():
        return False
    cursor, visits = at.cursor, at.visits.get(node, 0)
    stands = cursor is not None and (cursor.node, cursor.visit) == (node, int(number))
    return visits >= int(number) and not stands


def _has_room(state: RunState, payload: JsonValue) -> bool:
    if len(state.signals) >= MOST_KEPT_SIGNALS:
        return False
    payloads = [payload, *(signal.payload for signal in state.signals)]
    return sum(len(json.dumps(one)) for one in payloads) <= MOST_KEPT_BYTES


def waits_for(node: n.AnyNode, name: str) -> bool:
    """True when this node waits for signals of this name."""
    return (
        isinstance(node, n.WaitNode)
        and isinstance(node.wait, n.ForSignal)
        and node.wait.signal == name
    )


def takes(program: Program, node: n.AnyNode, name: str, payload: JsonValue) -> bool:
    """True when this node waits for such a signal with such a payload."""
    if not isinstance(node, n.WaitNode) or not isinstance(node.wait, n.ForSignal):
        return False
    wait = node.wait
    return wait.signal == name and program.schemas.fits(wait.signal_schema, payload)


def _ahead(program: Program, branch: Branch) -> set[str]:
    """The nodes that a branch can still enter."""
    nodes = program.definition.nodes

    def behind(node: str) -> list[str]:
        ways = nodes[node].outlets.values()
        return [one for one in ways if branch.visits.get(one, 0) < nodes[one].policy.most_visits]

    if branch.cursor is not None:
        found = behind(branch.cursor.node)
    elif branch.visits:
        found = []
    else:
        found = [program.definition.start]
    seen: set[str] = set()
    while found:
        name = found.pop()
        if name not in seen:
            seen.add(name)
            found.extend(behind(name))
    return seen
