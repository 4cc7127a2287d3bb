"""What a YAML syntax error of libyaml means in an author's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from activities.yaml.sources import Source, Spot


@dataclass(frozen=True, slots=True)
class _Rule:
    """A code for errors whose context and problem contain these words."""

    context: str
    problem: str
    code: str
    message: str
    at_context: bool = False


_UNCLOSED = "the quote that opens here is never closed"
_ESCAPE = "a backslash in the quoted value that opens here begins no known escape"
_TAB = "a tab indents this line"
_DEEP = "values are nested too deeply"
_DIRECTIVE = "a `%` begins a directive"

_RULES = (
    _Rule("", "exceeded maximum nesting depth", "yaml.too-deep", _DEEP),
    _Rule("quoted scalar", "unexpected end of stream", "yaml.unclosed-quote", _UNCLOSED, True),
    _Rule("quoted scalar", "document indicator", "yaml.unclosed-quote", _UNCLOSED, True),
    _Rule("parsing a quoted scalar", "", "yaml.invalid-escape", _ESCAPE, True),
    _Rule("", "tab character", "yaml.tab-indentation", _TAB),
    _Rule("scanning an alias", "", "yaml.alias", "a `*` begins an alias", True),
    _Rule("scanning an anchor", "", "yaml.anchor", "an `&` begins an anchor", True),
    _Rule("a tag", "", "yaml.tag", "a `!` begins a tag", True),
    _Rule("a directive", "", "yaml.tag", _DIRECTIVE, True),
    _Rule("", "incompatible YAML document", "yaml.tag", _DIRECTIVE),
    _Rule(
        "",
        "mapping values are not allowed",
        "yaml.colon-in-plain-value",
        "a colon and a blank stand inside a plain value",
    ),
)

_QUOTES = ("'", '"')


def classify(error: yaml.YAMLError, source: Source) -> tuple[str, Spot, str]:
    """The code, place and message of a syntax error."""
    context = str(getattr(error, "context", None) or "")
    problem = str(getattr(error, "problem", None) or "")
    spot = _spot(getattr(error, "problem_mark", None), source)
    opened = _spot(getattr(error, "context_mark", None), source)
    for rule in _RULES:
        if rule.context in context and rule.problem in problem:
            return rule.code, opened if rule.at_context else spot, rule.message
    if _tab_before(spot, source):
        return "yaml.tab-indentation", Spot(source.file, spot.line), _TAB
    if "parsing a flow" in context:
        what = "list" if "sequence" in context else "mapping"
        if spot.line >= len(source.lines) and not source.line(spot.line):
            message = f"the file ends inside the {what} that opens here"
            return "yaml.unexpected-end", opened, message
        message = f"this does not continue the {what} that opens on line {opened.line}"
        return "yaml.syntax", spot, message
    if "did not find expected key" in problem and _after_quote(spot, source):
        return "yaml.text-after-quote", spot, "text follows the end of a quoted value"
    return "yaml.syntax", spot, "the YAML is not well formed here"


def _spot(mark: Any, source: Source) -> Spot:
    if mark is None:
        return Spot(source.file)
    return Spot(source.file, mark.line + 1, mark.column + 1)


def _after_quote(spot: Spot, source: Source) -> bool:
    line = source.line(spot.line) or ""
    return line[: spot.column - 1].rstrip().endswith(_QUOTES)


def _tab_before(spot: Spot, source: Source) -> bool:
    line = source.line(spot.line) or ""
    return "\t" in line[: len(line) - len(line.lstrip())]
