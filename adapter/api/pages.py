"""Which pages of other origins may ask the codec server: those of the runtime file, no others."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapter.api.problems import problem_answer

_METHODS = b"POST, OPTIONS"
_HEADERS = b"content-type, x-namespace, authorization, x-api-key"
_REMEMBERED_SECONDS = b"600"


class OtherPages:
    """Cross-origin requests (Fetch standard) below one path, from the given origins alone.

    A preflight is answered here. A request that names another origin is refused before anything
    else looks at it; one that names none, as a program's, goes on.
    """

    def __init__(self, app: ASGIApp, prefix: str, origins: frozenset[str]) -> None:
        self._app = app
        self._prefix = f"{prefix}/"
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http" or not scope["path"].startswith(self._prefix):
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"origin"]
        origin = given[0] if len(given) == 1 else b""
        if given and origin.decode("latin-1") not in self._origins:
            await problem_answer(
                "codec.other-origin",
                "a page of this origin may not ask for payloads",
                place="Origin",
                remedy="add the Temporal UI's origin to codec.uiOrigins",
            )(scope, receive, send)
            return

        async def send_shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"vary", b"Origin")]
                if origin:
                    headers.append((b"access-control-allow-origin", origin))
                message = {**message, "headers": headers}
            await send(message)

        if scope["method"] == "OPTIONS":
            await _preflight(send_shared)
        else:
            await self._app(scope, receive, send_shared)


async def _preflight(send: Send) -> None:
    headers = [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _HEADERS),
        (b"access-control-max-age", _REMEMBERED_SECONDS),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
