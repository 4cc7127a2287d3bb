"""An issuer on a real socket, with one client of each kind of key."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from activities.credentials import Secret
from activities.credentials.assertions import SigningKey, client_assertion
from adapter.crypto.web_keys import new_signing_key, public_half
from adapter.issuer import CLIENT_ASSERTION, CLIENT_CREDENTIALS, Client, IssuerFolder
from adapter.issuer.application import server_for
from adapter.listening import listen_on_loopback

RESOURCE = "urn:example:registry"


@dataclass
class RunningIssuer:
    """A running issuer, and the private key of its client ``worker``."""

    url: str
    folder: IssuerFolder
    key: dict[str, str]

    def assertion(self, **changes: Any) -> str:
        """A sound assertion of the client, with changed claims (None leaves one out)."""
        now = int(time.time())
        claims = {"iss": "worker", "sub": "worker", "aud": f"{self.url}/token", "iat": now}
        claims |= {"exp": now + 60, "jti": str(time.monotonic_ns())} | changes
        return _signing(self.key).sign({k: v for k, v in claims.items() if v is not None}).reveal()

    def ask(self, assertion: str | None = None, **form: Any) -> httpx.Response:
        """A request for a token; ``form`` changes its fields (None leaves one out)."""
        fields: dict[str, Any] = {
            "grant_type": CLIENT_CREDENTIALS,
            "client_assertion_type": CLIENT_ASSERTION,
            "client_assertion": assertion or self.assertion(),
            "resource": RESOURCE,
        }
        fields = {name: one for name, one in (fields | form).items() if one is not None}
        return httpx.post(f"{self.url}/token", data=fields)

    def claims(self, token: str) -> dict[str, Any]:
        """The claims of an access token, verified as a resource does it."""
        keys = jwt.PyJWKSet.from_dict(httpx.get(f"{self.url}/jwks").json())
        key = keys[jwt.get_unverified_header(token)["kid"]]
        return jwt.decode(token, key, algorithms=[key.algorithm_name], audience=RESOURCE)


def _signing(key: dict[str, str]) -> SigningKey:
    return SigningKey(Secret(json.dumps(key)))


def proof(issuer: RunningIssuer, key: dict[str, str], client: str) -> str:
    """The assertion of another client than the usual one."""
    return client_assertion(_signing(key), client, f"{issuer.url}/token", time.time()).reveal()


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[RunningIssuer]:
    key, folder = new_signing_key("ES256"), IssuerFolder(tmp_path / "issuer")
    listener = listen_on_loopback(0, code="issuer.port-taken")
    server = server_for(tmp_path / "issuer", listener)
    folder.admit(Client("worker", (public_half(key),), (RESOURCE,), ("read", "write")))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield RunningIssuer(f"http://127.0.0.1:{listener.getsockname()[1]}", folder, key)
    server.should_exit = True
    thread.join(10)
