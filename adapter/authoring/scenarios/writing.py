"""Writes skeleton cases: into a new file, or after the cases that a file already has."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from activities.yaml.tree import Sequence as SequenceTree
from activities.yaml.tree import Table
from adapter.authoring.scenarios.blocks import block
from adapter.authoring.scenarios.reading import KIND, read_suite
from adapter.authoring.scenarios.skeletons import ADMITTED_AT, Skeleton
from adapter.authoring.scenarios.suite import CURRENT, V1ALPHA1, Suite
from adapter.errors import Refused, Unavailable
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition
from interpreter.scenario import Dialect, Moment, Reply, ReplyType, Trace
from interpreter.scenario.compare import elapsed_seconds


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the file, whether it is new, and the ids of the cases in it.

    ``incomplete`` are those that do not do yet what they are for.
    """

    file: Path
    created: bool
    ids: tuple[str, ...]
    incomplete: tuple[str, ...]


def write_skeletons(
    file: Path, skeletons: Sequence[Skeleton], suite: Suite | None, definition: Definition
) -> Written:
    """Write skeletons into ``file``, which holds ``suite``, or does not exist where that is None.

    What stands in the file stays as it is, byte for byte. Raises Refused ``scenarios.exists`` for
    a file that came into being meanwhile, ``scenarios.not-appendable`` for one whose cases are not
    the last thing in it, and Unavailable when it can not be written.
    """
    ids = tuple(one.case.id for one in skeletons)
    try:
        if suite is None:
            dialect = skeletons[0].case.dialect
            _create(file, _header(dialect) + _cases(skeletons, 2))
        else:
            _append(file, skeletons, suite, definition)
    except OSError as error:
        raise Unavailable(
            "scenarios.unwritable",
            "the scenario file can not be written",
            place=str(file),
            remedy="check that you may write there",
        ) from error
    incomplete = tuple(one.case.id for one in skeletons if one.trace is None)
    return Written(file, suite is None, ids, incomplete)


def _header(dialect: Dialect) -> str:
    version = V1ALPHA1 if dialect is Dialect.PUBLIC else CURRENT
    return f"apiVersion: {version}\nkind: {KIND}\ncases:\n"


def _create(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError as error:
        raise Refused(
            "scenarios.exists",
            "a file stands there already, and nothing is overwritten",
            place=str(file),
            remedy="run again, so that the cases are added to it",
        ) from error


def _append(
    file: Path, skeletons: Sequence[Skeleton], suite: Suite, definition: Definition
) -> None:
    before = file.read_bytes()
    indent = _indent(before, suite)
    gap = b"" if before.endswith(b"\n") else b"\n"
    after = before + gap + _cases(skeletons, indent).encode()
    known = [case.id for case in suite.cases]
    wanted = [*known, *(one.case.id for one in skeletons)]
    read = read_suite(after, suite.file, definition).suite
    if read is None or [case.id for case in read.cases] != wanted:
        raise Refused(
            "scenarios.not-appendable",
            "no case can be added at the end of this file",
            place=str(file),
            remedy="make `cases` its last key and write it as a list of lines that begin with `-`, "
            "or name a new file with --scenarios",
        )
    beside = file.with_name(f".{file.name}.new")
    beside.write_bytes(after)
    beside.chmod(stat.S_IMODE(file.stat().st_mode))
    os.replace(beside, file)


def _indent(data: bytes, suite: Suite) -> int:
    """How far the dash before the first case is indented."""
    entry = suite.tree.entries["cases"].value if isinstance(suite.tree, Table) else None
    if not isinstance(entry, SequenceTree) or not entry.items:
        return 2
    line = data.decode().splitlines()[entry.items[0].spot.line - 1]
    return len(line) - len(line.lstrip())


def _cases(skeletons: Sequence[Skeleton], indent: int) -> str:
    lines: list[str] = []
    for one in skeletons:
        margin = " " * indent
        lines.append(f"{margin}# {_comment(one)}")
        first, *rest = block(case_document(one), indent + 2)
        lines += [f"{margin}- {first.lstrip()}", *rest]
    return "\n".join(lines) + "\n"


def _comment(skeleton: Skeleton) -> str:
    outlet = f"`{skeleton.outlet.outlet}` of {skeleton.outlet.node}"
    if skeleton.trace is None:
        return f"To be completed: give it values that make the run take {outlet}."
    return f"Takes {outlet}. Its values are made up, and it expects what happened."


def case_document(skeleton: Skeleton) -> dict[str, JsonValue]:
    """A case as its file holds it."""
    case = skeleton.case
    document: dict[str, JsonValue] = {
        "id": case.id,
        "admittedAt": ADMITTED_AT,
        "input": case.input,
        "replies": {
            step: [_reply(one) for one in replies] for step, replies in case.replies.items()
        },
    }
    if case.completions:
        document["completions"] = [
            {"step": one.step, **_moment(one.moment), "value": one.value}
            for one in case.completions
        ]
    if case.signals:
        document["signals"] = [
            {"name": one.name, "step": one.step, **_moment(one.moment), "payload": one.payload}
            for one in case.signals
        ]
    if case.decisions:
        document["decisions"] = [
            {
                "step": one.step,
                "decision": "approved" if one.approved else "rejected",
                **_moment(one.moment),
            }
            for one in case.decisions
        ]
    if case.cancel is not None:
        document["cancel"] = {"step": case.cancel.step, **_moment(case.cancel.moment)}
    return document | {"expect": _expectation(skeleton)}


def _reply(reply: Reply) -> dict[str, JsonValue]:
    if reply.type is ReplyType.SUCCESS:
        return {"type": reply.type.value, "value": reply.value}
    return {"type": reply.type.value, "code": reply.code}


def _moment(moment: Moment) -> dict[str, JsonValue]:
    return {"afterSeconds": elapsed_seconds(moment.after_ms)}


def _expectation(skeleton: Skeleton) -> dict[str, JsonValue]:
    trace = skeleton.trace
    public = skeleton.case.dialect is Dialect.PUBLIC
    if trace is None:
        state = "completed" if public else "finished"
        return {"path": skeleton.route.path, "state": state}
    expected: dict[str, JsonValue] = {"path": list(trace.path), "state": trace.state}
    if public:
        return expected | _public_outcome(trace)
    if trace.outcome is not None:
        expected["outcome"] = trace.outcome
    if trace.failure_code:
        expected["failureCode"] = trace.failure_code
    return expected | {"effects": {_short(name): s for name, s in trace.effects.items()}}


def _short(effect: str) -> str:
    """An effect's id as authors write it: the step alone for its first visit on the main way."""
    return effect.removeprefix("main/").removesuffix(":1")


def _public_outcome(trace: Trace) -> dict[str, JsonValue]:
    if trace.outcome is None:
        return {"outcome": {"type": "none"}}
    return {"outcome": {"type": "named", "value": trace.outcome}}
