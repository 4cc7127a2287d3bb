"""Results of a suite as JUnit XML, the form that build servers read."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, tostring

from adapter.authoring.scenarios.running import CaseResult, SuiteResult
from adapter.authoring.scenarios.text import TextReport

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(result: SuiteResult, name: str, *, folder: str = "") -> str:
    """One test suite called ``name``, with one test case for each scenario.

    A case that fails has the text report's own words as its failure; one that can not be played is
    an error, as build servers tell the two apart.
    """
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", name=name, time=f"{result.seconds:.3f}")
    broken = [one for one in result.failed if one.trace is None]
    suite.set("tests", str(len(result.cases)))
    suite.set("failures", str(len(result.failed) - len(broken)))
    suite.set("errors", str(len(broken)))
    report = TextReport(folder=folder)
    for one in result.cases:
        _add_case(suite, result, one, name, report)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_case(
    suite: Element, result: SuiteResult, one: CaseResult, name: str, report: TextReport
) -> None:
    case = SubElement(suite, "testcase", classname=name, name=one.case.id)
    case.set("time", f"{one.seconds:.6f}")
    case.set("file", one.spot.file)
    case.set("line", str(one.spot.line))
    if one.passed:
        return
    first = next(finding for finding in one.findings if finding.severity == "error")
    kind = "error" if one.trace is None else "failure"
    said = SubElement(case, kind, type=first.code, message=_clean(first.message))
    said.text = _clean("\n".join(report.case_lines(result, one)))


def _clean(text: str) -> str:
    """Text without the characters that XML can not hold."""
    return _NOT_XML.sub("\ufffd", text)
