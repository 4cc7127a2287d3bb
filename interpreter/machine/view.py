"""The state as people see it: Markdown for the Temporal UI, never a value."""

from __future__ import annotations

from interpreter.machine.pointers import instant
from interpreter.machine.state import Branch, Phase, RunState


def details(state: RunState) -> str:
    """A short Markdown panel: where the run stands, until when, and how its effects stand."""
    lines = [f"**{_standing(state)}** · deadline {state.facts.deadline_at}", ""]
    for name, branch in sorted(state.branches.items()):
        line = _branch_line(name, branch)
        if line:
            lines.append(line)
    if state.effects:
        lines += ["", "| effect | operation | stands |", "| --- | --- | --- |"]
        lines += [
            f"| `{effect}` | {view.operation} | {view.standing} |"
            for effect, view in state.effects.items()
        ]
    return "\n".join(lines)


def _standing(state: RunState) -> str:
    if state.closed is not None:
        return state.closed.state.value
    phases = {branch.cursor.phase for branch in state.branches.values() if branch.cursor}
    if Phase.ATTENTION in phases or state.wanted is not None:
        return "attention"
    if state.cancel_requested:
        return "cancel-requested"
    return "waiting" if phases == {Phase.WAITING} else "running"


def _branch_line(name: str, branch: Branch) -> str:
    cursor = branch.cursor
    if cursor is None:
        return ""
    until = f" until {instant(cursor.until_ms)}" if cursor.until_ms is not None else ""
    reason = f" ({cursor.code})" if cursor.code else ""
    return f"- `{name}` {cursor.phase.value} at **{cursor.node}**{until}{reason}"
