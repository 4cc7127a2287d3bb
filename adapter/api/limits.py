"""The outermost layer: the size of bodies, the headers of every answer, and faults of our own."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapter.api.problems import problem_answer, surprise_answer

LARGEST_BODY_BYTES = 65_536
_MOST_DRAINED_BYTES = 1_048_576

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


class Limits:
    """Refuses a body above 64 KiB before anything else looks at the request.

    The body is read here, whole: every body of this service is small, and a stream that grows
    past the limit is cut off without having been authenticated or parsed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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

        body = await _whole_body(scope, receive)
        if body is None:
            answer = problem_answer(
                "request.too-large",
                f"the body has more than {LARGEST_BODY_BYTES} bytes",
                remedy="send less, or a reference to where the rest is kept",
            )
            answer.headers["connection"] = "close"
            await answer(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, _replay(body, receive), send_guarded)
        except Exception as error:
            # Caught here, because further out it would be logged whole and end the connection.
            if started:
                raise
            await surprise_answer(error, scope["path"])(scope, receive, send_guarded)


async def _whole_body(scope: Scope, receive: Receive) -> bytes | None:
    """The body, or None if it is too large."""
    too_large = any(
        name == b"content-length"
        and (not value.isdigit() or len(value) > 9 or int(value) > LARGEST_BODY_BYTES)
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
        too_large = too_large or seen > LARGEST_BODY_BYTES
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
