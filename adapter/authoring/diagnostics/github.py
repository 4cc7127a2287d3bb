"""Findings as workflow commands that GitHub shows as annotations of a change."""

from __future__ import annotations

from collections.abc import Iterable

from adapter.authoring.diagnostics.diagnostic import Diagnostic
from adapter.authoring.diagnostics.text import file_path

_IN_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_github(diagnostics: Iterable[Diagnostic], *, folder: str = "") -> str:
    """One ``::error``/``::warning`` line a finding; ``folder`` is relative to the repository."""
    return "".join(_line(one, folder) for one in diagnostics)


def _line(one: Diagnostic, folder: str) -> str:
    properties = {
        "file": file_path(one.spot, folder),
        "line": str(one.spot.line),
        "col": str(one.spot.column),
        "endColumn": str(one.spot.column + one.spot.length),
        "title": one.code,
    }
    written = ",".join(
        f"{key}={value.translate(_IN_PROPERTY)}" for key, value in properties.items()
    )
    message = f"{one.message} ({one.remedy})".translate(_IN_DATA)
    return f"::{one.severity.value} {written}::{message}\n"
