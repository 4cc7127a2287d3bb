"""Results of a suite as one JSON document."""

from __future__ import annotations

from adapter.authoring.scenarios.running import CaseResult, SuiteResult
from adapter.authoring.scenarios.writing import Written
from interpreter.contract.values import JsonValue
from interpreter.scenario import ABSENT, Coverage, Difference, Trace
from interpreter.scenario.compare import elapsed_seconds


def suite_document(result: SuiteResult) -> dict[str, JsonValue]:
    """``{status, file, passed, failed, seconds, cases: […], coverage: {…}}``."""
    return {
        "status": "passed" if result.passed else "failed",
        "file": result.suite.file,
        "passed": len(result.cases) - len(result.failed),
        "failed": len(result.failed),
        "seconds": round(result.seconds, 3),
        "cases": [_case(result, one) for one in result.cases],
        "coverage": coverage_document(result.coverage),
    }


def coverage_document(coverage: Coverage) -> dict[str, JsonValue]:
    """``{outlets, taken, untaken: [{step, outlet, target}]}``."""
    return {
        "outlets": len(coverage.outlets),
        "taken": coverage.taken,
        "untaken": [
            {"step": one.node, "outlet": one.outlet, "target": one.target}
            for one in coverage.untaken
        ],
    }


def written_document(written: Written) -> dict[str, JsonValue]:
    """``{file, created, cases: [id], incomplete: [id]}``."""
    return {
        "file": str(written.file),
        "created": written.created,
        "cases": list(written.ids),
        "incomplete": list(written.incomplete),
    }


def _case(result: SuiteResult, one: CaseResult) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = {
        "id": one.case.id,
        "ok": one.passed,
        "source": {
            "file": one.spot.file,
            "line": one.spot.line,
            "column": one.spot.column,
        },
        "differences": [_difference(result, one.index, each) for each in one.differences],
        "diagnostics": [finding.to_json() for finding in one.findings],
        "seconds": round(one.seconds, 6),
    }
    return document if one.come_to is None else document | _trace(one.come_to)


def _difference(result: SuiteResult, index: int, one: Difference) -> dict[str, JsonValue]:
    """A side that has nothing is left out, so that null stays a value."""
    spot = result.suite.spot(index, one.pointer)
    document: dict[str, JsonValue] = {
        "path": f"/cases/{index}{one.pointer}",
        "line": spot.line,
        "column": spot.column,
    }
    if one.expected is not ABSENT:
        document["expected"] = one.expected
    if one.actual is not ABSENT:
        document["actual"] = one.actual
    return document


def _trace(trace: Trace) -> dict[str, JsonValue]:
    return {
        "path": list(trace.path),
        "state": trace.state,
        "outcome": trace.outcome,
        "output": trace.output,
        "failureCode": trace.failure_code or None,
        "failurePlace": trace.failure_place or None,
        "elapsedSeconds": elapsed_seconds(trace.elapsed_ms),
        "effects": dict(trace.effects),
        "callAttempts": dict(trace.attempts),
        "frozenCommands": trace.frozen_commands,
        "timeline": [
            {"afterSeconds": elapsed_seconds(each.after_ms), "step": each.step, "what": each.what}
            for each in trace.timeline
        ],
    }
