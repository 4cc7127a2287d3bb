"""Findings as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable

from adapter.authoring.diagnostics.codes import Severity
from adapter.authoring.diagnostics.diagnostic import Diagnostic
from interpreter.contract.values import JsonValue


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """``{ok, errors, warnings, diagnostics: […]}`` with one finding a member of the list."""
    return json.dumps(findings_document(diagnostics), indent=2, ensure_ascii=False) + "\n"


def findings_document(diagnostics: Iterable[Diagnostic]) -> dict[str, JsonValue]:
    """The same as a value; ``ok`` is true without an error."""
    found = list(diagnostics)
    errors = sum(one.severity is Severity.ERROR for one in found)
    return {
        "ok": errors == 0,
        "errors": errors,
        "warnings": len(found) - errors,
        "diagnostics": [one.to_json() for one in found],
    }
