"""Results of a suite as text: one line for a case that passed, and why another one failed."""

from __future__ import annotations

import json

from adapter.authoring.scenarios.running import CaseResult, SuiteResult
from interpreter.contract.values import JsonValue
from interpreter.scenario import ABSENT, Coverage, Happening, Trace
from interpreter.scenario.compare import elapsed_seconds

_GREEN, _RED, _YELLOW, _PLAIN = "\033[32m", "\033[1;31m", "\033[33m", "\033[0m"
_LONGEST_VALUE = 200


class TextReport:
    """Writes results as lines; ``folder`` goes before the file's name in places."""

    def __init__(self, *, folder: str = "", color: bool = False, coverage: bool = False) -> None:
        self._folder = folder.rstrip("/")
        self._color = color
        self._coverage = coverage

    def render(self, result: SuiteResult) -> str:
        """The whole report, a count of the cases at its end."""
        lines: list[str] = []
        for one in result.cases:
            lines += self.case_lines(result, one)
        if self._coverage:
            lines += ["", *_coverage(result.coverage)]
        lines += ["", self._summary(result)]
        return "\n".join(lines) + "\n"

    def _paint(self, color: str, text: str) -> str:
        return f"{color}{text}{_PLAIN}" if self._color else text

    def case_lines(self, result: SuiteResult, one: CaseResult) -> list[str]:
        """What is said of one case."""
        if one.passed:
            lines = [f"{self._paint(_GREEN, 'pass')}  {one.case.id}{_end(one.trace)}"]
        else:
            lines = [f"{self._paint(_RED, 'FAIL')}  {one.case.id}  ({self._place(one, result)})"]
            lines += self._reasons(one, result)
        for finding in one.findings:
            if finding.severity == "warning":
                word = self._paint(_YELLOW, "warning")
                lines.append(f"      {word}[{finding.code}]: {finding.message}")
                lines.append(f"        at {finding.spot.pointer}, line {finding.spot.line}")
        return lines

    def _place(self, one: CaseResult, result: SuiteResult) -> str:
        file = result.suite.file
        name = f"{self._folder}/{file}" if self._folder else file
        return f"{name}:{one.spot.line}"

    def _reasons(self, one: CaseResult, result: SuiteResult) -> list[str]:
        lines: list[str] = []
        for finding in one.findings:
            if finding.severity == "error" and one.trace is None:
                lines.append(f"      error[{finding.code}]: {finding.message}")
                lines.append(f"        at {finding.spot.pointer}, line {finding.spot.line}")
                lines.append(f"        help: {finding.remedy}")
        if one.trace is not None and _differs(one, "/expect/path"):
            lines += _paths(list(one.case.expected["path"]), list(one.trace.path))
        for difference in one.differences:
            if difference.pointer.startswith("/expect/path"):
                continue
            spot = result.suite.spot(one.index, difference.pointer)
            lines.append(f"      {difference.pointer}  (line {spot.line}, column {spot.column})")
            lines.append(f"        expected  {shown(difference.expected)}")
            lines.append(f"        actual    {shown(difference.actual)}")
        if one.trace is not None and one.trace.failure_code:
            place = one.trace.failure_place
            lines.append(f"      the run failed: {one.trace.failure_code} at {place}")
        if one.come_to is not None and one.come_to.timeline:
            lines += ["      what happened:", *(_happening(h) for h in one.come_to.timeline)]
        return lines

    def _summary(self, result: SuiteResult) -> str:
        passed = len(result.cases) - len(result.failed)
        rate = f" in {result.seconds:.2f} s"
        counts = f"{passed} passed, {len(result.failed)} failed{rate}"
        return self._paint(_GREEN if result.passed else _RED, counts)


def shown(value: JsonValue) -> str:
    """A value as one short line of JSON; ``nothing`` where there is none."""
    if value is ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _differs(one: CaseResult, pointer: str) -> bool:
    return any(difference.pointer.startswith(pointer) for difference in one.differences)


def _end(trace: Trace | None) -> str:
    if trace is None:
        return ""
    seconds = elapsed_seconds(trace.elapsed_ms)
    waited = f" after {duration(seconds)}" if seconds else ""
    return f"  {trace.outcome or trace.state}{waited}"


def duration(seconds: float) -> str:
    """Seconds as days, hours, minutes and seconds, without the parts that are zero."""
    parts = []
    rest = seconds
    for name, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{int(count)} {name}")
    if rest or not parts:
        parts.append(f"{rest:g} s")
    return " ".join(parts)


def _paths(expected: list[str], actual: list[str]) -> list[str]:
    """Both paths, and a caret under the first step at which they part."""
    common = 0
    for ours, theirs in zip(expected, actual, strict=False):
        if ours != theirs:
            break
        common += 1
    arrow = " → "
    before = len(arrow.join(expected[:common])) + (len(arrow) if common else 0)
    width = len(expected[common]) if common < len(expected) else 1
    margin = " " * (18 + before)
    return [
        "      /expect/path",
        f"        expected  {arrow.join(expected)}",
        f"        actual    {arrow.join(actual)}",
        f"{margin}{'^' * width}",
    ]


def _happening(one: Happening) -> str:
    after = duration(elapsed_seconds(one.after_ms))
    return f"        +{after:<16} {one.step:<24} {one.what}".rstrip()


def _coverage(coverage: Coverage) -> list[str]:
    total = len(coverage.outlets)
    lines = [f"coverage: {coverage.taken} of {total} ways out of steps are taken"]
    if coverage.untaken:
        lines.append("not taken by any case:")
        width = max(len(one.node) for one in coverage.untaken)
        for one in coverage.untaken:
            lines.append(f"  {one.node:<{width}}  {one.outlet} → {one.target}")
    return lines
