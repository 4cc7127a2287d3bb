"""Tests of documents from the web: what may be fetched, and what is none, on real sockets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from adapter.errors import Unavailable
from adapter.wiring.documents import fetch_document


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = int(self.path[1:]) if self.path[1:].isdigit() else 200
        body = b"x" * 2_000 if self.path == "/large" else self.path.encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/keys?p=1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def origin() -> Iterator[str]:
    """A server that answers with the address that was asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("path", ["/keys", "/keys/", "/a/b?p=policy&q=1", ""])
async def test_a_document_is_fetched_at_its_very_address(origin: str, path: str) -> None:
    assert await fetch_document(origin + path, 1_000) == (path or "/").encode()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/302", "document.absent"),
        ("/401", "document.absent"),
        ("/404", "document.absent"),
        ("/408", "document.unavailable"),
        ("/429", "document.unavailable"),
        ("/500", "document.unavailable"),
        ("/large", "document.unavailable"),
    ],
)
async def test_what_is_no_whole_document_is_unavailable(origin: str, path: str, code: str) -> None:
    with pytest.raises(Unavailable) as raised:
        await fetch_document(origin + path, 1_000)
    assert raised.value.code == code


async def test_a_server_that_is_away_is_unavailable() -> None:
    with pytest.raises(Unavailable) as raised:
        await fetch_document("http://127.0.0.1:1/keys", 1_000)
    assert raised.value.code == "document.unavailable"


@pytest.mark.parametrize(
    "address",
    [
        "http://issuer.example/keys",
        "http://localhost/keys",
        "https://169.254.169.254/latest",
        "https://metadata.google.internal/keys",
        "https://100.100.100.200/keys",
        "https://user:secret@issuer.example/keys",
        "https://issuer.example/keys#part",
        "https://issuer.example/ke ys",
        "https://[::1/keys",
        "file:///etc/passwd",
        "gopher://issuer.example",
        "",
    ],
)
async def test_an_address_that_may_not_be_called_is_refused(address: str) -> None:
    with pytest.raises(Unavailable) as raised:
        await fetch_document(address, 1_000)
    assert raised.value.code == "document.refused"
    assert "secret" not in str(raised.value)
