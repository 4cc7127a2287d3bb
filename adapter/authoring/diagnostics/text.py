"""Findings as text for a terminal: the place, the line itself and a caret under it."""

from __future__ import annotations

from collections.abc import Iterable

from activities.yaml.sources import Sources, Spot
from adapter.authoring.diagnostics.codes import Severity
from adapter.authoring.diagnostics.diagnostic import Diagnostic

_WIDEST_LINE = 160
_COLORS = {Severity.ERROR: "\033[1;31m", Severity.WARNING: "\033[1;33m"}
_PLAIN = "\033[0m"


def render_text(
    diagnostics: Iterable[Diagnostic],
    sources: Sources,
    *,
    folder: str = "",
    color: bool = False,
    show_lines: bool = True,
) -> str:
    """All findings, a blank line between two, then a line that counts them.

    ``folder`` goes before each file name. With ``show_lines`` false the author's text is left
    out, for places where it must not appear.
    """
    found = list(diagnostics)
    shown = sources if show_lines else Sources()
    blocks = [_block(one, shown, folder, color) for one in found]
    return "\n".join([*blocks, _summary(found)]) + "\n"


def _block(one: Diagnostic, sources: Sources, folder: str, color: bool) -> str:
    begin, end = (_COLORS[one.severity], _PLAIN) if color else ("", "")
    lines = [
        f"{begin}{one.severity.value}[{one.code}]{end}: {one.message}",
        f"  --> {_place(one.spot, folder)}",
        *_excerpt(one.spot, sources),
    ]
    for related in one.related:
        lines.append(f"  note: {related.message} ({_place(related.spot, folder)})")
    lines.append(f"  help: {one.remedy}")
    return "\n".join(lines) + "\n"


def _place(spot: Spot, folder: str) -> str:
    pointer = f" ({spot.pointer})" if spot.pointer else ""
    return f"{file_path(spot, folder)}:{spot.line}:{spot.column}{pointer}"


def file_path(spot: Spot, folder: str) -> str:
    """The file of a place with the folder of its project before it, unless it lies elsewhere."""
    if not folder or spot.file.startswith("/"):
        return spot.file
    return f"{folder.rstrip('/')}/{spot.file}"


def _excerpt(spot: Spot, sources: Sources) -> list[str]:
    text = sources.line(spot.file, spot.line)
    if text is None or len(text) > _WIDEST_LINE:
        return []
    number = str(spot.line)
    margin = " " * len(number)
    # Tabs stay tabs under the line, so that the caret stands where the eye looks.
    before = "".join(one if one == "\t" else " " for one in text[: spot.column - 1])
    carets = "^" * max(1, min(spot.length, len(text) - spot.column + 1))
    return [f"{margin} |", f"{number} | {text}", f"{margin} | {before}{carets}"]


def _summary(found: list[Diagnostic]) -> str:
    errors = sum(one.severity is Severity.ERROR for one in found)
    warnings = len(found) - errors
    return f"{_count(errors, 'error')}, {_count(warnings, 'warning')}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
