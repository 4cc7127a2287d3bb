"""Scenario files in both formats: read, played, measured, generated and reported.

``load_suite`` reads a file, ``run_suite`` plays it on a virtual clock, ``skeletons`` makes up cases
for what no case does yet, ``write_skeletons`` adds them to a file.
"""

from __future__ import annotations

from adapter.authoring.scenarios.document import suite_document
from adapter.authoring.scenarios.junit import render_junit
from adapter.authoring.scenarios.reading import load_suite, read_suite
from adapter.authoring.scenarios.running import CaseResult, SuiteResult, run_suite
from adapter.authoring.scenarios.skeletons import Skeleton, skeletons
from adapter.authoring.scenarios.suite import SCENARIOS_FILE, Suite, SuiteReading
from adapter.authoring.scenarios.text import TextReport
from adapter.authoring.scenarios.writing import Written, write_skeletons

__all__ = [
    "SCENARIOS_FILE",
    "CaseResult",
    "Skeleton",
    "Suite",
    "SuiteReading",
    "SuiteResult",
    "TextReport",
    "Written",
    "load_suite",
    "read_suite",
    "render_junit",
    "run_suite",
    "skeletons",
    "suite_document",
    "write_skeletons",
]
