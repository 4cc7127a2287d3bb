"""The paths of the driver that are recorded: nodes, scripted replies, and what a person does."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from temporalio.client import WorkflowHandle, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from interpreter.contract import names
from interpreter.contract.calls import GivenSignal, OnRecord, WaitEnd
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closed, RunState
from tests.fixtures.definitions import call, finish, review
from tests.fixtures.scripted import ScriptedActivities, accepted, not_yet

Act = Callable[[WorkflowHandle[Any, Any], ScriptedActivities], Awaitable[None]]

REVIEWED: dict[str, Any] = {
    "submit": call("submit", "wait", **{"refused:closed": "refused"}),
    "wait": review("send", expired="late", cancelled="undo"),
    "send": call("send", "done", {"object": {"to": {"step": "wait", "path": "/decision"}}}),
    "undo": call("submit", "stopped"),
    "done": finish("done", {"step": "wait"}),
    "late": finish("late"),
    "stopped": finish("stopped"),
    "refused": finish("refused", {"step": "submit"}),
}
READS: dict[str, Any] = {
    "one": call("read", "two"),
    "two": call("read", "which", {"object": {"id": {"step": "one", "path": "/id"}}}),
    "which": {
        "kind": "choose",
        "choose": {"step": "two", "path": "/label"},
        "outlets": {"left": "done", "right": "other"},
    },
    "done": finish("done", {"step": "two", "path": "/label"}),
    "other": finish("other"),
}
EFFECTS: dict[str, Any] = {
    "one": call("send", "two"),
    "two": call("send", "done", {"step": "one"}),
    "done": finish(),
}
INSTANT: dict[str, Any] = {
    "wait": {
        "kind": "wait",
        "wait": {"type": "duration", "seconds": 1},
        "outlets": {"elapsed": "done"},
    },
    "done": finish(),
}
PASSED: dict[str, Any] = {
    "one": call("send", "wait"),
    "wait": {**INSTANT["wait"], "wait": {"type": "duration", "seconds": 3}},
    "done": finish(),
}
SIGNAL: dict[str, Any] = {
    "wait": {
        "kind": "wait",
        "wait": {
            "type": "signal",
            "signal": "paid",
            "schema": {"type": "object"},
            "timeoutSeconds": 99,
        },
        "outlets": {"resumed": "done"},
    },
    "done": finish("done", {"step": "wait"}),
}
_SIGNAL_ID = "0b9d5a0e-0000-4000-8000-00000000000a"
SHORT_SIGNAL: dict[str, Any] = {
    "wait": {
        **SIGNAL["wait"],
        "wait": {**SIGNAL["wait"]["wait"], "timeoutSeconds": 1},
        "outlets": {"resumed": "done", "expired": "late"},
    },
    "done": SIGNAL["done"],
    "late": finish("late"),
}
LOST: dict[str, Any] = {
    **SHORT_SIGNAL,
    "wait": {**SHORT_SIGNAL["wait"], "outlets": {"resumed": "send", "expired": "late"}},
    "send": call("send", "done"),
}
CANCELLED_TWICE: dict[str, Any] = {
    "wait": {**SIGNAL["wait"], "outlets": {"resumed": "done", "cancelled": "pause"}},
    "pause": {**INSTANT["wait"], "outlets": {"elapsed": "undo"}},
    "undo": call("send", "done"),
    "done": finish(),
}
MUCH: dict[str, Any] = {
    "first": {"kind": "map", "value": {"literal": "x" * 60_000}, "outlets": {"next": "much0"}},
    **{
        f"much{n}": {
            "kind": "map",
            "value": {"list": [{"step": "first"}] * 4},
            "outlets": {"next": f"much{n + 1}"},
        }
        for n in range(27)
    },
    "much27": {
        "kind": "map",
        "value": {"list": [{"step": "first"}] * 5},
        "outlets": {"next": "send"},
    },
    "send": call("send", "done"),
    "done": finish(),
}
"""More than a run may keep, and a value that is too large."""
LARGE_OUTPUT: dict[str, Any] = {
    "first": {**MUCH["first"], "outlets": {"next": "send"}},
    "send": call("send", "done"),
    "done": finish("done", {"list": [{"step": "first"}] * 5}),
}
COMPLETED = WaitEnd("completed", {"decision": "approved"})
UNKNOWN = Reply(ReplyKind.UNKNOWN, code="transport-uncertain")


@dataclass(frozen=True)
class Path:
    """One recorded path; ``make`` gives fresh scripted activities.

    ``first`` keeps the execution that began it instead of the one that ended it; ``deadline`` is
    that of the run, in seconds from its start.
    """

    nodes: dict[str, Any]
    make: Callable[[], ScriptedActivities]
    act: Act | None = None
    first: bool = False
    deadline: float = 30 * 86_400


async def asked(script: ScriptedActivities, count: int) -> None:
    """Wait until so many activities were asked."""
    for _ in range(500):
        if len(script.asked) >= count:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the run did not come that far")


_FIRST_WAIT = "main/wait:1"


def _script(
    resolutions: list[Reply | None] | None = None,
    recorded: Closed | None = None,
    receipts: list[Reply | None] | None = None,
    records: list[Closed | None] | None = None,
    first_signals: list[GivenSignal | None] | None = None,
    stopped: str = "",
    ahead: dict[str, OnRecord] | None = None,
    forged_cancels: int = 0,
    **replies: Any,
) -> Callable[[], ScriptedActivities]:
    def make() -> ScriptedActivities:
        script = ScriptedActivities(**{node: list(steps) for node, steps in replies.items()})
        script.resolutions = list(resolutions or [None])
        script.receipts = list(receipts or [None])
        script.records = list(records or [])
        script.recorded = recorded
        script.first_signals = list(first_signals or [None])
        script.stopped = stopped
        script.ahead = ahead
        script.forged_cancels = forged_cancels
        return script

    return make


async def _hint(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    await asked(script, 2)
    await asyncio.sleep(0.3)
    await handle.signal("coordinator.hint")


async def _cancel_the_wait(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    await asked(script, 2)
    await asyncio.sleep(0.3)
    await handle.cancel()


async def _cancel_the_call(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    await asked(script, 1)
    await asyncio.sleep(0.3)
    await handle.cancel()


async def _pay(handle: WorkflowHandle[Any, Any], _: ScriptedActivities) -> None:
    await handle.signal("paid", {"amount": 3})


async def _pay_on_record(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    while not script.opened:
        await asyncio.sleep(0.05)
    given = {"name": "paid", "id": _SIGNAL_ID, "payload": {"amount": 3}}
    await handle.execute_update(names.SIGNAL, given, id=_SIGNAL_ID)


async def _pay_after_junk(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    while not script.opened:
        await asyncio.sleep(0.05)
    await handle.signal("paid", "junk")
    await handle.signal("unheard-of")
    await handle.signal("paid", {"amount": 3})


async def nudged(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    """Ask a run that waits to continue as new, and wait until it stands there again."""
    while not script.opened:
        await asyncio.sleep(0.05)
    await handle.signal(names.HAND_OVER_SIGNAL)
    while len(script.opened) < 2:
        await asyncio.sleep(0.05)


async def _pay_after_a_nudge(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    await nudged(handle, script)
    await _pay(handle, script)


async def _nudge_a_back_off(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    await asked(script, 1)
    await asyncio.sleep(0.3)
    script.replies["one"] = [accepted()]
    await handle.signal(names.HAND_OVER_SIGNAL)


async def _cancel_twice(handle: WorkflowHandle[Any, Any], script: ScriptedActivities) -> None:
    while not script.opened:
        await asyncio.sleep(0.05)
    await handle.cancel()
    while len(script.opened) < 2:
        await asyncio.sleep(0.05)
    await handle.signal(names.HAND_OVER_SIGNAL)
    await asked(script, 1)
    await asyncio.sleep(0.3)
    await handle.cancel()


async def _cancel_when_it_ends(
    handle: WorkflowHandle[Any, Any], script: ScriptedActivities
) -> None:
    while not script.ended:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    await handle.cancel()


async def _end_past_the_deadline(
    handle: WorkflowHandle[Any, Any], script: ScriptedActivities
) -> None:
    script.hold["end"] = asyncio.Event()
    await asyncio.sleep(5)
    assert script.ended
    script.hold["end"].set()


async def _cancel_when_it_waits(
    handle: WorkflowHandle[Any, Any], script: ScriptedActivities
) -> None:
    while not script.opened:
        await asyncio.sleep(0.05)
    await handle.cancel()


async def taken(handle: WorkflowHandle[Any, Any], name: str, generation: int) -> None:
    """Deliver an act, again while the run has not come to its attention yet."""
    act = f"act-{generation}"
    payload = {"visit": "main/one:1", "generation": generation, "act": act}
    for _ in range(200):
        try:
            await handle.execute_update(name, payload, id=f"{name}-{act}")
            return
        except WorkflowUpdateFailedError:
            await asyncio.sleep(0.05)
    raise AssertionError("the act was never taken")


async def _retry_same(handle: WorkflowHandle[Any, Any], _: ScriptedActivities) -> None:
    await taken(handle, names.RETRY_SAME, 2)


async def _retry_what_is_passed(
    handle: WorkflowHandle[Any, Any], script: ScriptedActivities
) -> None:
    while not script.opened:
        await asyncio.sleep(0.05)
    await taken(handle, names.RETRY_SAME, 2)
    await asked(script, 2)


async def _retry_same_twice(handle: WorkflowHandle[Any, Any], _: ScriptedActivities) -> None:
    await taken(handle, names.RETRY_SAME, 2)
    await asyncio.sleep(0.5)
    await taken(handle, names.RETRY_SAME, 3)


async def _reconcile(handle: WorkflowHandle[Any, Any], _: ScriptedActivities) -> None:
    await taken(handle, names.RECONCILE, 1)


async def _reconcile_then_retry(
    handle: WorkflowHandle[Any, Any], script: ScriptedActivities
) -> None:
    await taken(handle, names.RECONCILE, 1)
    while not script.reconciled:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)
    await taken(handle, names.RETRY_SAME, 2)


async def _cancel_then_reconcile(
    handle: WorkflowHandle[Any, Any], script: ScriptedActivities
) -> None:
    await asked(script, 1)
    await asyncio.sleep(0.3)
    await handle.cancel()
    while script.cancels == 0:
        await asyncio.sleep(0.02)
    await taken(handle, names.RECONCILE, 1)


async def _nudge_then_reconcile(
    handle: WorkflowHandle[Any, Any], script: ScriptedActivities
) -> None:
    await asked(script, 1)
    await asyncio.sleep(0.3)
    await handle.signal(names.HAND_OVER_SIGNAL)
    while not script.confirmed:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    await taken(handle, names.RECONCILE, 1)


READ = accepted({"id": "r1", "label": "left"})

PATHS: dict[str, Path] = {
    "reads": Path(READS, _script(one=[READ], two=[READ])),
    "read-goes-remote": Path(
        READS, _script(one=[ApplicationError("slow", type="go-remote"), READ], two=[READ])
    ),
    "effects": Path(EFFECTS, _script(one=[accepted()], two=[accepted()])),
    "effect-retried": Path(EFFECTS, _script(one=[not_yet(0.1), accepted()], two=[accepted()])),
    "refused": Path(REVIEWED, _script(submit=[Reply(ReplyKind.DECLARED_REFUSAL, code="closed")])),
    "failed": Path(EFFECTS, _script(one=[Reply(ReplyKind.REFUSED, code="product-not-found")])),
    "reviewed": Path(
        REVIEWED, _script(submit=[accepted()], wait=[not_yet(0.1), COMPLETED], send=[accepted()])
    ),
    "hinted": Path(
        REVIEWED,
        _script(submit=[accepted()], wait=[not_yet(900), COMPLETED], send=[accepted()]),
        _hint,
    ),
    "wait-expired": Path(REVIEWED, _script(submit=[accepted()], wait=[WaitEnd("expired")])),
    "wait-cancelled": Path(
        REVIEWED,
        _script(submit=[accepted()], wait=[not_yet(900)], undo=[accepted()]),
        _cancel_the_wait,
    ),
    "wait-cancelled-before": Path(
        REVIEWED,
        _script(submit=[accepted()], wait=[WaitEnd("cancelled")], undo=[accepted()]),
        _cancel_the_wait,
    ),
    "cancel-insisted": Path(
        REVIEWED,
        _script(submit=[accepted()], wait=[not_yet(900)], undo=[accepted()], forged_cancels=2),
        _cancel_the_wait,
    ),
    "call-cancelled": Path(
        EFFECTS,
        _script(one=[not_yet(900), Reply(ReplyKind.NOT_PERMITTED, code="cancel")]),
        _cancel_the_call,
    ),
    "completed-by-hand": Path(
        EFFECTS, _script(one=[None], two=[accepted()], resolutions=[accepted()])
    ),
    "positions": Path(
        EFFECTS,
        _script(one=[Reply(ReplyKind.ACCEPTED, {"id": "r1"}, position=4)], two=[None, accepted()]),
    ),
    "late-acceptance": Path(
        EFFECTS, _script(one=[None], two=[accepted()], resolutions=[None, accepted()])
    ),
    "closed-elsewhere": Path(
        READS, _script(one=[READ], two=[READ], recorded=Closed(RunState.EXPIRED))
    ),
    "deadline": Path(EFFECTS, _script(one=[Reply(ReplyKind.NOT_PERMITTED, code="deadline")])),
    "duration": Path(INSTANT, _script()),
    "signal": Path(SIGNAL, _script(), _pay),
    "signal-on-record": Path(SIGNAL, _script(), _pay_on_record),
    "signal-after-junk": Path(SIGNAL, _script(), _pay_after_junk),
    "signal-nudged": Path(SIGNAL, _script(), _pay_after_a_nudge, first=True),
    "signal-nudged-onward": Path(SIGNAL, _script(), _pay_after_a_nudge),
    "signal-expired": Path(SHORT_SIGNAL, _script()),
    "signal-came-first": Path(
        SHORT_SIGNAL, _script(first_signals=[GivenSignal(_SIGNAL_ID, {"amount": 5})])
    ),
    "late-wait-expired": Path(SHORT_SIGNAL, _script(), _end_past_the_deadline, deadline=4),
    # Recorded before a late wait expired: such an execution goes on as it began.
    "late-wait-finished": Path(SHORT_SIGNAL, _script(), _end_past_the_deadline, deadline=4),
    "lost-signal-cancelled": Path(
        LOST,
        _script(stopped="cancel", ahead={_FIRST_WAIT: OnRecord("signal-lost")}),
        _cancel_when_it_ends,
    ),
    "lost-signal-expired": Path(LOST, _script(stopped="deadline")),
    "cancelled-behind-its-record": Path(
        {**LOST, "wait": {**LOST["wait"], "wait": SIGNAL["wait"]["wait"]}},
        _script(
            send=[accepted()],
            ahead={
                _FIRST_WAIT: OnRecord("resumed", GivenSignal(_SIGNAL_ID, {"amount": 5})),
                "main/send:1": OnRecord(),
            },
        ),
        _cancel_when_it_waits,
    ),
    "retried-same": Path(
        EFFECTS, _script(one=[UNKNOWN, accepted()], two=[accepted()]), _retry_same
    ),
    "retried-twice": Path(
        EFFECTS, _script(one=[UNKNOWN, UNKNOWN, accepted()], two=[accepted()]), _retry_same_twice
    ),
    "sent-again": Path(PASSED, _script(one=[accepted(), accepted()]), _retry_what_is_passed),
    "reconciled": Path(
        EFFECTS, _script(one=[UNKNOWN], two=[accepted()], receipts=[accepted()]), _reconcile
    ),
    "reconciled-in-vain": Path(
        EFFECTS, _script(one=[UNKNOWN, accepted()], two=[accepted()]), _reconcile_then_retry
    ),
    "back-off-moved": Path(
        EFFECTS, _script(one=[not_yet(900)], two=[accepted()]), _nudge_a_back_off, first=True
    ),
    "back-off-gone-on": Path(
        EFFECTS, _script(one=[not_yet(900)], two=[accepted()]), _nudge_a_back_off
    ),
    # Recorded before a back-off could be moved: such an execution goes on as it began.
    "back-off-stayed": Path(
        EFFECTS, _script(one=[not_yet(2), accepted()], two=[accepted()]), _nudge_a_back_off
    ),
    "large-output": Path(LARGE_OUTPUT, _script(send=[accepted()])),
    # Recorded before these two were so: such an execution goes on as it began.
    "cancelled-twice": Path(CANCELLED_TWICE, _script(undo=[not_yet(2), accepted()]), _cancel_twice),
    "much": Path(MUCH, _script(send=[accepted()])),
    "attention-then-cancelled": Path(
        EFFECTS, _script(one=[UNKNOWN], receipts=[accepted()]), _cancel_then_reconcile
    ),
    "doubt-confirmed": Path(
        EFFECTS, _script(one=[UNKNOWN], receipts=[accepted()]), _cancel_then_reconcile
    ),
    "doubt-confirmed-anew": Path(
        EFFECTS,
        _script(one=[UNKNOWN], two=[accepted()], receipts=[accepted()]),
        _nudge_then_reconcile,
    ),
    "wanted-end-reconciled": Path(
        EFFECTS,
        _script(
            one=[Reply(ReplyKind.NOT_PERMITTED, code="deadline")],
            records=[Closed(RunState.ATTENTION), Closed(RunState.EXPIRED)],
        ),
        _reconcile,
    ),
}


_LARGE = {"id": "r1", "text": random.Random(1).randbytes(33_000).hex()}
SEALED: dict[str, Path] = {
    "sealed-large": Path(EFFECTS, _script(one=[accepted(_LARGE)], two=[accepted()])),
    **{f"sealed-{name}": PATHS[name] for name in ("reviewed", "retried-same", "signal-on-record")},
}
"""Paths that are recorded under keys, one of them with payloads that a ledger keeps."""
