"""Findings about an author's files: codes, values and renderings."""

from adapter.authoring.diagnostics.codes import CODES, Code, Severity
from adapter.authoring.diagnostics.diagnostic import Artifact, Diagnostic, Related, Report
from adapter.authoring.diagnostics.github import render_github
from adapter.authoring.diagnostics.json import render_json
from adapter.authoring.diagnostics.sarif import render_sarif
from adapter.authoring.diagnostics.text import render_text

__all__ = [
    "CODES",
    "Artifact",
    "Code",
    "Diagnostic",
    "Related",
    "Report",
    "Severity",
    "render_github",
    "render_json",
    "render_sarif",
    "render_text",
]
