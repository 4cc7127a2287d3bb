"""Plays the cases of a suite and says which passed, which failed and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from activities.yaml.sources import Spot
from adapter.authoring.diagnostics.codes import CODES, Severity
from adapter.authoring.diagnostics.diagnostic import Diagnostic
from adapter.authoring.scenarios.suite import Suite
from interpreter.definition.document import PackagedDefinition
from interpreter.scenario import (
    ABSENT,
    Case,
    CaseFault,
    Coverage,
    Difference,
    Note,
    Stage,
    Trace,
    compare,
)

Progress = Callable[[int, int], None]
"""Takes how many cases are done, and of how many."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case, the ``index``-th of its file: its end, and every finding about it.

    ``trace`` is None when the case could not be played to its end; ``come_to`` says how far it got
    even then. ``differences`` hold expected and actual values, the ``findings`` name places only.
    """

    index: int
    case: Case
    spot: Spot
    trace: Trace | None
    come_to: Trace | None
    differences: tuple[Difference, ...]
    findings: tuple[Diagnostic, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """True without an error."""
        return not any(one.severity is Severity.ERROR for one in self.findings)


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The cases that were played, and which outlets they take together."""

    suite: Suite
    cases: tuple[CaseResult, ...]
    coverage: Coverage
    seconds: float

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """The cases that did not pass."""
        return tuple(one for one in self.cases if not one.passed)

    @property
    def passed(self) -> bool:
        """True when every case passed."""
        return not self.failed

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Every finding of every case, in file order of the cases."""
        return tuple(finding for one in self.cases for finding in one.findings)


def run_suite(
    packaged: PackagedDefinition,
    suite: Suite,
    *,
    only: Collection[str] = (),
    progress: Progress | None = None,
) -> SuiteResult:
    """Play the cases of a suite, or those of these ids.

    Raises DefinitionError for a definition that the machine can not run. Whatever is wrong with a
    case is a finding of its result.
    """
    stage = Stage(packaged.definition, packaged.labels.version)
    wanted = [pair for pair in enumerate(suite.cases) if not only or pair[1].id in only]
    started = time.perf_counter()
    results = []
    for index, case in wanted:
        results.append(_run_case(stage, suite, index, case))
        if progress is not None:
            progress(len(results), len(wanted))
    traces = [one.trace for one in results if one.trace is not None]
    coverage = Coverage.of(packaged.definition, traces)
    return SuiteResult(suite, tuple(results), coverage, time.perf_counter() - started)


def _run_case(stage: Stage, suite: Suite, index: int, case: Case) -> CaseResult:
    started = time.perf_counter()
    place = suite.spot(index)
    trace: Trace | None = None
    come_to: Trace | None
    try:
        trace = come_to = stage.play(case)
        differences = compare(case, trace)
        findings = [_of_difference(suite, index, one) for one in differences]
        findings += [_of_note(suite, index, one) for one in trace.notes]
    except CaseFault as fault:
        come_to = fault.trace
        differences = _of_actual(case, fault)
        findings = [_of_fault(suite, index, fault)]
    seconds = time.perf_counter() - started
    return CaseResult(index, case, place, trace, come_to, differences, tuple(findings), seconds)


def _of_note(suite: Suite, index: int, note: Note) -> Diagnostic:
    message = f"case `{suite.cases[index].id}`: {note.message}"
    spot = suite.spot(index, note.pointer)
    return Diagnostic(note.code, Severity.WARNING, message, spot, note.remedy or _remedy(note.code))


def _of_fault(suite: Suite, index: int, fault: CaseFault) -> Diagnostic:
    message = f"case `{suite.cases[index].id}`: {fault.message}"
    remedy = fault.remedy or _remedy(fault.code)
    return Diagnostic(fault.code, Severity.ERROR, message, suite.spot(index, fault.place), remedy)


def _of_actual(case: Case, fault: CaseFault) -> tuple[Difference, ...]:
    if fault.actual is ABSENT:
        return ()
    plans = {f"/decisions/{i}/plan": one.plan for i, one in enumerate(case.decisions)}
    return (Difference(fault.place, plans.get(fault.place, ABSENT), fault.actual),)


def _of_difference(suite: Suite, index: int, one: Difference) -> Diagnostic:
    code = "coordinator.scenario.expectation"
    member = one.pointer.removeprefix("/expect/")
    message = f"case `{suite.cases[index].id}`: `{member}` is not as expected"
    spot = suite.spot(index, one.pointer)
    return Diagnostic(code, Severity.ERROR, message, spot, _remedy(code))


def _remedy(code: str) -> str:
    entry = CODES.get(code)
    return "correct the workflow, or the case" if entry is None else entry.remedy
