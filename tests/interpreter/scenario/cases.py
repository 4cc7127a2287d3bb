"""Short ways to write scenarios over the small definitions of the tests."""

from __future__ import annotations

from typing import Any

from interpreter.contract.operations import OperationContract
from interpreter.definition.document import Operation
from interpreter.scenario import (
    Act,
    ActKind,
    Cancel,
    Case,
    Completion,
    Decision,
    Dialect,
    Moment,
    Reply,
    ReplyType,
    Signal,
    Stage,
    Trace,
)
from tests.fixtures.definitions import ADMITTED_MS, SEND, call, definition, finish, review

__all__ = ["Act", "ActKind", "Cancel", "Completion", "Decision", "Dialect", "Reply", "Signal"]

OK = Reply(ReplyType.SUCCESS, {"id": "r1"})
LOST = Reply(ReplyType.UNCERTAIN, code="transport-uncertain")
BUSY = Reply(ReplyType.RETRYABLE, code="rate-limited")

ONE_EFFECT: dict[str, Any] = {
    "send": call("send", "done", failed="not-sent"),
    "done": finish("done", {"step": "send", "path": "/id"}),
    "not-sent": finish("not-sent"),
}
REVIEWED: dict[str, Any] = {
    "submit": call("submit", "wait", **{"refused:closed": "refused"}),
    "wait": review("done", expired="late", cancelled="undo"),
    "undo": call("submit", "stopped"),
    "done": finish("done", {"step": "wait"}),
    "late": finish("late"),
    "stopped": finish("stopped"),
    "refused": finish("refused"),
}


def after(seconds: float) -> Moment:
    """A time after what the moment belongs to."""
    return Moment(after_ms=round(seconds * 1000))


def at(seconds: float) -> Moment:
    """An instant, in seconds after admission."""
    return Moment(at_ms=ADMITTED_MS + round(seconds * 1000))


def play(
    nodes: dict[str, Any],
    value: Any = None,
    deadline: int = 3600,
    operation: OperationContract = SEND,
    **members: Any,
) -> Trace:
    """The trace of a case over these nodes; ``operation`` is what ``send`` calls."""
    made = definition({name: dict(node) for name, node in nodes.items()}, deadline=deadline)
    bound = Operation(connection="messages", contract=operation)
    made = made.model_copy(update={"operations": {**made.operations, "send": bound}})
    given = {} if value is None else value
    case = Case("case", ADMITTED_MS, given, members.pop("expected", {}), **members)
    return Stage(made).play(case)
