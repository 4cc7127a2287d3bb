"""The front end of the public ``scenarios/v1alpha1`` format, which is read unmodified."""

from __future__ import annotations

from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.formats.shape import EXTERNAL_ID, LOCAL_ID, Section, read_text
from adapter.authoring.scenarios.lists import read_names, step_tables
from adapter.authoring.scenarios.moments import LONGEST_SECONDS, read_instant
from adapter.authoring.scenarios.replies import MOST_STEPS, PUBLIC_TYPES, ReplyReader
from interpreter.contract.values import JsonValue
from interpreter.scenario import ActKind, Case, Dialect

MOST_CASES = 64
MOST_REPLIES = 8

_STATES = ("completed", "refused", "retryable", "uncertain", "deadline-exceeded")
_REPLIES = ReplyReader(PUBLIC_TYPES, MOST_REPLIES, timed=False)


def read_public_case(section: Section) -> Case | None:
    """One case, or None after a finding (contract 1.5)."""
    id = section.text("id", LOCAL_ID)
    admitted = read_instant(section, "admittedAt")
    input = section.foreign("input")
    replies = _REPLIES.read(section, required=True)
    recovery = _recovery(section)
    expected = _expected(section)
    if id is None or admitted is None:
        return None
    return Case(id, admitted, input, expected, Dialect.PUBLIC, replies, recovery)


def _recovery(section: Section) -> dict[str, ActKind]:
    table = step_tables(section, "recovery", MOST_STEPS, required=False)
    if table is None:
        return {}
    words = tuple(one.value for one in ActKind)
    found = {}
    for step, entry in table.entries.items():
        word = read_text(section, entry.value, "a recovery", EXTERNAL_ID)
        if word is None:
            continue
        if word not in words:
            message = f"the recovery of `{step}` is none of the words that fit here"
            spot = entry.value.spot
            section.refuse("config.unknown-variant", spot, message, suggestion(word, words))
        else:
            found[step] = ActKind(word)
    return found


def _expected(section: Section) -> dict[str, JsonValue]:
    inner = section.section("expect", "`expect`")
    if inner is None:
        return {}
    expected: dict[str, JsonValue] = {
        "path": read_names(inner, "path", MOST_STEPS, required=True),
        "state": inner.word("state", _STATES),
    }
    if inner.has("outcome"):
        expected["outcome"] = _outcome(inner)
    if inner.has("output"):
        expected["output"] = inner.foreign("output")
    seconds = inner.integer("workflowElapsedSeconds", 0, LONGEST_SECONDS, required=False)
    if seconds is not None:
        expected["workflowElapsedSeconds"] = seconds
    inner.close()
    section.broken = section.broken or inner.broken
    return expected


def _outcome(section: Section) -> str | None:
    inner = section.section("outcome", "`outcome`")
    if inner is None:
        return None
    named = inner.word("type", ("named", "none")) == "named"
    value = inner.text("value", LOCAL_ID) if named else None
    inner.close()
    section.broken = section.broken or inner.broken
    return value
