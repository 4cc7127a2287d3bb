"""The simulation on a loopback socket: a plain ASGI application on uvicorn."""

from __future__ import annotations

from typing import Any

import uvicorn

from adapter.listening import loopback_server
from adapter.simulation import answers
from adapter.simulation.answers import Answer, Lost
from adapter.simulation.control import Control
from adapter.simulation.playing import Playing
from adapter.simulation.routes import HttpRequest

LARGEST_BODY_BYTES = 131_072


class Application:
    """Takes requests apart, and puts answers together."""

    def __init__(self, playing: Playing) -> None:
        self._playing = playing
        self._control = Control(playing)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        request = await _read(scope, receive)
        answer: Answer | Lost | None
        if request is None:
            answer = answers.problem(413, "request-too-large", "Send a smaller body.")
            request = HttpRequest(scope["method"], scope["path"])
        else:
            answer = self._control.answer(request)
        if answer is None:
            answer = await self._playing.answer(request)
        if isinstance(answer, Lost):
            await _hang_up(receive, send)
        else:
            await _send(send, answer, request)


async def _read(scope: Any, receive: Any) -> HttpRequest | None:
    """The whole request, or None for a body that is too large."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            break
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY_BYTES:
            return None
        if not message.get("more_body"):
            break
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    return HttpRequest(scope["method"], path, query, headers, body)


async def _send(send: Any, answer: Answer, request: HttpRequest) -> None:
    seed = f"{request.path}\n{request.headers.get('idempotency-key', '')}"
    trace = answers.trace_for(request.headers.get("traceparent", ""), seed)
    headers, data = answers.encoded(answer, trace)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


async def _hang_up(receive: Any, send: Any) -> None:
    """Close the connection without an answer and wait until it is closed."""
    transport: Any = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is None:
        raise RuntimeError("closing a connection needs uvicorn on a real socket")
    transport.abort()
    while (await receive())["type"] != "http.disconnect":
        continue


def server_for(playing: Playing) -> uvicorn.Server:
    """A uvicorn server; start it with ``run(sockets=[…])``."""
    return loopback_server(Application(playing))
