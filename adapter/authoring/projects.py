"""A project folder to a packaged definition: read, check, compile; offline and without effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from activities.catalogue.catalogue import Catalogue
from activities.yaml.reader import LARGEST_FILE_BYTES, read_yaml
from activities.yaml.sources import Source, Sources, Spot
from activities.yaml.tree import Table, Tree
from adapter.authoring.check import check_draft
from adapter.authoring.check.functions import FILE as FUNCTIONS_FILE
from adapter.authoring.check.functions import LARGEST_SOURCE_BYTES
from adapter.authoring.compile import lower
from adapter.authoring.diagnostics.diagnostic import Diagnostic, Report, Severity
from adapter.authoring.draft import Draft
from adapter.authoring.files import project_folder, read_regular_file
from adapter.authoring.formats.envelope import CURRENT, PROJECT, V1ALPHA1, read_envelope
from adapter.authoring.formats.project import read_project
from adapter.authoring.formats.public_findings import as_public
from adapter.authoring.formats.v1alpha1 import read_v1alpha1
from interpreter.definition.document import PackagedDefinition
from interpreter.errors import DefinitionError

WORKFLOW_FILE = "workflow.yaml"

_FRONT_ENDS: dict[str, Callable[[Table, Catalogue, Report], Draft]] = {
    CURRENT: read_project,
    V1ALPHA1: read_v1alpha1,
}


@dataclass(frozen=True, slots=True)
class ProjectResult:
    """What a project folder gave, or all that lies beside the project in it.

    ``definition`` is None when the project itself has an error, and where only a runtime file was
    looked at. ``sources`` are the texts that were read, for renderings with the line itself.
    ``format`` is the file's ``apiVersion``, empty when it could not be told.
    """

    definition: PackagedDefinition | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Sources
    format: str = ""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that refuse the project."""
        return tuple(one for one in self.diagnostics if one.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The findings that do not."""
        return tuple(one for one in self.diagnostics if one.severity is Severity.WARNING)


def load_project(path: Path, catalogue: Catalogue) -> ProjectResult:
    """Read, check and compile the project in a folder, in any project format.

    Raises Usage or Unavailable when there is no readable folder; everything else that is wrong is
    a diagnostic.
    """
    folder = project_folder(path)
    report = Report()
    sources = Sources()
    data = read_regular_file(folder, WORKFLOW_FILE, LARGEST_FILE_BYTES, report)
    if data is None:
        return ProjectResult(None, report.findings(), sources)
    tree, source = read_yaml(data, WORKFLOW_FILE, report)
    if source is not None:
        sources.files[WORKFLOW_FILE] = source
    version = None if tree is None else read_envelope(tree, PROJECT, report)
    if version is None or not isinstance(tree, Table):
        return ProjectResult(None, report.findings(), sources)
    draft = _FRONT_ENDS[version](tree, catalogue, report)
    _read_functions(folder, draft, report, sources)
    definition = _compiled(draft, tree, catalogue, report)
    found = report.findings()
    if version == V1ALPHA1:
        found = tuple(map(as_public, found))
    return ProjectResult(definition, found, sources, version)


def _read_functions(folder: Path, draft: Draft, report: Report, sources: Sources) -> None:
    """Read the functions file that the draft names; line ends become single line feeds.

    So the same project has the same revision whatever line ends a checkout gave its files.
    """
    if draft.functions_file is None:
        return
    spot = draft.origins.find("/functions")
    data = read_regular_file(folder, FUNCTIONS_FILE, LARGEST_SOURCE_BYTES, report, spot)
    if data is None:
        return
    if len(data) > LARGEST_SOURCE_BYTES:
        message = f"the functions have more than {LARGEST_SOURCE_BYTES} bytes"
        report.add("coordinator.function.source-limit", Spot(FUNCTIONS_FILE), message)
        return
    try:
        text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        place = Source(FUNCTIONS_FILE, before).spot(len(before))
        report.add("yaml.not-utf8", place, "the bytes from here on are not UTF-8")
        return
    sources.files[FUNCTIONS_FILE] = Source(FUNCTIONS_FILE, text)
    draft.functions_source = text


def _compiled(
    draft: Draft, tree: Tree, catalogue: Catalogue, report: Report
) -> PackagedDefinition | None:
    check_draft(draft, tree, catalogue, report)
    if report.failed:
        return None
    try:
        return lower(draft, catalogue)
    except DefinitionError as error:
        spot = Spot(WORKFLOW_FILE)
        report.add("coordinator.definition.snapshot-limit", spot, error.message, error.remedy)
        return None
