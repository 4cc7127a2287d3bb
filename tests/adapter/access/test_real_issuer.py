"""Tests of callers against a real issuer over HTTP: discovery, rotation, its end and its return."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from adapter.access import Credentials, LiveAccess
from adapter.config.loading import load_runtime
from adapter.crypto.web_keys import new_signing_key, public_half
from adapter.errors import Unavailable
from adapter.issuer import Client, IssuerFolder, Tokens
from adapter.issuer.application import server_for
from adapter.listening import listen_on_loopback
from adapter.wiring.documents import fetch_document
from tests.adapter.access.tokens import AUDIENCE, issuer_part
from tests.adapter.config.test_runtime_file import sound


@dataclass
class Place:
    """An issuer's folder and port, and the callers of a service that believes it."""

    folder: Path
    port: int = 0
    ticks: float = 0.0
    live: LiveAccess = field(init=False)

    def __post_init__(self) -> None:
        kept = IssuerFolder(self.folder / "issuer")
        kept.prepare()
        client = Client("desk", (public_half(new_signing_key("ES256")),), (AUDIENCE,), ("runs",))
        kept.admit(client)
        self.kept = kept

    @property
    def url(self) -> str:
        """The issuer's address."""
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def up(self) -> Iterator[None]:
        """The issuer, while the context is entered."""
        listener = listen_on_loopback(self.port, code="issuer.port-taken")
        self.port = listener.getsockname()[1]
        server = server_for(self.folder / "issuer", listener)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield
        finally:
            server.should_exit = True
            thread.join()

    def believe(self) -> None:
        """Make the service's callers."""
        path = self.folder / "runtime.yaml"
        part = {"issuers": {"staff": issuer_part(issuer=self.url).to_json()}}
        path.write_text(yaml.safe_dump(sound() | {"authentication": part}))
        self.live = LiveAccess(load_runtime(path, {}), fetch_document, ticks=lambda: self.ticks)

    async def actor(self) -> str:
        """Who a fresh token is of."""
        token = Tokens(self.kept, self.url, time.time).of_person("desk", "ann", AUDIENCE)
        return (await self.live.identify(Credentials([f"Bearer {token}"], []))).actor


async def test_keys_are_discovered_rotated_and_outlast_their_issuer(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.up():
        place.believe()
        assert await place.actor() == "staff:ann"
        place.kept.rotate("EdDSA")
        place.ticks = 11
        assert await place.actor() == "staff:ann"
    place.ticks = 3_000
    assert await place.actor() == "staff:ann"
    place.ticks = 4_000
    with pytest.raises(Unavailable) as raised:
        await place.actor()
    assert raised.value.code == "access.unavailable"
    assert [one.code for one in place.live.troubles()] == ["doctor.issuer-away"]
    with place.up():
        place.ticks = 4_020
        assert await place.actor() == "staff:ann"
    assert place.live.troubles() == []


async def test_keys_are_discovered_at_an_issuer_that_knows_oauth_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ("/.well-known/oauth-authorization-server",)
    monkeypatch.setattr("adapter.issuer.application.DISCOVERY_PATHS", paths)
    place = Place(tmp_path)
    with place.up():
        place.believe()
        assert await place.actor() == "staff:ann"


async def test_an_issuer_that_was_away_at_the_start_is_found_later(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.up():
        pass
    place.believe()
    with pytest.raises(Unavailable):
        await place.actor()
    with place.up():
        place.ticks = 11
        assert await place.actor() == "staff:ann"
