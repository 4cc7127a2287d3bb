"""The public dialect: every further reply is an operator's act, and no time passes in calls."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.contract.operations import EffectClass, Recovery
from interpreter.definition.document import Operation
from interpreter.scenario import ActKind, Case, CaseFault, Dialect, Reply, ReplyType, Stage, Trace
from tests.fixtures.definitions import ADMITTED_MS, SEND, call, definition, finish

OK = Reply(ReplyType.SUCCESS, {"id": "r1"})
BUSY = Reply(ReplyType.RETRYABLE, code="rate-limited")
LOST = Reply(ReplyType.UNCERTAIN, code="transport-uncertain")
NO = Reply(ReplyType.REFUSED, code="product-refused")
GONE = Reply(ReplyType.RECEIPT_EXPIRED)
NODES: dict[str, Any] = {"send": call("send", "done"), "done": finish()}


def played(
    *replies: Reply,
    act: ActKind | None = None,
    effect: EffectClass = EffectClass.MUTATION,
    **members: Any,
) -> Trace:
    """One call that gets these replies."""
    made = definition({name: dict(node) for name, node in NODES.items()})
    recovery = Recovery.HOLD_AFTER_DISPATCH if effect == "evaluation" else SEND.recovery
    contract = SEND.model_copy(update={"effect": effect, "recovery": recovery})
    operation = Operation(connection="messages", contract=contract)
    made = made.model_copy(update={"operations": {**made.operations, "send": operation}})
    given: dict[str, Any] = {
        "replies": {"send": replies},
        "recovery": {"send": act} if act else {},
    }
    case = Case("case", ADMITTED_MS, {}, {}, Dialect.PUBLIC, **{**given, **members})
    return Stage(made).play(case)


RETRY, RECONCILE = ActKind.RETRY_SAME, ActKind.RECONCILE


@pytest.mark.parametrize(
    ("replies", "act", "state"),
    [
        ((OK,), None, "completed"),
        ((BUSY,), None, "retryable"),
        ((LOST,), None, "uncertain"),
        ((NO,), None, "refused"),
        ((GONE,), None, "uncertain"),
        ((BUSY, OK), RETRY, "completed"),
        ((BUSY, BUSY), RETRY, "retryable"),
        ((LOST, BUSY), RETRY, "uncertain"),
        ((LOST, NO), RETRY, "uncertain"),
        ((LOST, OK), RECONCILE, "completed"),
        ((LOST, GONE), RECONCILE, "uncertain"),
        ((BUSY, NO), RETRY, "refused"),
    ],
)
def test_replies_lead_to_the_state_of_the_public_format(
    replies: tuple[Reply, ...], act: ActKind | None, state: str
) -> None:
    assert played(*replies, act=act).state == state


@pytest.mark.parametrize(
    ("replies", "act", "effect", "code"),
    [
        ((BUSY, OK), None, "mutation", "recovery"),
        ((BUSY, OK), RECONCILE, "mutation", "recovery"),
        ((LOST, OK), RETRY, "evaluation", "recovery"),
        ((GONE, OK), RETRY, "mutation", "receipt-expired"),
        ((GONE,), None, "evaluation", "reply"),
    ],
)
def test_replies_that_nothing_can_bring_about_are_faults_of_the_case(
    replies: tuple[Reply, ...], act: ActKind | None, effect: str, code: str
) -> None:
    with pytest.raises(CaseFault) as caught:
        played(*replies, act=act, effect=EffectClass(effect))
    assert caught.value.code == f"coordinator.scenario.{code}"


def test_a_call_without_a_list_of_replies_is_a_fault() -> None:
    with pytest.raises(CaseFault) as caught:
        played(replies={})
    assert (caught.value.code, caught.value.place) == ("coordinator.scenario.reply", "/replies")


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"replies": {"send": (OK,), "done": (OK,)}}, "reply-step"),
        ({"recovery": {"done": RETRY}}, "recovery"),
    ],
)
def test_only_calls_have_replies_and_recoveries(members: dict[str, Any], code: str) -> None:
    with pytest.raises(CaseFault) as caught:
        played(OK, **members)
    assert caught.value.code == f"coordinator.scenario.{code}"


def test_replies_beyond_the_first_success_are_left_alone() -> None:
    trace = played(OK, LOST)
    assert (trace.state, trace.attempts, trace.frozen_commands) == ("completed", {"send": 1}, 1)


def test_a_reply_that_no_product_gives_is_only_noted() -> None:
    made = SEND.model_copy(update={"response": {"type": "string"}})
    nodes = definition({name: dict(node) for name, node in NODES.items()})
    operation = Operation(connection="messages", contract=made)
    nodes = nodes.model_copy(update={"operations": {**nodes.operations, "send": operation}})
    case = Case("case", ADMITTED_MS, {}, {}, Dialect.PUBLIC, {"send": (OK,)})
    trace = Stage(nodes).play(case)
    assert (trace.state, [note.code for note in trace.notes]) == (
        "completed",
        ["coordinator.scenario.response"],
    )


def _wait(at: str) -> dict[str, Any]:
    return {
        "kind": "wait",
        "wait": {"type": "instant", "at": {"literal": at}},
        "outlets": {"elapsed": "done"},
    }


@pytest.mark.parametrize(
    ("at", "state", "path", "elapsed"),
    [
        ("2027-01-15T08:10:00Z", "completed", ("wait", "done"), 600_000),
        ("2020-01-01T00:00:00Z", "completed", ("wait", "done"), 0),
        ("2030-01-01T00:00:00Z", "deadline-exceeded", ("wait",), 3_600_000),
    ],
)
def test_only_waits_move_the_clock(
    at: str, state: str, path: tuple[str, ...], elapsed: int
) -> None:
    made = definition({"wait": _wait(at), "done": finish()})
    trace = Stage(made).play(Case("case", ADMITTED_MS, {}, {}, Dialect.PUBLIC))
    assert (trace.state, trace.path, trace.elapsed_ms) == (state, path, elapsed)


@pytest.mark.parametrize(
    ("nodes", "code"),
    [
        (
            {
                "pick": {"kind": "choose", "choose": {"literal": "x"}, "outlets": {"a": "done"}},
                "done": finish(),
            },
            "coordinator.mapping.branch",
        ),
        ({"wait": _wait("soon"), "done": finish()}, "coordinator.mapping.timestamp"),
        (
            {"done": {**finish("done", {"literal": 1}), "schema": {"type": "string"}}},
            "coordinator.definition.outcome",
        ),
        (
            {"send": call("send", "done", {"literal": 1}), "done": finish()},
            "coordinator.mapping.call-shape",
        ),
    ],
)
def test_a_mapping_without_a_usable_value_ends_the_case_with_its_code(
    nodes: dict[str, Any], code: str
) -> None:
    case = Case("case", ADMITTED_MS, {}, {}, Dialect.PUBLIC, {})
    with pytest.raises(CaseFault) as caught:
        Stage(definition(nodes)).play(case)
    assert caught.value.code == code
