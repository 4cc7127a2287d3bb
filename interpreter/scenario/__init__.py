"""The offline driver: the machine on a virtual clock, in a world that a scenario scripts.

``Stage(definition).play(case)`` gives a ``Trace``, ``compare(case, trace)`` says how it differs
from what the case expects. It holds no rule of the language; what production's ledger decides about
an effect (attempts, permission, doubt) stands in ``effects``.
"""

from __future__ import annotations

from interpreter.scenario.cases import (
    Act,
    ActKind,
    Cancel,
    Case,
    Completion,
    Decision,
    Dialect,
    Moment,
    Reply,
    ReplyType,
    Signal,
)
from interpreter.scenario.compare import Difference, compare
from interpreter.scenario.coverage import Coverage, Outlet, outlets_of
from interpreter.scenario.faults import ABSENT, CaseFault
from interpreter.scenario.run import Stage
from interpreter.scenario.trace import Happening, Note, Trace

__all__ = [
    "ABSENT",
    "Act",
    "ActKind",
    "Cancel",
    "Case",
    "CaseFault",
    "Completion",
    "Coverage",
    "Decision",
    "Dialect",
    "Difference",
    "Happening",
    "Moment",
    "Note",
    "Outlet",
    "Reply",
    "ReplyType",
    "Signal",
    "Stage",
    "Trace",
    "compare",
    "outlets_of",
]
