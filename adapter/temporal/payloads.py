"""Payloads as Temporal keeps them, and the definition that is fetched before a run needs it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    CompositePayloadConverter,
    DataConverter,
    DefaultPayloadConverter,
    EncodingPayloadConverter,
    PayloadCodec,
)

from interpreter.contract.runs import Binding, StartRun

_MARK = "coordinatorMessage"
_START = b"start-run/v1"

Prefetch = Callable[[StartRun], Awaitable[None]]
"""Fills this process's cache of definitions for a run; raises to have the task tried again."""


class StartRunConverter(EncodingPayloadConverter):
    """Writes the start of a run as readable JSON that carries a mark of its own."""

    @property
    def encoding(self) -> str:
        """JSON, so that the Temporal UI shows it."""
        return "json/plain"

    def to_payload(self, value: Any) -> Payload | None:
        """The payload of a StartRun; None for everything else."""
        if not isinstance(value, StartRun):
            return None
        data = json.dumps(_start_to_json(value), separators=(",", ":"), ensure_ascii=False)
        return Payload(
            metadata={"encoding": self.encoding.encode(), _MARK: _START}, data=data.encode()
        )

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        """A marked payload as StartRun, any other JSON as it is."""
        value = json.loads(payload.data)
        if payload.metadata.get(_MARK) == _START and type_hint is StartRun:
            return start_from_json(value)
        return value


class PayloadConverter(CompositePayloadConverter):
    """Temporal's own converters, with the start of a run before plain JSON."""

    def __init__(self) -> None:
        own = StartRunConverter()
        usual = DefaultPayloadConverter.default_encoding_payload_converters
        super().__init__(
            own, *(_After(own, each) if each.encoding == own.encoding else each for each in usual)
        )


class _After(EncodingPayloadConverter):
    """Plain JSON under an encoding that two converters share: written second, read by the first."""

    def __init__(self, first: StartRunConverter, usual: EncodingPayloadConverter) -> None:
        self._first = first
        self._usual = usual

    @property
    def encoding(self) -> str:
        return self._usual.encoding

    def to_payload(self, value: Any) -> Payload | None:
        return self._usual.to_payload(value)

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        if payload.metadata.get(_MARK) == _START:
            return self._first.from_payload(payload, type_hint)
        return self._usual.from_payload(payload, type_hint)


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
            if payload.metadata.get(_MARK) == _START:
                await self._prefetch(start_from_json(json.loads(payload.data)))
        return list(payloads)


def data_converter(prefetch: Prefetch | None = None) -> DataConverter:
    """The converter of clients (no prefetch) and workers (with one)."""
    return DataConverter(
        payload_converter_class=PayloadConverter,
        payload_codec=None if prefetch is None else PrefetchCodec(prefetch),
    )


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
        "runId": start.run_id,
        "workflow": start.workflow,
        "version": start.version,
        "revision": start.revision,
        "admittedAt": start.admitted_at,
        "deadlineAt": start.deadline_at,
        "input": start.input,
    }
    if start.execution != 1:
        result["execution"] = start.execution
    if binding:
        result["binding"] = binding
    if start.state is not None:
        result["state"] = start.state
    return result


def start_from_json(value: dict[str, Any]) -> StartRun:
    """The start of a run that the converter wrote; KeyError or TypeError for anything else."""
    binding = value.get("binding", {})
    return StartRun(
        run_id=value["runId"],
        workflow=value["workflow"],
        version=value["version"],
        revision=value["revision"],
        input=value["input"],
        admitted_at=value["admittedAt"],
        deadline_at=value["deadlineAt"],
        execution=value.get("execution", 1),
        binding=Binding(binding.get("dispatch", {}), binding.get("taskQueues", {})),
        state=value.get("state"),
    )
