"""Findings about an author's files: codes, values and renderings."""

from adapter.authoring.diagnostics.codes import CODES, Code, Severity
from adapter.authoring.diagnostics.diagnostic import Artifact, Diagnostic, Related, Report

__all__ = ["CODES", "Artifact", "Code", "Diagnostic", "Related", "Report", "Severity"]
