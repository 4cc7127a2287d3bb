"""``python -m tests.canary.products``: pretend products whose every word is a marker."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from examples.products.app import create_app
from examples.products.server import listen
from examples.products.settings import ProductsSettings, WebhookTarget


class Marked:
    """Rewrites answers of the products: problem texts, receipts' ids and a header carry markers."""

    def __init__(self, app: ASGIApp, words: dict[str, str]) -> None:
        self._app = app
        self._words = words

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; the control routes answer as they are."""
        controlled = scope["type"] == "http" and not scope["path"].startswith("/_control")
        passed = _Answer(send, self._words).collect if controlled else send
        await self._app(scope, receive, passed)


class _Answer:
    """One answer on its way out."""

    def __init__(self, send: Send, words: dict[str, str]) -> None:
        self._send = send
        self._words = words
        self._start: Message = {}
        self._body = b""
        # The layer of faults cuts connections off, and finds them by the receiver of `send`.
        self.transport: Any = getattr(getattr(send, "__self__", None), "transport", None)

    async def collect(self, message: Message) -> None:
        """Take one message; with the last one the answer goes out, changed."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._body += message.get("body", b"")
        if not message.get("more_body"):
            await self._pass_on()

    async def _pass_on(self) -> None:
        changed = self._changed(self._start["status"])
        headers = [pair for pair in self._start["headers"] if pair[0] != b"content-length"]
        headers.append((b"content-length", str(len(changed)).encode()))
        headers.append((b"x-product", self._words["answer header"].encode()))
        await self._send({**self._start, "headers": headers})
        await self._send({"type": "http.response.body", "body": changed})

    def _changed(self, status: int) -> bytes:
        try:
            document = json.loads(self._body)
        except ValueError:
            # A body that was cut short, with words of its own in front.
            return self._words["garbage"].encode() + self._body
        if not isinstance(document, dict):
            return self._body
        if status >= 400 and "title" in document:
            document["title"] = self._words["problem title"]
            document["detail"] = self._words["problem detail"]
            document["errors"] = [{"value": self._words["error body"]}]
        elif "channel" in document:
            document["id"] = f"{self._words['receipt']}-{document['id']}"
        return json.dumps(document).encode()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.canary.products", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--settings", type=Path, required=True, help="a file of JSON")
    return parser.parse_args()


def main() -> None:
    """Serve until the process is ended."""
    asked = _arguments()
    given: dict[str, Any] = json.loads(asked.settings.read_text())
    webhook = WebhookTarget(given["webhookUrl"], given["webhookSecret"])
    settings = ProductsSettings(bearer=given["bearer"], issuer=given["issuer"], webhook=webhook)
    config = uvicorn.Config(
        Marked(create_app(settings), given["words"]),
        http="h11",
        ws="none",
        log_level="error",
        access_log=False,
    )
    uvicorn.Server(config).run(sockets=[listen(asked.port)])


if __name__ == "__main__":
    main()
