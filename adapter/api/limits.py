"""The outermost layer: bounds of a request, the headers of every answer, and faults of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapter.api.problems import problem_answer, surprise_answer

LARGEST_BODY_BYTES = 65_536
LONGEST_ADDRESS_BYTES = 4_096
LARGEST_HEADERS_BYTES = 32_768
MOST_HEADERS = 100
_MOST_DRAINED_BYTES = 2_097_152
_BODY_SECONDS = 30.0

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"coordinator-api", b"1"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


class Limits:
    """Refuses what is too large before anything else looks at the request.

    An address has 4 KiB at most, headers 32 KiB, a body 64 KiB and 30 seconds to come. The body is
    read here, whole: every body of this service is small, and a stream that grows past the limit
    is cut off without having been authenticated or parsed. ``larger`` has the bytes that a body may
    have below a path.
    """

    def __init__(self, app: ASGIApp, larger: Mapping[str, int]) -> None:
        self._app = app
        self._larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        body, refusal = b"", _out_of_bounds(scope)
        most = self._most_bytes(scope["path"])
        if refusal is None:
            try:
                async with asyncio.timeout(_BODY_SECONDS):
                    whole = await _whole_body(scope, receive, most)
            except TimeoutError:
                refusal = _too_slow()
            else:
                body, refusal = whole or b"", _too_large(most) if whole is None else None
        if refusal is not None:
            refusal.headers["connection"] = "close"
            await refusal(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, _replay(body, receive), send_guarded)
        except Exception as error:
            # Caught here, because further out it would be logged whole and end the connection.
            if started:
                raise
            # The route as it is declared: an address may hold what no log should.
            route = getattr(scope.get("route"), "path", "")
            await surprise_answer(error, route)(scope, receive, send_guarded)

    def _most_bytes(self, path: str) -> int:
        largest = (most for prefix, most in self._larger.items() if path.startswith(f"{prefix}/"))
        return next(largest, LARGEST_BODY_BYTES)


def _out_of_bounds(scope: Scope) -> Response | None:
    """The refusal of an address or of headers that are too large."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS_BYTES:
        return problem_answer(
            "request.address-too-long",
            f"path and query have more than {LONGEST_ADDRESS_BYTES} bytes",
            remedy="see /openapi.json for the addresses that are served",
        )
    headers = scope["headers"]
    size = sum(len(name) + len(value) for name, value in headers)
    if len(headers) > MOST_HEADERS or size > LARGEST_HEADERS_BYTES:
        return problem_answer(
            "request.headers-too-large",
            f"there are more than {MOST_HEADERS} headers or {LARGEST_HEADERS_BYTES} bytes of them",
            remedy="send fewer headers, and a smaller token",
        )
    return None


def malformed_request() -> Response:
    """The answer to bytes that are no HTTP request, with the headers of every answer."""
    answer = problem_answer(
        "request.invalid",
        "this is no HTTP/1.1 request",
        remedy="see /openapi.json for what is served",
    )
    answer.headers["connection"] = "close"
    answer.raw_headers.extend(_HEADERS)
    return answer


def _too_large(most: int) -> Response:
    return problem_answer(
        "request.too-large",
        f"the body has more than {most} bytes",
        remedy="send less, or a reference to where the rest is kept",
    )


def _too_slow() -> Response:
    return problem_answer(
        "request.too-slow",
        f"the body did not come whole within {_BODY_SECONDS:.0f} seconds",
        remedy="send it again, all at once",
    )


async def _whole_body(scope: Scope, receive: Receive, most: int) -> bytes | None:
    """The body, or None if it is larger than ``most`` bytes."""
    too_large = any(
        name == b"content-length" and (not value.isdigit() or len(value) > 9 or int(value) > most)
        for name, value in scope["headers"]
    )
    body = bytearray()
    seen = 0
    # What is too large is still taken in for a while and thrown away: a connection that is closed
    # while the caller writes would take the answer with it.
    while seen <= _MOST_DRAINED_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            break
        part = message.get("body", b"")
        seen += len(part)
        too_large = too_large or seen > most
        if not too_large:
            body += part
        if not message.get("more_body", False):
            break
    return None if too_large else bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
