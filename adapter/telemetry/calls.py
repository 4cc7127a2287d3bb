"""Calls of products as metrics and spans."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.trace import SpanKind

from adapter.telemetry.meters import Meters
from adapter.telemetry.spans import Spans, trace_headers

_CUT_OFF = "cut-off"
"""The class of a call that gave no reply, because its attempt was ended meanwhile."""


@dataclass(slots=True)
class _Watched:
    headers: tuple[tuple[str, str], ...] = ()
    kind: str = _CUT_OFF

    def ended(self, kind: str) -> None:
        self.kind = kind


class WatchedCalls:
    """Looks on at the calls of a worker (``activities.products.watching.CallWatch``)."""

    def __init__(self, meters: Meters | None, spans: Spans | None) -> None:
        self._meters = meters
        self._spans = spans

    @contextmanager
    def call(self, operation: str, connection: str) -> Iterator[_Watched]:
        """One call: its requests carry the trace, its duration and class are noted."""
        begun = time.monotonic()
        watched = _Watched()
        try:
            if self._spans is None:
                yield watched
            else:
                yield from self._in_span(self._spans, watched, operation, connection)
        finally:
            if self._meters is not None:
                seconds = time.monotonic() - begun
                self._meters.call(operation, connection, watched.kind, seconds)

    def _in_span(
        self, spans: Spans, watched: _Watched, operation: str, connection: str
    ) -> Iterator[_Watched]:
        attributes = {"coordinator.operation": operation, "coordinator.connection": connection}
        with spans.tracer.start_as_current_span(
            f"call {operation}", kind=SpanKind.CLIENT, attributes=attributes
        ) as span:
            watched.headers = trace_headers()
            try:
                yield watched
            finally:
                span.set_attribute("coordinator.class", watched.kind)
