"""Scenario files in both formats: read, run, measured, generated and reported.

``load_suite`` reads a file, ``run_suite`` plays it on a virtual clock.
"""

from __future__ import annotations

from adapter.authoring.scenarios.reading import load_suite, read_suite
from adapter.authoring.scenarios.running import CaseResult, SuiteResult, run_suite
from adapter.authoring.scenarios.suite import SCENARIOS_FILE, Suite, SuiteReading

__all__ = [
    "SCENARIOS_FILE",
    "CaseResult",
    "Suite",
    "SuiteReading",
    "SuiteResult",
    "load_suite",
    "read_suite",
    "run_suite",
]
