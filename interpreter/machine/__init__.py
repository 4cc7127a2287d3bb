"""The run as a value: one pure transition from an event to a new state and commands.

``advance(program, state, event)`` is the only rule book; both drivers carry its commands out and
feed back what happened.
"""

from __future__ import annotations

from interpreter.machine.advance import advance, begin, reopened
from interpreter.machine.program import Program, prepare
from interpreter.machine.state import RunState as MachineState

__all__ = ["MachineState", "Program", "advance", "begin", "prepare", "reopened"]
