"""The front end of ``coordinator/v1`` scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from activities.yaml.tree import Scalar
from adapter.authoring.formats.shape import EXTERNAL_ID, LOCAL_ID, TITLE, Rule, Section
from adapter.authoring.scenarios.lists import read_list, read_names, step_tables
from adapter.authoring.scenarios.moments import (
    LONGEST_SECONDS,
    milliseconds,
    read_instant,
    read_moment,
)
from adapter.authoring.scenarios.replies import ALL_TYPES, ReplyReader
from interpreter.contract.records import RunState
from interpreter.contract.values import JsonValue
from interpreter.scenario import (
    Act,
    ActKind,
    Cancel,
    Case,
    Completion,
    Decision,
    Moment,
    Signal,
)
from interpreter.scenario.cases import DEFAULT_RUN_ID
from interpreter.scenario.compare import elapsed_seconds
from interpreter.scenario.effects import ACCEPTED, NOT_APPLIED, UNKNOWN

MOST_CASES = 4_096
MOST_REPLIES = 64
MOST_HAPPENINGS = 64
LONGEST_PATH = 1_024

T = TypeVar("T")

_STATES = tuple(
    one.value
    for one in RunState
    if one not in (RunState.QUEUED, RunState.RECOVERY_REQUIRED, RunState.ROLLED_BACK)
)
_EFFECT = Rule(
    re.compile(r"[^\x00-\x20\x7f-\x9f]{1,512}\Z"),
    "name a step, `step:visit`, or `branch/step:visit`",
)
_REPLIES = ReplyReader(ALL_TYPES, MOST_REPLIES, timed=True)


def read_own_case(section: Section) -> Case | None:
    """One case, or None after a finding."""
    id = section.text("id", LOCAL_ID)
    section.text("title", TITLE, required=False)
    admitted = read_instant(section, "admittedAt")
    reader = _CaseReader(admitted)
    case = Case(
        id=id or "",
        admitted_ms=admitted or 0,
        input=section.foreign("input"),
        expected=read_expected(section),
        replies=_REPLIES.read(section, required=False),
        completions=_happenings(section, "completions", "a completion", reader.completion),
        signals=_happenings(section, "signals", "a signal", reader.signal),
        decisions=_happenings(section, "decisions", "a decision", reader.decision),
        acts=_happenings(section, "acts", "an act", reader.act),
        cancel=reader.cancel(section),
        stop=reader.stop(section),
        run_id=section.text("runId", EXTERNAL_ID, required=False) or DEFAULT_RUN_ID,
    )
    return None if id is None or admitted is None else case


def _happenings(
    section: Section, key: str, what: str, read: Callable[[Section], T | None]
) -> tuple[T, ...]:
    return read_list(section, key, what, MOST_HAPPENINGS, read)


class _CaseReader:
    """Reads what happens in one case; no moment may lie before its admission."""

    def __init__(self, admitted_ms: int | None) -> None:
        self._admitted_ms = admitted_ms

    def _moment(self, section: Section) -> Moment:
        return read_moment(section, self._admitted_ms)

    def completion(self, section: Section) -> Completion | None:
        step = section.text("step", LOCAL_ID)
        moment = self._moment(section)
        gone = section.has("gone") and _true(section, "gone")
        value = None if gone else section.foreign("value")
        return None if step is None else Completion(step, moment, value, gone)

    def signal(self, section: Section) -> Signal | None:
        name = section.text("name", LOCAL_ID)
        payload = section.foreign("payload")
        moment = self._moment(section)
        step = section.text("step", LOCAL_ID, required=False) or ""
        id = section.text("id", EXTERNAL_ID, required=False) or ""
        return None if name is None else Signal(name, payload, moment, step, id)

    def decision(self, section: Section) -> Decision | None:
        step = section.text("step", LOCAL_ID)
        word = section.word("decision", ("approved", "rejected"))
        moment = self._moment(section)
        given = section.has("plan")
        plan = section.foreign("plan", required=False)
        if step is None or word is None:
            return None
        return Decision(step, word == "approved", moment, plan, given)

    def act(self, section: Section) -> Act | None:
        word = section.word("type", tuple(one.value for one in ActKind))
        step = section.text("step", LOCAL_ID)
        moment = self._moment(section)
        return None if step is None or word is None else Act(ActKind(word), step, moment)

    def cancel(self, section: Section) -> Cancel | None:
        inner = section.section("cancel", "`cancel`", required=False)
        if inner is None:
            return None
        moment = self._moment(inner)
        step = inner.text("step", LOCAL_ID, required=False) or ""
        inner.close()
        section.broken = section.broken or inner.broken
        return Cancel(moment, step)

    def stop(self, section: Section) -> Moment | None:
        inner = section.section("stop", "`stop`", required=False)
        if inner is None:
            return None
        moment = self._moment(inner)
        inner.close()
        section.broken = section.broken or inner.broken
        return moment


def _true(section: Section, key: str) -> bool:
    value = section.raw(key)
    if not isinstance(value, Scalar) or not isinstance(value.value, bool):
        section.refuse("config.expected-boolean", section.place(key), f"`{key}` needs a boolean")
        return False
    return value.value


def read_expected(section: Section) -> dict[str, JsonValue]:
    """What the author expects, by member; what is not written is not compared."""
    inner = section.section("expect", "`expect`")
    if inner is None:
        return {}
    expected: dict[str, JsonValue] = {}
    path = read_names(inner, "path", LONGEST_PATH, required=False, repeated=True)
    if path is not None:
        expected["path"] = path
    expected["state"] = inner.word("state", _STATES)
    if inner.has("outcome"):
        expected["outcome"] = _outcome(inner)
    if inner.has("output"):
        expected["output"] = inner.foreign("output")
    seconds = inner.number("elapsedSeconds", 0, LONGEST_SECONDS, required=False)
    if seconds is not None:
        expected["elapsedSeconds"] = elapsed_seconds(milliseconds(seconds))
    if inner.has("effects"):
        expected["effects"] = _effects(inner)
    failure = inner.text("failureCode", EXTERNAL_ID, required=False)
    if failure is not None:
        expected["failureCode"] = failure
    inner.close()
    section.broken = section.broken or inner.broken
    return expected


def _outcome(section: Section) -> str | None:
    """The outcome's name; null says that no finish is reached."""
    tree = section.raw("outcome", nullable=True)
    if isinstance(tree, Scalar) and tree.value is None:
        return None
    return section.text("outcome", LOCAL_ID)


def _effects(section: Section) -> dict[str, JsonValue]:
    table = step_tables(section, "effects", LONGEST_PATH, _EFFECT, required=False)
    if table is None:
        return {}
    inner = Section(table, section.report, "`effects`")
    words = (ACCEPTED, NOT_APPLIED, UNKNOWN)
    found: dict[str, JsonValue] = {name: inner.word(name, words) for name in table.entries}
    section.broken = section.broken or inner.broken
    return found
