"""The outermost layer: it begins the trace, counts the request, and lets a fault strike.

A connection is really closed: the layer aborts the transport of the uvicorn connection that
carries the request, so the caller sees what it would see when a product dies.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from examples.products.faults import Fault, FaultPlan
from examples.products.operations import Operation, operation_of
from examples.products.problems import Problem
from examples.products.tracing import Trace
from examples.products.traffic import Arrival, Traffic

_CONTRACT_HEADERS = ("traceparent", "etag", "link", "cache-control")


@dataclass(slots=True)
class _Answer:
    """A finished answer that has not been sent."""

    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    async def collect(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = list(message["headers"])
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")

    async def send(self, send: Send) -> None:
        headers = [pair for pair in self.headers if pair[0] != b"content-length"]
        headers.append((b"content-length", str(len(self.body)).encode()))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


class FaultLayer:
    """An ASGI application around the products."""

    def __init__(self, app: ASGIApp, plan: FaultPlan, traffic: Traffic) -> None:
        self._app = app
        self._plan = plan
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; lifespan messages pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        trace = Trace.begin(headers.get("traceparent"))
        scope.setdefault("state", {})["trace"] = trace
        operation = operation_of(scope["method"], scope["path"])
        if operation is None:
            await self._app(scope, receive, send)
            return
        arrival = _arrival(operation, scope, headers)
        self._traffic.note(arrival)
        fault = self._plan.draw(operation.name)
        bare = fault is not None and fault.kind == "missing-headers"
        outgoing = _without_contract_headers(send) if bare else send
        watched = _hashing(receive, arrival)
        answering = _answering(outgoing, arrival, trace, operation)
        if fault is None:
            await self._app(scope, watched, answering)
            return
        arrival.fault = fault.kind
        await self._strike(fault, operation, trace, (scope, watched, answering), send)

    async def _strike(
        self,
        fault: Fault,
        operation: Operation,
        trace: Trace,
        exchange: tuple[Scope, Receive, Send],
        raw_send: Send,
    ) -> None:
        scope, receive, send = exchange
        if fault.kind == "slow" and not fault.apply:
            # Read first: a caller that gives up meanwhile must not take its request back.
            kept = await _kept(receive)
            await asyncio.sleep(fault.seconds)
            await self._app(scope, kept, send)
            return
        answer = _Answer(operation.success)
        if fault.apply:
            await self._app(scope, receive, answer.collect)
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
            await answer.send(send)
        elif fault.kind in ("lost-response", "drop-before"):
            scope["state"]["arrival"].outcome = "dropped"
            await _hang_up(receive, raw_send)
        elif fault.kind in _DISTORTIONS:
            _DISTORTIONS[fault.kind](answer, fault)
            await answer.send(send)
        else:
            response = _refusal(fault, operation).response(trace)
            await response(scope, receive, send)


def _arrival(operation: Operation, scope: Scope, headers: Headers) -> Arrival:
    query = scope["query_string"].decode("latin-1")
    arrival = Arrival(
        operation=operation.name,
        method=scope["method"],
        target=scope["path"] + (f"?{query}" if query else ""),
        key=headers.get("idempotency-key"),
        traceparent=headers.get("traceparent"),
        authorised="authorization" in headers,
    )
    scope["state"]["arrival"] = arrival
    return arrival


def _hashing(receive: Receive, arrival: Arrival) -> Receive:
    digest = hashlib.sha256()

    async def watched() -> Message:
        message = await receive()
        if message["type"] == "http.request":
            digest.update(message.get("body", b""))
            arrival.body_sha256 = digest.hexdigest()
        return message

    return watched


async def _kept(receive: Receive) -> Receive:
    """The same request with its body read already."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    left = iter(messages)

    async def kept() -> Message:
        return next(left, None) or await receive()

    return kept


def _answering(send: Send, arrival: Arrival, trace: Trace, operation: Operation) -> Send:
    async def answering(message: Message) -> None:
        if message["type"] == "http.response.start":
            arrival.outcome = str(message["status"])
            if operation.name != "external.get":
                MutableHeaders(scope=message).setdefault("traceparent", trace.header)
        await send(message)

    return answering


def _without_contract_headers(send: Send) -> Send:
    async def bare(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name in _CONTRACT_HEADERS:
                del headers[name]
        await send(message)

    return bare


async def _hang_up(receive: Receive, send: Send) -> None:
    """Close the connection without an answer and wait until it is closed."""
    transport: Any = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is None:
        raise RuntimeError("closing a connection needs uvicorn; run the products on a real socket")
    transport.abort()
    while (await receive())["type"] != "http.disconnect":
        continue


def _refusal(fault: Fault, operation: Operation) -> Problem:
    if fault.kind == "rate-limited":
        wait = f"{fault.retry_after:g}"
        return Problem(429, "rate-limited", "Wait before the next request.", {"retry-after": wait})
    if fault.kind == "expired-receipt":
        return Problem(410, "idempotency-expired", "The receipt window of this key is over.")
    if fault.kind == "status-5xx":
        return Problem(fault.status or 503, fault.code or "unavailable", "Try again later.")
    declared = operation.refusals[0] if operation.refusals else "refused"
    return Problem(fault.status or 409, fault.code or declared, "The owner refuses this request.")


def _malform(answer: _Answer, fault: Fault) -> None:
    answer.body = (answer.body or b'{"id": "')[:-1] or b"{"
    answer.headers = answer.headers or [(b"content-type", b"application/json")]


def _oversize(answer: _Answer, fault: Fault) -> None:
    answer.body = (answer.body or b"{}").ljust(fault.bytes, b" ")
    answer.headers = answer.headers or [(b"content-type", b"application/json")]


def _redirect(answer: _Answer, fault: Fault) -> None:
    answer.status, answer.body = 307, b""
    answer.headers = [(b"location", fault.location.encode("latin-1", "replace"))]


def _keep(answer: _Answer, fault: Fault) -> None:
    """The answer is right; only its contract headers go missing."""


_DISTORTIONS = {
    "malformed": _malform,
    "oversized": _oversize,
    "redirect": _redirect,
    "missing-headers": _keep,
}
