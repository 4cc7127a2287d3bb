"""One turn of the machine: a working copy of the state that becomes the next frozen one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from interpreter.contract.calls import OnRecord
from interpreter.contract.effects import ReplyKind
from interpreter.contract.records import Closing, RunState, StepRecord
from interpreter.contract.values import JsonValue
from interpreter.definition.mappings import Mapping
from interpreter.errors import MappingError
from interpreter.machine import state as s
from interpreter.machine.bounds import LARGEST_KEPT_BYTES, written_size
from interpreter.machine.commands import Close, Command
from interpreter.machine.mappings import Evaluation
from interpreter.machine.program import Program
from interpreter.machine.trail import Passage

MOST_SEEN_SIGNALS = 1_000
CANCELLED = "cancelled"
"""The outlet of a wait that a cancel ends, and how it then stands on record."""


def always() -> bool:
    """What an execution that begins today says of what older ones go on without."""
    return True


class Turn:
    """What one event changes: the next state and the commands, gathered in order.

    ``limited`` says whether a value, or a run, that is too large has to end here, ``gives_up``
    whether a route of ``onCancel`` ends at an unknown evaluation.
    """

    def __init__(
        self,
        program: Program,
        state: s.RunState,
        now_ms: int,
        limited: Callable[[], bool] = always,
        gives_up: Callable[[], bool] = always,
    ) -> None:
        self.program = program
        self.limited = limited
        self.gives_up = gives_up
        self.state = state
        self.now_ms = now_ms
        self.commands: list[Command] = []
        self.trail: list[Passage] = []

    def entered(self, branch: str, node: str, visit: int) -> None:
        """Remember that a branch came to a node."""
        self.trail.append(Passage(branch, node, visit))

    def left(self, branch: str, node: str, visit: int, outlet: str) -> str:
        """Remember that a branch left a node through ``outlet``; gives the node behind it."""
        self.trail.append(Passage(branch, node, visit, outlet))
        return self.program.definition.nodes[node].outlets[outlet]

    def branch(self, name: str) -> s.Branch:
        """The branch as it stands in this turn."""
        return self.state.branches[name]

    def put(self, name: str, branch: s.Branch) -> None:
        """Replace one branch."""
        self.state = replace(self.state, branches={**self.state.branches, name: branch})

    def keep(self, name: str, node: str, output: JsonValue, *, bounded: bool = True) -> bool:
        """Keep a node's output; False, and the state as it was, where a run would keep too much.

        What is not ``bounded`` is small, whatever a run does: a label or a code.
        """
        at = self.branch(name)
        before = written_size(at.outputs[node]) if node in at.outputs else 0
        kept = self.state.kept_bytes - before + written_size(output)
        if bounded and kept > LARGEST_KEPT_BYTES and self.limited():
            return False
        self.put(name, replace(at, outputs={**at.outputs, node: output}))
        self.change(kept_bytes=kept)
        return True

    def change(self, **members: object) -> None:
        """Replace members of the state."""
        self.state = replace(self.state, **members)  # type: ignore[arg-type]

    def number(self, count: int = 1) -> int:
        """Take the next ``count`` sequence numbers; gives the first."""
        first = self.state.sequence + 1
        self.state = replace(self.state, sequence=self.state.sequence + count)
        return first

    def remember(self, signal: str) -> None:
        """Know a signal again that is taken, or kept, now."""
        self.change(seen_signals=(*self.state.seen_signals, signal)[-MOST_SEEN_SIGNALS:])

    def ahead(self, branch: str, node: str, visit: int) -> OnRecord | None:
        """What was on record of a visit when the run was cancelled, if it had come so far before.

        Nothing on a branch that follows ``onCancel``: that is not where the record came from.
        """
        if self.branch(branch).after_cancel:
            return None
        found = self.state.ahead.get(f"{branch}/{node}:{visit}")
        return None if found is None or found.resolution == CANCELLED else found

    def follows_cancel(self, branch: str, node: str, visit: int) -> bool:
        """True where a cancel may take a wait's ``onCancel``.

        Not where it has found the run at another wait on record: its route was taken from there.
        """
        at = [visit for visit, one in self.state.ahead.items() if one.resolution == CANCELLED]
        return not at or f"{branch}/{node}:{visit}" in at

    def note(
        self, branch: str, node: str, visit: int, state: str, outlet: str = "", code: str = ""
    ) -> None:
        """Add a projection that rides along with the next write."""
        record = StepRecord(
            self.number(),
            branch,
            node,
            visit,
            self.program.definition.nodes[node].kind,
            state,
            outlet,
            code,
        )
        self.state = replace(self.state, unwritten=(*self.state.unwritten, record))

    def value(self, mapping: Mapping, branch: str, place: str) -> JsonValue:
        """A mapping's value as this branch sees it; MappingError if it has none."""
        outputs = self.branch(branch).outputs
        return Evaluation(self.program, self.state.facts, outputs, place).value(mapping)

    def fail(self, code: str, place: str) -> None:
        """End the run as failed."""
        self.close(Closing(RunState.FAILED, 0, failure_code=code, failure_place=place))

    def fail_mapping(self, error: MappingError) -> None:
        """End the run because a mapping gave no usable value."""
        self.fail(error.code, error.place)

    def close(self, closing: Closing) -> None:
        """Ask for the end once; a second wish is ignored, since the first is already on its way.

        Once a cancel is known every end is that of the cancel, except on its own route.
        """
        if self.state.closing is not None:
            return
        on_route = any(branch.after_cancel for branch in self.state.branches.values())
        if self.state.cancel_requested and not on_route:
            closing = Closing(RunState.CANCELLED, 0)
        accepted = (one.standing == ReplyKind.ACCEPTED for one in self.state.effects.values())
        closing = replace(
            closing,
            sequence=self.number(),
            steps=self.state.unwritten,
            despite_cancel=on_route,
            changed=closing.state is RunState.CANCELLED and any(accepted),
        )
        self.change(closing=closing)
        self.commands.append(Close(closing))
