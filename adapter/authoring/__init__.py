"""The author's files to a checked definition: offline, without a server, network or ledger."""

from activities.yaml.sources import Source, Sources, Spot
from adapter.authoring.diagnostics import (
    CODES,
    Diagnostic,
    Report,
    Severity,
    render_github,
    render_json,
    render_sarif,
    render_text,
)
from adapter.authoring.folder import check_folder
from adapter.authoring.projects import ProjectResult, load_project
from adapter.authoring.views.comparison import Change, ChangeKind, Difference, diff
from adapter.authoring.views.explanation import Ending, Explanation, StepView, explain
from adapter.authoring.views.picture import PictureFormat, graph
from adapter.authoring.views.schema import project_schema

__all__ = [
    "CODES",
    "Change",
    "ChangeKind",
    "Diagnostic",
    "Difference",
    "Ending",
    "Explanation",
    "PictureFormat",
    "ProjectResult",
    "Report",
    "Severity",
    "Source",
    "Sources",
    "Spot",
    "StepView",
    "check_folder",
    "diff",
    "explain",
    "graph",
    "load_project",
    "project_schema",
    "render_github",
    "render_json",
    "render_sarif",
    "render_text",
]
