"""Secrets that are kept elsewhere: by a program, and by a provider that a package brings."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from activities.credentials import CredentialUnavailable, Secret
from adapter.config.connections import ConfiguredConnections
from adapter.config.document import Connection
from adapter.config.secret_providers import ProviderUse
from adapter.config.secrets import SecretStore
from adapter.errors import Unavailable
from interpreter.contract.values import JsonValue
from tests.activities.issuers import NO_ATTEMPT

_PROGRAM = "import sys; sys.stdout.write('kept:' + sys.argv[1]); sys.stderr.write('hunter2')"


def _store(settings: dict[str, JsonValue], use: str = "command", **more: str) -> SecretStore:
    return SecretStore(None, more, {"vault": ProviderUse(use, settings)})


def _command(program: str, **more: Any) -> dict[str, Any]:
    return {"command": [sys.executable, "-c", program, "{name}"], **more}


def _code(store: SecretStore, reference: str = "secret:vault/token") -> str:
    with pytest.raises(Unavailable) as raised:
        store.read(reference)
    assert raised.value.place in (reference, "secrets.providers")
    assert "hunter2" not in f"{raised.value!r} {raised.value} {raised.value.__cause__!r}"
    return raised.value.code


def test_a_program_gives_the_secret_of_a_name() -> None:
    assert _store(_command(_PROGRAM)).secret("secret:vault/a/b#c") == Secret("kept:a/b#c")


def test_a_name_is_one_argument_whatever_it_holds() -> None:
    # No shell reads it: nothing but the reference's own grammar keeps a name short.
    assert _store(_command(_PROGRAM)).read("secret:vault/$(id);x") == b"kept:$(id);x"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import sys; sys.exit('hunter2')", "secret.unavailable"),
        ("print('x' * 100000)", "secret.unavailable"),
        ("", "secret.unusable"),
    ],
)
def test_a_program_that_fails_gives_nothing(program: str, code: str) -> None:
    assert _code(_store(_command(program))) == code


def test_a_program_that_hangs_is_ended() -> None:
    begun = time.monotonic()
    store = _store(_command("import time; time.sleep(60)", timeoutSeconds=0.5))
    assert _code(store) == "secret.unavailable"
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"command": "vault"},
        {"command": []},
        {"command": ["vault", "{name}"]},
        {"command": ["/usr/bin/vault", "token"]},
        {"command": ["/usr/bin/vault", "{name}"], "timeoutSeconds": 600},
        {"command": ["/usr/bin/vault", "{name}"], "shell": True},
    ],
)
def test_settings_that_no_program_can_be_run_with_are_refused(settings: dict[str, Any]) -> None:
    assert _code(_store(settings)) == "secret.provider-settings"


def test_a_provider_that_nobody_installed_is_absent() -> None:
    assert _code(_store({}, "another")) == "secret.provider-absent"


async def test_asking_a_provider_holds_nobody_up() -> None:
    store = _store(_command("import time; time.sleep(0.5); print('late')"))
    fetching = asyncio.ensure_future(store.fetch("secret:vault/token"))
    begun = time.monotonic()
    await asyncio.sleep(0)
    assert time.monotonic() - begun < 0.4
    assert await fetching == Secret("late")


_KEPT = {"/registry": "from-the-vault"}


class _Vault(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = _KEPT.get(self.path)
        allowed = self.headers.get("X-Vault-Token") == "login"
        self.send_response(200 if known and allowed else 404 if allowed else 403)
        self.end_headers()
        self.wfile.write((known or "").encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


_PLUGIN = '''
"""A provider of a package of its own: a vault over HTTP."""
import urllib.error
import urllib.request


class Vault:
    def __init__(self, settings, read):
        self.url, self.login, self.read_login = settings["url"], settings["login"], read

    def read(self, name):
        headers = {"X-Vault-Token": self.read_login(self.login).reveal()}
        request = urllib.request.Request(f"{self.url}/{name}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 404:
                    return None
                raise
'''


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A vault on a real socket, and an installed package that knows how to ask it."""
    (tmp_path / "pretend_vault.py").write_text(_PLUGIN)
    metadata = tmp_path / "pretend_vault-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pretend-vault\nVersion: 1.0\n")
    group = "coordinator_temporal.secret_providers"
    (metadata / "entry_points.txt").write_text(f"[{group}]\npretend = pretend_vault:Vault\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Vault)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


async def test_a_connection_calls_with_what_a_vault_keeps(vault: str) -> None:
    settings: dict[str, JsonValue] = {"url": vault, "login": "secret:env/LOGIN"}
    store = _store(settings, "pretend", LOGIN="login")
    connections = ConfiguredConnections({"registry": _bearer("secret:vault/registry")}, store)
    header = await connections.authorization("registry").header(NO_ATTEMPT)
    assert header == Secret("Bearer from-the-vault")


async def test_what_a_vault_does_not_give_is_unavailable(vault: str) -> None:
    settings: dict[str, JsonValue] = {"url": vault, "login": "secret:env/LOGIN"}
    assert _code(_store(settings, "pretend", LOGIN="login")) == "secret.absent"
    closed = _store(settings, "pretend", LOGIN="wrong")
    assert _code(closed) == "secret.unavailable"
    connections = ConfiguredConnections({"registry": _bearer("secret:vault/registry")}, closed)
    with pytest.raises(CredentialUnavailable):
        await connections.authorization("registry").header(NO_ATTEMPT)


def test_a_provider_reads_nothing_for_itself_from_a_provider(vault: str) -> None:
    settings: dict[str, JsonValue] = {"url": vault, "login": "secret:vault/login"}
    assert _code(_store(settings, "pretend")) == "secret.unavailable"


def _bearer(reference: str) -> Connection:
    return Connection.model_validate(
        {
            "product": "breg",
            "baseUrl": "https://registry.example",
            "authorization": {"type": "bearer", "tokenRef": reference},
        }
    )


def test_another_accounts_file_is_exposed(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    secret = tmp_path / "token"
    secret.write_text("hunter2")
    secret.chmod(stat.S_IRUSR)
    os.chown(secret, 12_345, -1)
    with pytest.raises(Unavailable, match=r"secret\.exposed"):
        SecretStore(tmp_path, {}).read("secret:file/token")
