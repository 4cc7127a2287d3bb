"""A scenario file to a suite: read, checked against the workflow, every problem with its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from activities.yaml.reader import LARGEST_FILE_BYTES, read_yaml
from activities.yaml.sources import Sources, Spot
from activities.yaml.tree import Sequence, Table, find
from adapter.authoring.diagnostics.diagnostic import Diagnostic, Related, Report
from adapter.authoring.files import read_regular_file
from adapter.authoring.formats.envelope import Envelope, read_envelope
from adapter.authoring.formats.shape import Section
from adapter.authoring.scenarios import own_format, public_format
from adapter.authoring.scenarios.lists import check_length
from adapter.authoring.scenarios.references import check_references
from adapter.authoring.scenarios.suite import CURRENT, V1ALPHA1, Suite, SuiteReading
from interpreter.definition.document import Definition
from interpreter.scenario import Case

KIND = "CoordinatorScenarios"
ENVELOPE = Envelope(KIND, (CURRENT, V1ALPHA1))

_READERS: dict[str, tuple[Callable[[Section], Case | None], int]] = {
    CURRENT: (own_format.read_own_case, own_format.MOST_CASES),
    V1ALPHA1: (public_format.read_public_case, public_format.MOST_CASES),
}
_FILE_CODES = frozenset({"coordinator.definition.read", "coordinator.definition.file"})


def load_suite(file: Path, definition: Definition) -> SuiteReading:
    """Read a scenario file in either format and check what it refers to.

    Findings name the file as ``file.name``; nothing is raised for what is wrong with it.
    """
    report = Report()
    data = read_regular_file(file.parent, file.name, LARGEST_FILE_BYTES, report)
    if data is None:
        found = tuple(_as_scenario(one) for one in report.findings())
        return SuiteReading(None, found, Sources())
    return read_suite(data, file.name, definition)


def _as_scenario(one: Diagnostic) -> Diagnostic:
    code = "coordinator.scenario.read" if one.code in _FILE_CODES else one.code
    message = one.message.replace(" in the project", " there")
    return replace(one, code=code, message=message)


def read_suite(data: bytes, name: str, definition: Definition) -> SuiteReading:
    """The same for the bytes of a file called ``name``."""
    report = Report()
    sources = Sources()
    tree, source = read_yaml(data, name, report)
    if source is not None:
        sources.files[name] = source
    version = None if tree is None else read_envelope(tree, ENVELOPE, report)
    if version is None or not isinstance(tree, Table):
        return SuiteReading(None, report.findings(), sources)
    cases = _cases(tree, version, report)
    suite = Suite(name, version, tuple(case for _, case in cases), tree)
    for index, case in cases:
        check_references(case, index, suite, definition, report)
    found = report.findings()
    return SuiteReading(None if report.failed else suite, found, sources)


def _cases(tree: Table, version: str, report: Report) -> list[tuple[int, Case]]:
    """The cases that could be read, each with its position in the file."""
    root = Section(tree, report, "the file")
    root.has("apiVersion")
    root.has("kind")
    sequence = root.sequence("cases")
    root.close()
    read, most = _READERS[version]
    if sequence is None:
        return []
    check_length(root, "cases", len(sequence.items), 1, most)
    cases = []
    for index, item in enumerate(sequence.items):
        if not isinstance(item, Table):
            root.table_needed(item, "a case")
            continue
        section = Section(item, report, "this case")
        case = read(section)
        section.close()
        if case is not None:
            cases.append((index, case))
    _check_ids(sequence, cases, report)
    return cases


def _check_ids(sequence: Sequence, cases: list[tuple[int, Case]], report: Report) -> None:
    first: dict[str, int] = {}
    for index, case in cases:
        known = first.setdefault(case.id, index)
        if known != index:
            earlier = Related("the first one is here", _id_spot(sequence, known))
            message = f"two cases are called `{case.id}`"
            report.add("config.duplicate-id", _id_spot(sequence, index), message, related=[earlier])


def _id_spot(sequence: Sequence, index: int) -> Spot:
    return find(sequence.items[index], ["id"])
