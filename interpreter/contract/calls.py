"""What a workflow hands to an activity and gets back; the JSON that stands in a history."""

from __future__ import annotations

from dataclasses import dataclass, replace

from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.records import Closed, Closing, RunState, StepRecord
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class CallRequest:
    """The input of an operation's activity.

    Run, branch, node, visit and generation are in the workflow id and the activity id, so an
    operator who opens the activity sees the operation's own input and little else. ``seen`` is the
    furthest position of the ledger that the workflow knows of (protocol rule 9); ``since_ms``,
    where this is not the first activity of the call, when the first one was asked for;
    ``not_before_ms`` until when the product has asked to be left alone. With ``only_asks`` nothing
    is sent whatever the ledger says: an execution tells it of an effect whose fate is unknown.
    Without an ``input``, which is an object, only the command on record is sent.
    """

    input: JsonValue
    sequence: int
    steps: tuple[StepRecord, ...] = ()
    after_cancel: bool = False
    seen: int = 0
    since_ms: int = 0
    not_before_ms: int = 0
    only_asks: bool = False

    def to_json(self) -> JsonValue:
        """``{input, sequence, steps?, afterCancel?, seen?, sinceMs?, notBeforeMs?, onlyAsks?}``."""
        result: dict[str, JsonValue] = {"input": self.input, "sequence": self.sequence}
        if self.steps:
            result["steps"] = [step.to_json() for step in self.steps]
        if self.after_cancel:
            result["afterCancel"] = True
        if self.seen:
            result["seen"] = self.seen
        if self.since_ms:
            result["sinceMs"] = self.since_ms
        if self.not_before_ms:
            result["notBeforeMs"] = self.not_before_ms
        if self.only_asks:
            result["onlyAsks"] = True
        return result

    @staticmethod
    def from_json(value: JsonValue) -> CallRequest:
        """The request that ``to_json`` wrote; KeyError or TypeError for anything else."""
        return CallRequest(
            value["input"],
            value["sequence"],
            tuple(StepRecord.from_json(step) for step in value.get("steps", ())),
            value.get("afterCancel", False),
            value.get("seen", 0),
            value.get("sinceMs", 0),
            value.get("notBeforeMs", 0),
            value.get("onlyAsks", False),
        )


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """The input of a poll: what to read, and until when (epoch milliseconds)."""

    input: JsonValue
    sequence: int
    until_ms: int
    steps: tuple[StepRecord, ...] = ()
    hinted: bool = False

    def to_json(self) -> JsonValue:
        """``{observe: {input, sequence, untilMs, steps?, hinted?}}``."""
        result: dict[str, JsonValue] = {
            "input": self.input,
            "sequence": self.sequence,
            "untilMs": self.until_ms,
        }
        if self.steps:
            result["steps"] = [step.to_json() for step in self.steps]
        if self.hinted:
            result["hinted"] = True
        return {"observe": result}

    @staticmethod
    def from_json(value: JsonValue) -> ObserveRequest:
        """The request that ``to_json`` wrote; KeyError or TypeError for anything else."""
        inner = value["observe"]
        return ObserveRequest(
            inner["input"],
            inner["sequence"],
            inner["untilMs"],
            tuple(StepRecord.from_json(step) for step in inner.get("steps", ())),
            inner.get("hinted", False),
        )


@dataclass(frozen=True, slots=True)
class OpenWaitRequest:
    """The input of the activity that writes an opened wait before the run goes idle."""

    kind: str
    sequence: int
    until_ms: int | None
    steps: tuple[StepRecord, ...] = ()

    def to_json(self) -> JsonValue:
        """``{kind, sequence, untilMs, steps}``."""
        return {
            "kind": self.kind,
            "sequence": self.sequence,
            "untilMs": self.until_ms,
            "steps": [step.to_json() for step in self.steps],
        }

    @staticmethod
    def from_json(value: JsonValue) -> OpenWaitRequest:
        """The request that ``to_json`` wrote; KeyError or TypeError for anything else."""
        return OpenWaitRequest(
            value["kind"],
            value["sequence"],
            value["untilMs"],
            tuple(StepRecord.from_json(step) for step in value["steps"]),
        )


@dataclass(frozen=True, slots=True)
class WaitEnd:
    """How a wait ended on record: ``completed`` with its value, ``gone``, ``expired``…

    ``deadline`` where it was completed and its source gave no value until the run's deadline.
    """

    resolution: str
    value: JsonValue = None


@dataclass(frozen=True, slots=True)
class GivenSignal:
    """A signal on record: its id and its payload."""

    id: str
    payload: JsonValue


class PlainValue:
    """What to ask a converter for where a value may come unsealed, from Temporal's own tools."""


@dataclass(frozen=True, slots=True)
class EndedWait:
    """A signal wait that the ledger has ended: by this signal, or by time (None).

    ``stopped`` is ``cancel`` where a cancel was on record before, and ends it once it is heard of,
    and ``cancel`` or ``deadline`` where a signal has ended it that nobody has any more, and nobody
    is to wait for another one, since the run is stopped.
    """

    signal: GivenSignal | None
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class OnRecord:
    """What the ledger holds of a visit that its execution, gone back to earlier, has still ahead.

    ``resolution`` is how a wait ended and ``signal`` what completed it: a wait that was ``resumed``
    without one can not end so again. ``kept`` says that the signal was there before the wait, which
    never opened. All are empty for a call.
    """

    resolution: str = ""
    signal: GivenSignal | None = None
    kept: bool = False


def call_result(activity_id: str, reply: Reply) -> JsonValue:
    """The envelope of a call's result: which attempt it answers, and the reply.

    ``{of, accepted}`` for the usual answer, ``{of, reply}`` for every other, and ``at`` with the
    ledger's position where it is known.
    """
    at = {"at": reply.position} if reply.position else {}
    if reply.kind is ReplyKind.ACCEPTED and not reply.code:
        return {"of": activity_id, "accepted": reply.output, **at}
    return {"of": activity_id, "reply": reply.to_json(), **at}


def call_reply(activity_id: str, result: JsonValue) -> Reply | None:
    """The reply inside an envelope, or None for a result that this project did not write.

    Anybody with the Temporal CLI can complete an activity by hand; such a result is no reply
    (protocol rule 3).
    """
    try:
        if result["of"] != activity_id:
            return None
        position = result.get("at", 0)
        if not isinstance(position, int):
            return None
        if "accepted" in result:
            return Reply(ReplyKind.ACCEPTED, result["accepted"], position=position)
        return replace(Reply.from_json(result["reply"]), position=position)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def again_result(activity_id: str, position: int) -> JsonValue:
    """The envelope of a call that is to be made again, with how far the ledger is."""
    return {"of": activity_id, "again": position}


def again_position(activity_id: str, result: JsonValue) -> int:
    """The position inside such an envelope; 0 for a result that this project did not write."""
    try:
        position = result["again"] if result["of"] == activity_id else 0
    except (KeyError, TypeError):
        return 0
    return position if isinstance(position, int) else 0


def wait_result(activity_id: str, end: WaitEnd) -> JsonValue:
    """The envelope of a poll's result."""
    return {"of": activity_id, "wait": {"resolution": end.resolution, "value": end.value}}


def wait_end(activity_id: str, result: JsonValue) -> WaitEnd | None:
    """The end inside an envelope, or None for a result that this project did not write."""
    try:
        if result["of"] != activity_id:
            return None
        return WaitEnd(result["wait"]["resolution"], result["wait"]["value"])
    except (KeyError, TypeError, AttributeError):
        return None


def ended_wait_result(activity_id: str, ended: EndedWait) -> JsonValue:
    """The envelope of an ended signal wait: ``{of, signal: {id, payload} | null, stopped?}``."""
    result: dict[str, JsonValue] = {"of": activity_id, "signal": _signal_to_json(ended.signal)}
    if ended.stopped:
        result["stopped"] = ended.stopped
    return result


def ended_wait(activity_id: str, result: JsonValue) -> EndedWait | None:
    """What an envelope says, or None for a result that this project did not write."""
    try:
        if result["of"] != activity_id:
            return None
        stopped = result.get("stopped", "")
        return EndedWait(_signal_from_json(result["signal"]), stopped)
    except (KeyError, TypeError, AttributeError):
        return None


def end_wait_request(*, after_cancel: bool) -> JsonValue:
    """The input of the activity that ends a signal wait: ``{afterCancel: true}``, or null."""
    return {"afterCancel": True} if after_cancel else None


def cancel_result(activity_id: str, ahead: dict[str, OnRecord]) -> JsonValue:
    """The envelope of a recorded cancel: ``{of, ahead: {visit: {resolution, signal, kept?}}}``."""
    told = {}
    for visit, one in ahead.items():
        told[visit] = {"resolution": one.resolution, "signal": _signal_to_json(one.signal)}
        if one.kept:
            told[visit]["kept"] = True
    return {"of": activity_id, "ahead": told}


def cancel_ahead(activity_id: str, result: JsonValue) -> dict[str, OnRecord] | None:
    """What such an envelope says is ahead, or None for a result that this project did not write.

    Nothing is ahead in ``{}``, which is what was written before there was an envelope.
    """
    if result == {}:
        return {}
    try:
        if result["of"] != activity_id:
            return None
        return {
            visit: OnRecord(
                one["resolution"], _signal_from_json(one["signal"]), one.get("kept", False) is True
            )
            for visit, one in result["ahead"].items()
        }
    except (KeyError, TypeError, AttributeError):
        return None


def _signal_to_json(signal: GivenSignal | None) -> JsonValue:
    return None if signal is None else {"id": signal.id, "payload": signal.payload}


def _signal_from_json(given: JsonValue) -> GivenSignal | None:
    return None if given is None else GivenSignal(given["id"], given["payload"])


def closing_to_json(closing: Closing) -> JsonValue:
    """The input of the closing write."""
    result: dict[str, JsonValue] = {
        "state": closing.state.value,
        "sequence": closing.sequence,
        "outcome": closing.outcome,
        "output": closing.output,
        "failureCode": closing.failure_code,
        "failurePlace": closing.failure_place,
        "steps": [step.to_json() for step in closing.steps],
    }
    if closing.seen:
        result["seen"] = closing.seen
    if closing.despite_cancel:
        result["despiteCancel"] = True
    if closing.changed:
        result["changed"] = True
    return result


def closing_from_json(value: JsonValue) -> Closing:
    """The closing that ``closing_to_json`` wrote; KeyError, TypeError or ValueError if none."""
    return Closing(
        RunState(value["state"]),
        value["sequence"],
        value["outcome"],
        value["output"],
        value["failureCode"],
        value["failurePlace"],
        tuple(StepRecord.from_json(step) for step in value["steps"]),
        value.get("seen", 0),
        value.get("despiteCancel", False),
        value.get("changed", False),
    )


def closed_to_json(closed: Closed, asked: Closing) -> JsonValue:
    """The result of the closing write: only what differs from what was asked, to spare history."""
    result: dict[str, JsonValue] = {"closed": closed.state.value}
    same = (closed.outcome, closed.output, closed.failure_code) == (
        asked.outcome,
        asked.output,
        asked.failure_code,
    )
    if not same:
        result["record"] = {
            "outcome": closed.outcome,
            "output": closed.output,
            "failureCode": closed.failure_code,
        }
    return result


def closed_from_json(value: JsonValue, asked: Closing) -> Closed | None:
    """The outcome on record, or None for a result that this project did not write."""
    try:
        state = RunState(value["closed"])
        record = value.get("record")
        if record is None:
            return Closed(state, asked.outcome, asked.output, asked.failure_code)
        return Closed(state, record["outcome"], record["output"], record["failureCode"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
