"""Tests of who a command says it is: keys, tokens and profiles, and where they are sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.cli.credentials import ClientTokens
from adapter.cli.service_client import ServiceClient
from adapter.config.findings import ConfigurationError
from adapter.config.profile import load_profile
from adapter.crypto.web_keys import new_signing_key, public_half
from adapter.errors import Refused, Unavailable, Usage
from adapter.issuer import Client, IssuerFolder
from adapter.issuer.application import server_for
from adapter.listening import listen_on_loopback
from tests.adapter.cli.conftest import Run
from tests.adapter.config.test_callers import findings
from tests.adapter.config.test_runtime_file import sound

KEY = new_signing_key("ES256")


@dataclass
class Answering:
    """A server that records what it is sent, and answers all of it alike."""

    url: str = ""
    status: int = 200
    body: bytes = b'{"runs": [], "next": null}'
    headers: dict[str, str] = field(default_factory=lambda: {"Coordinator-Api": "1"})
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[Answering]:
    """Something that answers as a coordinator does, until it is told otherwise."""
    answering = Answering()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answering.seen.append((self.path, dict(self.headers)))
            self.send_response(answering.status)
            for name, value in answering.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answering.body)))
            self.end_headers()
            self.wfile.write(answering.body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answering.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield answering
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[str]:
    """A running issuer that knows the client ``ops``."""
    IssuerFolder(tmp_path / "issuer").prepare()
    client = Client("ops", (public_half(KEY),), ("urn:coordinator",), ("runs",))
    IssuerFolder(tmp_path / "issuer").admit(client)
    listener = listen_on_loopback(0, code="issuer.port-taken")
    server = server_for(tmp_path / "issuer", listener)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


def profile(folder: Path, issuer: str, **client: Any) -> Path:
    """A profile of ``ops``, with its key beside it."""
    key = folder / "ops-key"
    key.touch(0o600)
    key.write_text(json.dumps(KEY))
    written = {
        "client": {
            "tokenEndpoint": f"{issuer}/token",
            "clientId": "ops",
            "signingKeyRef": "secret:file/ops-key",
            "scopes": ["runs"],
            **client,
        }
    }
    path = folder / "profile.yaml"
    path.write_text(yaml.safe_dump(written))
    return path


def found(environment: dict[str, str], url: str, named: Path | None = None) -> ServiceClient:
    """The client that an environment and an option make."""
    return ServiceClient.find(None, url, named, environment)


@pytest.mark.parametrize(
    ("variable", "value", "header"),
    [
        ("COORDINATOR_TOKEN", "a.b.c", ("Authorization", "Bearer a.b.c")),
        ("COORDINATOR_TOKEN", "a.b.c\n", ("Authorization", "Bearer a.b.c")),
        ("COORDINATOR_API_KEY", "coordinator_k", ("X-API-Key", "coordinator_k")),
    ],
)
def test_the_environment_says_who_calls(
    service: Answering, variable: str, value: str, header: tuple[str, str]
) -> None:
    found({variable: value}, service.url).get("/v1/runs")
    [(_, headers)] = service.seen
    assert headers[header[0]] == header[1]


@pytest.mark.parametrize("variable", ["TOKEN_FILE", "API_KEY_FILE", "PROFILE"])
@pytest.mark.parametrize("text", ["a.b.c\n", "coordinator_k\r\n", "name:secret"])
def test_what_a_file_holds_shows_in_its_text(tmp_path: Path, variable: str, text: str) -> None:
    file = tmp_path / "credential"
    file.write_text(text)
    there = found({f"COORDINATOR_{variable}": str(file)}, "http://127.0.0.1:1")
    assert text.strip() in next(iter(there.credential.headers().values()))


@pytest.mark.parametrize("text", ["coordinator_k", "a.b", "a.b.c d", ""])
def test_a_token_that_was_cut_is_not_sent_as_a_key(text: str) -> None:
    with pytest.raises(Usage) as raised:
        found({"COORDINATOR_TOKEN": text or " "}, "http://127.0.0.1:1")
    assert (raised.value.code, raised.value.place) == ("credential.malformed", "COORDINATOR_TOKEN")


def test_a_file_that_is_named_wins_over_the_environment(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("named")
    there = found({"COORDINATOR_API_KEY": "other"}, "http://127.0.0.1:1", tmp_path / "key")
    assert there.credential.headers() == {"X-API-Key": "named"}


def test_two_credentials_in_the_environment_are_refused() -> None:
    with pytest.raises(Usage) as raised:
        found({"COORDINATOR_TOKEN": "a.b.c", "COORDINATOR_API_KEY": "k"}, "http://127.0.0.1:1")
    assert raised.value.code == "credential.ambiguous"
    assert "a.b.c" not in str(raised.value)


def test_without_any_credential_the_runtime_file_is_looked_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("list", "--url", "https://coordinator.example")
    assert (said.code, said.err.partition("]")[0]) == (2, "error[runtime.absent")


def test_a_client_gets_its_token_and_keeps_it(
    service: Answering, issuer: str, tmp_path: Path
) -> None:
    path = profile(tmp_path, issuer, resource="urn:coordinator")
    client = found({"COORDINATOR_PROFILE": str(path)}, service.url)
    client.get("/v1/runs")
    client.get("/v1/runs")
    sent = [headers["Authorization"] for _, headers in service.seen]
    assert sent[0] == sent[1]
    assert sent[0].startswith("Bearer ey")


def test_a_profile_names_its_service(issuer: str, tmp_path: Path) -> None:
    path = profile(tmp_path, issuer)
    path.write_text("url: https://coordinator.example/base/\n" + path.read_text())
    client = ServiceClient.find(None, None, path, {})
    assert client.origin == "https://coordinator.example/base"
    assert "Bearer" not in repr(client)


@pytest.mark.parametrize(
    ("change", "code", "kind"),
    [
        ({"clientId": "other"}, "credential.refused", Refused),
        ({"scopes": ["more"]}, "credential.refused", Refused),
        ({"resource": "urn:other"}, "credential.refused", Refused),
        ({"tokenEndpoint": "http://127.0.0.1:1/token"}, "credential.unavailable", Unavailable),
        ({"signingKeyRef": "secret:file/absent"}, "secret.absent", Unavailable),
    ],
)
def test_a_client_without_a_token_is_told_why(
    issuer: str, tmp_path: Path, change: dict[str, Any], code: str, kind: type[Exception]
) -> None:
    tokens = ClientTokens(load_profile(profile(tmp_path, issuer, **change), {}))
    with pytest.raises(kind) as raised:
        tokens.headers()
    assert getattr(raised.value, "code", "") == code
    assert KEY["d"] not in str(raised.value)


def test_a_key_that_can_not_sign_is_refused_without_showing_it(issuer: str, tmp_path: Path) -> None:
    path = profile(tmp_path, issuer)
    (tmp_path / "ops-key").write_text(json.dumps(public_half(KEY) | {"kid": "hunter2"}))
    with pytest.raises(Usage) as raised:
        ClientTokens(load_profile(path, {})).headers()
    assert raised.value.code == "credential.key-unusable"
    assert "hunter2" not in str(raised.value)


def test_a_wrong_profile_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text("url: https://a.example\nclient: {clientId: ops, secret: hunter2}\n")
    with pytest.raises(ConfigurationError) as raised:
        load_profile(path, {})
    pointers = {one.pointer for one in raised.value.findings}
    assert {"/client/secret", "/client/tokenEndpoint", "/client/scopes"} <= pointers
    assert "hunter2" not in str(raised.value) + repr(raised.value.findings)


@pytest.mark.parametrize("url", ["http://coordinator.example", "http://10.0.0.5:8300", "ftp://a"])
def test_a_credential_is_sent_over_https_or_on_this_machine(run: Run, url: str) -> None:
    with pytest.raises(Usage) as raised:
        found({"COORDINATOR_API_KEY": "k"}, url)
    assert raised.value.code == "service.url-invalid"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>hello</html>"),
        (200, b'{"runs": []}'),
        (404, b"not found"),
        (302, b""),
        (401, b'{"code": "other.thing"}'),
    ],
)
def test_what_is_no_coordinator_is_one_clear_error(
    run: Run,
    service: Answering,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    body: bytes,
) -> None:
    monkeypatch.setenv("COORDINATOR_API_KEY", "hunter2")
    service.status, service.body, service.headers = status, body, {}
    for command in (("list",), ("doctor",), ("openapi",)):
        said = run(*command, "--url", service.url)
        assert said.code == 2
        assert said.err.startswith(f"error[service.not-coordinator]: {service.url}: ")
        assert "hunter2" not in said.err


def test_a_proxy_without_its_service_is_an_outage(
    run: Run, service: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COORDINATOR_API_KEY", "k")
    service.status, service.body, service.headers = 502, b"bad gateway", {}
    said = run("list", "--url", service.url)
    assert (said.code, said.err.partition("]")[0]) == (3, "error[service.unavailable")


def test_a_key_is_made_once_and_its_block_is_what_the_runtime_file_takes(
    run: Run, tmp_path: Path
) -> None:
    asked = ("api-key", "nightly", "--workflow", "notice", "--action", "start", "--days", "7")
    made = run(*asked, "--format", "json").object
    assert findings(tmp_path, sound() | {"authentication": made["authentication"]}) == []
    assert made["key"].startswith("coordinator_")
    assert made["key"] not in json.dumps(made["authentication"])


def test_a_key_can_go_into_a_file_that_only_its_owner_reads(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "key"
    said = run("api-key", "nightly", "--output", str(file))
    assert (said.code, file.stat().st_mode & 0o777) == (0, 0o600)
    assert file.read_text().strip() not in said.out
    again = run("api-key", "nightly", "--output", str(file))
    assert (again.code, again.err.partition("]")[0]) == (2, "error[output.unusable")


@pytest.mark.parametrize(
    "asked",
    [
        ("Nightly",),
        ("a", "--action", "everything"),
        ("a", "--action", "start", "--days", "0"),
        ("a", "--action", "start", "--action", "doctor"),
    ],
)
def test_a_key_for_what_is_not_there_is_not_made(run: Run, asked: tuple[str, ...]) -> None:
    assert run("api-key", *asked).code == 2


def test_a_token_is_printed_for_a_client_alone(
    run: Run, issuer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = profile(tmp_path, issuer)
    path.write_text("url: https://coordinator.example\n" + path.read_text())
    said = run("token", "--profile", str(path))
    assert (said.code, said.out.count(".")) == (0, 2)
    monkeypatch.setenv("COORDINATOR_URL", "https://coordinator.example")
    monkeypatch.setenv("COORDINATOR_API_KEY", "k")
    refused = run("token")
    assert (refused.code, refused.err.partition("]")[0]) == (2, "error[token.no-client")
