"""Findings as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable

from adapter.authoring.diagnostics.codes import Severity
from adapter.authoring.diagnostics.diagnostic import Diagnostic


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """``{ok, errors, warnings, diagnostics: […]}`` with one finding a member of the list."""
    found = list(diagnostics)
    errors = sum(one.severity is Severity.ERROR for one in found)
    document = {
        "ok": errors == 0,
        "errors": errors,
        "warnings": len(found) - errors,
        "diagnostics": [one.to_json() for one in found],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
