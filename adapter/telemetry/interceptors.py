"""Interceptors of Temporal's SDK: the trace goes along, and the ends of attempts are counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import temporalio.client
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.contrib.opentelemetry import (
    TracingInterceptor,
    TracingWorkflowInboundInterceptor,
)
from temporalio.exceptions import ApplicationError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    HandleQueryInput,
    HandleSignalInput,
    HandleUpdateInput,
    Interceptor,
    WorkflowInterceptorClassInput,
)

from adapter.config.json_text import strict_json
from adapter.telemetry.meters import Meters
from adapter.telemetry.spans import Spans
from interpreter.contract import names
from interpreter.contract.effects import ReplyKind
from interpreter.contract.values import JsonValue

_OPERATION = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+/v[0-9]+")
_HEADER = "_tracer-data"
_POSTPONED = frozenset({names.RETRYABLE, names.GO_REMOTE, names.BUSY, names.HELD})
_ENDS = frozenset({"completed", "gone", "expired"})


class Tracing(TracingInterceptor):
    """Temporal's own tracing; what a stranger wrote into its header is no reason to fail a task.

    The header holds a trace id and a span id, and is in clear (docs/telemetry.md).
    """

    def __init__(self, spans: Spans) -> None:
        super().__init__(spans.tracer)

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[TracingWorkflowInboundInterceptor]:
        """The workflow's side of it."""
        super().workflow_interceptor_class(input)
        return _Guarded


class _Guarded(TracingWorkflowInboundInterceptor):
    def _load_workflow_context_carrier(self) -> Any:
        try:
            return super()._load_workflow_context_carrier()
        except Exception:  # the header of a start that was not ours
            return None

    async def handle_signal(self, input: HandleSignalInput) -> None:
        await super().handle_signal(replace(input, headers=_sound(input.headers)))

    async def handle_query(self, input: HandleQueryInput) -> Any:
        return await super().handle_query(replace(input, headers=_sound(input.headers)))

    def handle_update_validator(self, input: HandleUpdateInput) -> None:
        super().handle_update_validator(replace(input, headers=_sound(input.headers)))

    async def handle_update_handler(self, input: HandleUpdateInput) -> Any:
        return await super().handle_update_handler(replace(input, headers=_sound(input.headers)))


def _sound(headers: Mapping[str, Payload]) -> Mapping[str, Payload]:
    """The headers, without a trace header that is none."""
    if _HEADER not in headers:
        return headers
    try:
        carrier = strict_json(headers[_HEADER].data)
        sound = all(isinstance(value, str) for value in carrier.values())
    except (ValueError, AttributeError):
        sound = False
    return headers if sound else {k: v for k, v in headers.items() if k != _HEADER}


class EffectCounts(temporalio.client.Interceptor, Interceptor):
    """Counts how attempts of operations end; given to a client, it acts in its workers."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """Count around each activity."""
        return _Counting(next, self._meters)


class _Counting(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, meters: Meters) -> None:
        super().__init__(next)
        self._meters = meters

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        operation = activity.info().activity_type
        if operation.startswith(names.RESERVED_PREFIX) or not _OPERATION.fullmatch(operation):
            return await super().execute_activity(input)
        try:
            result = await super().execute_activity(input)
        except ApplicationError as error:
            self._postponed(operation, error.type or "")
            raise
        self._ended(operation, result)
        return result

    def _postponed(self, operation: str, kind: str) -> None:
        if kind == names.NOT_YET:
            self._meters.poll(operation, kind)
        elif kind in _POSTPONED:
            self._meters.effect(operation, kind)

    def _ended(self, operation: str, result: JsonValue) -> None:
        if "wait" in result:
            found = result["wait"]["resolution"]
            self._meters.poll(operation, found if found in _ENDS else "other")
        elif "accepted" in result:
            self._meters.effect(operation, ReplyKind.ACCEPTED.value)
        else:
            self._meters.effect(operation, result["reply"]["kind"])
