"""Calls on the virtual clock: attempts, back-off, doubt and operators."""

from __future__ import annotations

from typing import Any

import pytest

from interpreter.contract.operations import EffectClass, Recovery
from interpreter.scenario import CaseFault, Dialect, Trace
from interpreter.scenario.cases import ReplyType
from tests.fixtures.definitions import SEND
from tests.interpreter.scenario.cases import (
    BUSY,
    LOST,
    OK,
    ONE_EFFECT,
    REVIEWED,
    Act,
    ActKind,
    Cancel,
    Reply,
    after,
    at,
    play,
)

EFFECT = "main/send:1"
RETRY = Act(ActKind.RETRY_SAME, "send", after(60))
RECONCILE = Act(ActKind.RECONCILE, "send", after(60))


def sent(*replies: Reply, nodes: dict[str, Any] = ONE_EFFECT, **members: Any) -> Trace:
    """One effect that gets these replies."""
    return play(nodes, replies={"send": replies}, **members)


def test_an_accepted_call_leads_to_the_finish_without_time_passing() -> None:
    trace = sent(OK)
    assert (trace.path, trace.state, trace.outcome) == (("send", "done"), "finished", "done")
    assert (trace.output, trace.elapsed_ms, trace.effects) == ("r1", 0, {EFFECT: "accepted"})


def test_a_retryable_reply_is_followed_by_the_next_attempt_after_the_delay() -> None:
    trace = sent(BUSY, BUSY, OK)
    assert (trace.state, trace.elapsed_ms, trace.attempts) == ("finished", 3000, {"send": 3})


def test_a_product_s_own_delay_stands_in_for_the_policy_s() -> None:
    slow = Reply(ReplyType.RETRYABLE, code="rate-limited", retry_after_ms=90_000)
    assert sent(slow, OK).elapsed_ms == 90_000


def test_when_the_attempts_are_used_up_the_call_fails_without_effect() -> None:
    trace = sent(BUSY, BUSY, BUSY)
    assert (trace.outcome, trace.effects) == ("not-sent", {EFFECT: "not-applied"})


def test_the_node_s_policy_sets_attempts_and_delays() -> None:
    policy = {"attempts": 2, "retryDelaySeconds": 30}
    nodes = {**ONE_EFFECT, "send": {**ONE_EFFECT["send"], "policy": policy}}
    assert sent(BUSY, OK, nodes=nodes).elapsed_ms == 30_000
    assert sent(BUSY, BUSY, nodes=nodes).outcome == "not-sent"


def test_a_back_off_beyond_the_deadline_expires_the_run() -> None:
    assert sent(BUSY, OK, deadline=1).state == "expired"


def test_a_call_that_takes_time_moves_the_clock() -> None:
    assert sent(Reply(ReplyType.SUCCESS, {"id": "r1"}, takes_ms=2500)).elapsed_ms == 2500


def test_a_call_that_outlasts_its_attempt_leaves_its_effect_unknown() -> None:
    trace = sent(Reply(ReplyType.SUCCESS, {"id": "r1"}, takes_ms=60_000))
    assert (trace.state, trace.elapsed_ms) == ("attention", 10_000)
    assert trace.effects == {EFFECT: "unknown"}


def test_an_uncertain_reply_needs_a_person() -> None:
    trace = sent(LOST)
    assert (trace.state, trace.path, trace.outcome) == ("attention", ("send",), None)


def test_an_operator_sends_the_same_command_again() -> None:
    trace = sent(LOST, OK, acts=(RETRY,))
    assert (trace.state, trace.elapsed_ms, trace.effects) == (
        "finished",
        60_000,
        {EFFECT: "accepted"},
    )


def test_a_refusal_after_an_uncertain_reply_stays_uncertain() -> None:
    refusal = Reply(ReplyType.REFUSED, code="product-refused")
    assert sent(LOST, refusal, acts=(RETRY,)).effects == {EFFECT: "unknown"}


def test_a_receipt_settles_an_unknown_effect() -> None:
    assert sent(LOST, OK, acts=(RECONCILE,)).state == "finished"


def test_a_receipt_that_is_not_found_leaves_the_next_act_its_turn() -> None:
    acts = (RECONCILE, Act(ActKind.RETRY_SAME, "send", after(120)))
    trace = sent(LOST, LOST, OK, acts=acts)
    assert (trace.state, trace.elapsed_ms) == ("finished", 120_000)


def test_reconciling_without_a_receipt_is_a_fault_of_the_case() -> None:
    act = Act(ActKind.RECONCILE, "submit", after(1))
    with pytest.raises(CaseFault) as caught:
        play(REVIEWED, replies={"submit": (LOST, OK)}, acts=(act,))
    assert (caught.value.code, caught.value.place) == ("coordinator.scenario.recovery", "/acts/0")


@pytest.mark.parametrize("cancel", [None, Cancel(after(10))])
def test_nothing_is_sent_again_after_the_deadline_or_a_cancel(cancel: Cancel | None) -> None:
    act = Act(ActKind.RETRY_SAME, "send", after(30 if cancel else 4000))
    with pytest.raises(CaseFault) as caught:
        sent(LOST, OK, acts=(act,), cancel=cancel)
    assert caught.value.code == "coordinator.scenario.act"


@pytest.mark.parametrize(
    ("first", "wait"), [(LOST, 86_400), (Reply(ReplyType.RECEIPT_EXPIRED), 60)]
)
def test_an_expired_receipt_forbids_to_send_again(first: Reply, wait: int) -> None:
    operation = SEND.model_copy(update={"receipt_window_seconds": 86_400})
    act = Act(ActKind.RETRY_SAME, "send", after(wait))
    with pytest.raises(CaseFault) as caught:
        sent(first, OK, acts=(act,), deadline=200_000, operation=operation)
    assert caught.value.code == "coordinator.scenario.act"


def test_an_evaluation_that_may_have_been_asked_is_not_asked_again() -> None:
    members = {"effect": EffectClass.EVALUATION, "recovery": Recovery.HOLD_AFTER_DISPATCH}
    with pytest.raises(CaseFault) as caught:
        sent(LOST, OK, acts=(RETRY,), operation=SEND.model_copy(update=members))
    assert caught.value.place == "/acts/0"


def test_a_cancel_ends_a_run_whose_evaluation_is_unknown() -> None:
    members = {"effect": EffectClass.EVALUATION, "recovery": Recovery.HOLD_AFTER_DISPATCH}
    operation = SEND.model_copy(update=members)
    trace = sent(LOST, cancel=Cancel(after(60)), operation=operation)
    assert (trace.state, trace.effects) == ("cancelled-after-effect", {EFFECT: "unknown"})


def test_a_cancel_in_a_back_off_ends_it_at_once() -> None:
    trace = sent(Reply(ReplyType.RETRYABLE, retry_after_ms=600_000), OK, cancel=Cancel(after(5)))
    assert (trace.state, trace.elapsed_ms) == ("cancelled", 5000)
    assert trace.effects == {EFFECT: "not-applied"}


def test_a_cancel_while_a_call_is_under_way_waits_for_its_answer() -> None:
    slow = Reply(ReplyType.SUCCESS, {"id": "r1"}, takes_ms=8000)
    trace = sent(slow, cancel=Cancel(after(5)))
    assert (trace.state, trace.elapsed_ms) == ("cancelled-after-effect", 8000)


def test_running_out_of_replies_names_the_step() -> None:
    with pytest.raises(CaseFault) as caught:
        sent(BUSY)
    assert (caught.value.code, caught.value.place) == (
        "coordinator.scenario.reply",
        "/replies/send",
    )


def test_a_declared_refusal_takes_its_outlet() -> None:
    refusal = Reply(ReplyType.DECLARED_REFUSAL, code="closed")
    assert play(REVIEWED, replies={"submit": (refusal,)}).outcome == "refused"


def test_a_refusal_that_the_contract_does_not_declare_is_a_fault_of_the_case() -> None:
    with pytest.raises(CaseFault) as caught:
        play(REVIEWED, replies={"submit": (Reply(ReplyType.DECLARED_REFUSAL, code="x"),)})
    assert caught.value.place == "/replies/submit/0/code"


def test_replies_of_a_step_that_is_no_call_are_a_fault_of_the_case() -> None:
    with pytest.raises(CaseFault) as caught:
        play(REVIEWED, replies={"wait": (OK,)})
    assert caught.value.code == "coordinator.scenario.reply-step"


def test_what_nobody_asked_for_is_noted() -> None:
    notes = sent(OK, OK, acts=(RETRY,)).notes
    assert [one.pointer for one in notes] == ["/replies/send/1", "/acts/0"]


def test_a_case_can_stop_in_the_middle() -> None:
    trace = sent(LOST, OK, acts=(RETRY,), stop=at(30))
    assert (trace.state, trace.elapsed_ms) == ("attention", 30_000)


def test_the_public_dialect_takes_no_time_and_stops_at_a_retryable_reply() -> None:
    trace = sent(BUSY, dialect=Dialect.PUBLIC)
    assert (trace.state, trace.path, trace.elapsed_ms) == ("retryable", ("send",), 0)
