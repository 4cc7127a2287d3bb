"""What a YAML syntax error means in an author's words."""

from __future__ import annotations

from typing import Any

import yaml

from adapter.authoring.sources import Source, Spot

_RULES: tuple[tuple[str, str, str, str], ...] = (
    # (context contains, problem contains, code, message)
    ("", "'\\t' that cannot start any token", "yaml.tab-indentation", "a tab indents this line"),
    (
        "scanning a quoted scalar",
        "unexpected end of stream",
        "yaml.unclosed-quote",
        "the quote that opens here is never closed",
    ),
    (
        "scanning a quoted scalar",
        "unexpected document separator",
        "yaml.unclosed-quote",
        "the quote that opens here is never closed",
    ),
    (
        "scanning a double-quoted scalar",
        "",
        "yaml.invalid-escape",
        "a backslash in the quoted value that opens here begins no known escape",
    ),
    ("scanning an alias", "", "yaml.alias", "a `*` begins an alias"),
    ("scanning an anchor", "", "yaml.anchor", "an `&` begins an anchor"),
    ("scanning a tag", "", "yaml.tag", "a `!` begins a tag"),
    ("parsing a tag", "", "yaml.tag", "a `!` begins a tag"),
    ("scanning a directive", "", "yaml.tag", "a `%` begins a directive"),
    (
        "",
        "mapping values are not allowed here",
        "yaml.colon-in-plain-value",
        "a colon and a blank stand inside a plain value",
    ),
    (
        "",
        "invalid Unicode character escape",
        "yaml.invalid-escape",
        "an escape in this quoted value stands for no character",
    ),
    ("", "<stream end>", "yaml.unexpected-end", "the file ends inside what opens here"),
    (
        "",
        "special characters are not allowed",
        "yaml.control-character",
        "a control character stands here",
    ),
)

_AT_CONTEXT = frozenset({"yaml.unclosed-quote", "yaml.invalid-escape", "yaml.unexpected-end"})
_QUOTES = ("'", '"')


def classify(error: yaml.YAMLError, source: Source) -> tuple[str, Spot, str]:
    """The code, place and message of a syntax error that PyYAML's own parser raised."""
    context = str(getattr(error, "context", None) or "")
    problem = str(getattr(error, "problem", None) or error)
    spot = _spot(getattr(error, "problem_mark", None), source)
    for in_context, in_problem, code, message in _RULES:
        if in_context in context and in_problem in problem:
            if code in _AT_CONTEXT and getattr(error, "context_mark", None) is not None:
                spot = _spot(error.context_mark, source)  # type: ignore[attr-defined]
            return code, spot, message
    if _after_quote(problem, spot, source):
        return "yaml.text-after-quote", spot, "text follows the end of a quoted value"
    if _tab_before(spot, source):
        return "yaml.tab-indentation", Spot(source.file, spot.line), "a tab indents this line"
    return "yaml.syntax", spot, "the YAML is not well formed here"


def _spot(mark: Any, source: Source) -> Spot:
    if mark is None:
        return Spot(source.file)
    return Spot(source.file, mark.line + 1, mark.column + 1)


def _after_quote(problem: str, spot: Spot, source: Source) -> bool:
    """True when the parser met plain text right after a quoted value on the same line."""
    if "<scalar>" not in problem or spot.line > len(source.lines):
        return False
    before = source.lines[spot.line - 1][: spot.column - 1].rstrip()
    return before.endswith(_QUOTES)


def _tab_before(spot: Spot, source: Source) -> bool:
    if spot.line > len(source.lines):
        return False
    line = source.lines[spot.line - 1]
    return "\t" in line[: len(line) - len(line.lstrip())]
