"""The run as a value: one pure transition from an event to a new state and commands.

``advance(program, state, event)`` is the only rule book; both drivers carry its commands out and
feed back what happened.
"""

from __future__ import annotations

from interpreter.machine.advance import advance, advance_traced
from interpreter.machine.program import Program, prepare
from interpreter.machine.signals import Judged, SignalVerdict, has_passed, judge
from interpreter.machine.standing import begin
from interpreter.machine.state import RunState as MachineState
from interpreter.machine.trail import Passage

__all__ = [
    "Judged",
    "MachineState",
    "Passage",
    "Program",
    "SignalVerdict",
    "advance",
    "advance_traced",
    "begin",
    "has_passed",
    "judge",
    "prepare",
]
