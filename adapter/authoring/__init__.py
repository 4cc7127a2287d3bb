"""The author's files to a checked definition: offline, without a server, network or ledger."""

from adapter.authoring.diagnostics import CODES, Diagnostic, Report, Severity
from adapter.authoring.projects import ProjectResult, load_project
from adapter.authoring.sources import Source, Sources, Spot

__all__ = [
    "CODES",
    "Diagnostic",
    "ProjectResult",
    "Report",
    "Severity",
    "Source",
    "Sources",
    "Spot",
    "load_project",
]
