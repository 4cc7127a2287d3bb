"""What becomes of a signal, by where the run stands."""

from __future__ import annotations

from typing import Any

from interpreter.contract.effects import Reply, ReplyKind
from interpreter.machine import SignalVerdict, begin, judge
from interpreter.machine import commands as c
from interpreter.machine import events as e
from interpreter.machine.signals import MOST_KEPT_BYTES, MOST_KEPT_SIGNALS
from tests.fixtures.definitions import ADMITTED_MS, call, finish, program, start_of
from tests.interpreter.machine.test_advance import Play

ACCEPTED = Reply(ReplyKind.ACCEPTED, {"id": "r1"})
V = SignalVerdict


def wait(then: str, name: str = "paid", schema: Any = None, **outlets: str) -> dict[str, Any]:
    """A wait on a signal, whose payload is an object where nothing else is said."""
    source = {"type": "signal", "signal": name, "schema": schema or {"type": "object"}}
    return {
        "kind": "wait",
        "wait": {**source, "timeoutSeconds": 9},
        "outlets": {"resumed": then, **outlets},
    }


def signalled(id: str, payload: Any, name: str = "paid") -> e.Signalled:
    """The event of a signal."""
    return e.Signalled(name, id, payload, ADMITTED_MS)


def verdict(play: Play, payload: Any, name: str = "paid", id: str = "new") -> SignalVerdict:
    """What would become of a signal now."""
    return judge(play.program, play.state, name, id, payload).verdict


def test_only_a_declared_name_and_form_are_taken() -> None:
    play = Play(program({"wait": wait("done"), "done": finish()}))
    assert verdict(play, {}, "paid-twice") is V.UNKNOWN
    assert verdict(play, {}, "coordinator.hint") is V.UNKNOWN
    assert verdict(play, "no object") is V.UNFIT
    assert verdict(play, {}) is V.COMPLETED


def test_a_signal_is_late_once_every_wait_on_it_is_passed() -> None:
    nodes = {"wait": wait("send", expired="done"), "send": call("send", "done"), "done": finish()}
    play = Play(program(nodes))
    play.feed(signalled("s1", {}))
    assert verdict(play, {}) is V.LATE
    assert play.feed(signalled("s2", {})) == ()
    assert play.state.signals == ()


def test_a_signal_is_late_while_the_run_ends() -> None:
    play = Play(program({"wait": wait("done"), "done": finish()}))
    play.feed(signalled("s1", {}))
    assert verdict(play, {}) is V.LATE


def test_a_route_that_is_not_taken_makes_a_signal_late() -> None:
    nodes = {
        "send": call("send", "done", **{"refused:closed": "wait"}),
        "wait": wait("done"),
        "done": finish(),
    }
    nodes["send"]["operation"] = "submit"
    play = Play(program(nodes))
    assert verdict(play, {}) is V.KEPT
    play.answer("send", ACCEPTED)
    assert verdict(play, {}) is V.LATE


def test_an_early_signal_before_the_start_is_kept() -> None:
    play = Play(program({"wait": wait("done"), "done": finish()}))
    play.state = begin(start_of(play.program.definition))
    assert verdict(play, {}) is V.KEPT


def test_early_signals_are_kept_as_long_as_they_can_be_handed_over_together() -> None:
    play = Play(program({"send": call("send", "wait"), "wait": wait("done"), "done": finish()}))
    half = {"text": "é" * (MOST_KEPT_BYTES // 12)}
    play.feed(signalled("first", half))
    assert verdict(play, half) is V.TOO_MANY
    assert verdict(play, {}) is V.KEPT


def test_a_hundred_early_signals_are_kept_and_no_more() -> None:
    play = Play(program({"send": call("send", "wait"), "wait": wait("done"), "done": finish()}))
    for n in range(MOST_KEPT_SIGNALS):
        play.feed(signalled(f"s{n}", {}))
    assert verdict(play, {}) is V.TOO_MANY
    assert verdict(play, {}, id="s7") is V.KEPT
    play.feed(signalled("one-more", {}))
    play.answer("send", ACCEPTED)
    assert len(play.state.signals) == MOST_KEPT_SIGNALS - 1
    assert verdict(play, {}, id="s0") is V.COMPLETED


def test_a_kept_signal_goes_to_the_wait_whose_form_it_has() -> None:
    nodes = {
        "send": call("send", "number"),
        "number": wait("text", schema={"type": "integer"}),
        "text": wait("done", schema={"type": "string"}),
        "done": finish("done", {"list": [{"step": "number"}, {"step": "text"}]}),
    }
    play = Play(program(nodes))
    for id, payload in (("s1", "text"), ("s2", 7)):
        play.feed(signalled(id, payload))
    (close,) = play.answer("send", ACCEPTED)
    assert isinstance(close, c.Close)
    assert close.closing.output == [7, "text"]


def test_the_projection_of_a_wait_names_the_signal_that_it_took() -> None:
    nodes = {"send": call("send", "one"), "one": wait("two"), "two": wait("done")}
    play = Play(program(nodes | {"done": finish()}))
    play.feed(signalled("kept", {}))
    (second,) = play.answer("send", ACCEPTED)
    play.feed(signalled("now", {}))
    assert isinstance(second, c.StartTimer)
    steps = [*second.steps, *play.closing.steps]
    assert [step.code for step in steps if step.outlet == "resumed"] == ["kept", "now"]
