"""Requests to the service as metrics and spans: by the id of their route, never by their path."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from adapter.telemetry.meters import Meters
from adapter.telemetry.spans import Spans, parent_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER = "other"
_arrived: ContextVar[float] = ContextVar("arrived")


class WatchedRequests:
    """An ASGI application around the service's own."""

    def __init__(self, app: Application, meters: Meters | None, spans: Spans | None) -> None:
        self._app = app
        self._meters = meters
        self._spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; anything else passes through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        arrived = _arrived.set(begun)
        try:
            with self._span(scope) as span:
                await self._app(scope, receive, noting)
                if span is not None:
                    _describe(span, scope, status)
        finally:
            _arrived.reset(arrived)
            if self._meters is not None:
                self._meters.request(_operation(scope), status, time.monotonic() - begun)

    def _span(self, scope: Scope) -> AbstractContextManager[Span | None]:
        if self._spans is None:
            return nullcontext()
        given = [value for name, value in scope["headers"] if name == b"traceparent"]
        parent = parent_of(given[0].decode("latin-1") if len(given) == 1 else "")
        return self._spans.tracer.start_as_current_span(
            "request", context=parent, kind=SpanKind.SERVER
        )


def admission_seconds() -> float:
    """Seconds since the present request arrived; 0 outside one."""
    begun = _arrived.get(None)
    return 0.0 if begun is None else time.monotonic() - begun


def _describe(span: Span, scope: Scope, status: int) -> None:
    span.update_name(_operation(scope))
    method = scope["method"]
    span.set_attribute("http.request.method", method if method in _METHODS else "_OTHER")
    span.set_attribute("http.route", getattr(scope.get("route"), "path", _OTHER))
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))


def _operation(scope: Scope) -> str:
    return getattr(scope.get("route"), "operation_id", None) or _OTHER
