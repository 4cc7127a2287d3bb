"""Payloads as Temporal keeps them, and the definition that is fetched before a run needs it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    PayloadCodec,
)
from temporalio.converter import PayloadConverter as Converter
from temporalio.exceptions import ApplicationError

from interpreter.contract.runs import Binding, StartRun

_MARK = "coordinator"
_START = b"start/v1"
# How runs that were started before the mark was shortened carry it: their histories still replay.
_EARLIER_MARK, _EARLIER_START = "coordinatorMessage", b"start-run/v1"

Prefetch = Callable[[StartRun], Awaitable[None]]
"""Fills this process's cache of definitions for a run; raises to have the task tried again."""


class JsonConverter(EncodingPayloadConverter):
    """Plain JSON; the start of a run carries a mark of its own and stays readable in the UI."""

    def __init__(self, usual: EncodingPayloadConverter) -> None:
        self._usual = usual

    @property
    def encoding(self) -> str:
        """That of Temporal's own JSON converter."""
        return self._usual.encoding

    def to_payload(self, value: Any) -> Payload | None:
        """A marked payload for a StartRun, the usual one for anything else."""
        if not isinstance(value, StartRun):
            return self._usual.to_payload(value)
        data = json.dumps(_start_to_json(value), separators=(",", ":"), ensure_ascii=False)
        metadata = {"encoding": self.encoding.encode(), _MARK: _START}
        return Payload(metadata=metadata, data=data.encode())

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        """A StartRun where one is asked for and the payload is marked, else the JSON value."""
        if type_hint is StartRun and _is_start(payload):
            return start_from_json(json.loads(payload.data))
        return self._usual.from_payload(payload, None if type_hint is StartRun else type_hint)


class PayloadConverter(CompositePayloadConverter):
    """Temporal's own converters, with ours around the one for plain JSON."""

    def __init__(self) -> None:
        super().__init__(
            *(
                JsonConverter(usual) if usual.encoding == "json/plain" else usual
                for usual in DefaultPayloadConverter.default_encoding_payload_converters
            )
        )


class FailureConverter(DefaultFailureConverter):
    """Temporal's own, without the stack of an error that this project raises on purpose.

    A poll that found nothing yet is no fault: people who look at it in the UI need its words, and
    no paths of the machine that it ran on.
    """

    def to_failure(
        self, exception: BaseException, payload_converter: Converter, failure: Failure
    ) -> None:
        """Write the failure; stacks stay with the errors that nobody expected."""
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, ApplicationError):
            failure.stack_trace = ""


class PrefetchCodec(PayloadCodec):
    """Fills the definitions' cache when it meets a marked start, before the workflow is made.

    Decoding is awaited by the SDK outside the workflow's two seconds, on the first task, after an
    eviction, and in a replay; so a workflow never loads anything (Temporal docs: payload codecs).
    """

    def __init__(self, prefetch: Prefetch) -> None:
        self._prefetch = prefetch

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Payloads as they are."""
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Payloads as they are, once the definition of a marked start is at hand."""
        for payload in payloads:
            if _is_start(payload):
                await self._prefetch(start_from_json(json.loads(payload.data)))
        return list(payloads)


def data_converter(prefetch: Prefetch | None = None) -> DataConverter:
    """The converter of clients (no prefetch) and workers (with one)."""
    return DataConverter(
        payload_converter_class=PayloadConverter,
        failure_converter_class=FailureConverter,
        payload_codec=None if prefetch is None else PrefetchCodec(prefetch),
    )


def _is_start(payload: Payload) -> bool:
    marks = payload.metadata
    return marks.get(_MARK) == _START or marks.get(_EARLIER_MARK) == _EARLIER_START


def _start_to_json(start: StartRun) -> dict[str, Any]:
    binding = {
        key: value
        for key, value in (
            ("dispatch", start.binding.dispatch),
            ("taskQueues", start.binding.task_queues),
        )
        if value
    }
    result: dict[str, Any] = {
        "version": start.version,
        "revision": start.revision,
        "admittedAt": start.admitted_at,
        "deadlineAt": start.deadline_at,
        "input": start.input,
    }
    if binding:
        result["binding"] = binding
    if start.state is not None:
        result["state"] = start.state
    return result


def start_from_json(value: dict[str, Any]) -> StartRun:
    """The start that the converter wrote; KeyError or TypeError for anything else.

    Workflow, run id and execution stand in the workflow id alone (``StartRun.as_execution``).
    """
    binding = value.get("binding", {})
    return StartRun(
        run_id="",
        workflow="",
        version=value["version"],
        revision=value["revision"],
        input=value["input"],
        admitted_at=value["admittedAt"],
        deadline_at=value["deadlineAt"],
        binding=Binding(binding.get("dispatch", {}), binding.get("taskQueues", {})),
        state=value.get("state"),
    )
