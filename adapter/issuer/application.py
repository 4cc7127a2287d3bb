"""The issuer on a loopback socket: a plain ASGI application on uvicorn."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn

from adapter.errors import AdapterError
from adapter.issuer.assertions import ALGORITHMS
from adapter.issuer.folder import IssuerFolder
from adapter.issuer.tokens import CLIENT_CREDENTIALS, TOKEN_EXCHANGE, TokenAnswer, Tokens
from adapter.listening import loopback_server

LARGEST_BODY_BYTES = 131_072
DISCOVERY_PATHS = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
_TOO_LARGE = TokenAnswer(413, {"error": "invalid_request", "error_description": "too large"})
_NO_FORM = TokenAnswer(400, {"error": "invalid_request", "error_description": "send a form"})
_NOWHERE = TokenAnswer(404, {"error": "not_found"})


class Application:
    """Discovery, keys, ``/token`` and ``/health``."""

    def __init__(self, folder: IssuerFolder, tokens: Tokens) -> None:
        self._folder = folder
        self._tokens = tokens

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""
        body = await _body(receive)
        try:
            answer = self._answer(scope["method"], scope["path"], body)
        except AdapterError as error:
            answer = TokenAnswer(error.status, {"error": "server_error", "code": error.code})
        data = json.dumps(answer.body).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"cache-control", b"no-store"),
            (b"content-length", str(len(data)).encode("ascii")),
        ]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    def _answer(self, method: str, path: str, body: bytes | None) -> TokenAnswer:
        if body is None:
            return _TOO_LARGE
        if method == "POST" and path == "/token":
            try:
                form = parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
            except ValueError:
                return _NO_FORM
            return self._tokens.issue(form)
        if method != "GET":
            return _NOWHERE
        if path in DISCOVERY_PATHS:
            return TokenAnswer(200, self._metadata())
        if path == "/jwks":
            return TokenAnswer(200, self._folder.published_keys())
        return TokenAnswer(200, {"live": True}) if path == "/health" else _NOWHERE

    def _metadata(self) -> dict[str, Any]:
        issuer = self._tokens.issuer
        return {
            "issuer": issuer,
            "token_endpoint": self._tokens.endpoint,
            "jwks_uri": f"{issuer}/jwks",
            "grant_types_supported": [CLIENT_CREDENTIALS, TOKEN_EXCHANGE],
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
            "response_types_supported": [],
        }


async def _body(receive: Any) -> bytes | None:
    """The whole body, or None for one that is too large."""
    body: bytes = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return body
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY_BYTES:
            return None
        if not message.get("more_body"):
            return body


def server_for(folder: Path, listener: socket.socket) -> uvicorn.Server:
    """A uvicorn server of the issuer at ``http://127.0.0.1:PORT``; ``run(sockets=[listener])``."""
    issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
    kept = IssuerFolder(folder)
    kept.prepare()
    return loopback_server(Application(kept, Tokens(kept, issuer, time.time)))
