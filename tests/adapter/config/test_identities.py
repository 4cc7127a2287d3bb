"""Identities of connections in runtime.yaml: what is accepted, and what fits nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from activities.credentials import Anonymous, BearerToken, ClientCredentials, Secret, TaskBound
from adapter.config.findings import ConfigurationError
from adapter.config.loading import Runtime, load_runtime
from tests.activities.issuers import SIGNING_JWK
from tests.adapter.config.test_runtime_file import sound

_CLIENT: dict[str, Any] = {
    "type": "client-credentials",
    "tokenEndpoint": "https://issuer.example/token/",
    "clientId": "worker",
    "signingKeyRef": "secret:file/worker-key",
    "resource": "urn:example:calendar",
    "scopes": ["book"],
}
_TASK: dict[str, Any] = {
    "baseUrl": "https://casework.example",
    "issuer": "https://casework.example",
    "subject": "clerk",
    "exchangeAudience": "https://issuer.example",
    "bootstrapResource": "urn:example:casework",
}
_OBSERVER = _CLIENT | {"signingKeyRef": "secret:file/other-key", "scopes": ["read"]}


def _calendar(**changes: Any) -> dict[str, Any]:
    connection = {"product": "scheduling", "baseUrl": "https://calendar.example"}
    return connection | {"authorization": _CLIENT} | changes


def _bound(**changes: Any) -> dict[str, Any]:
    authorization = _CLIENT | {"taskAuthority": _TASK | changes}
    return _calendar(authorization=authorization, observationAuthorization=_OBSERVER)


def _runtime(folder: Path, connection: dict[str, Any], **secrets: Any) -> Runtime:
    document = sound()
    document["connections"] = {"one": connection}
    document["secrets"] |= secrets
    path = folder / "runtime.yaml"
    path.write_text(yaml.safe_dump(document))
    return load_runtime(path, {})


def _refused(folder: Path, connection: dict[str, Any], **secrets: Any) -> list[tuple[str, str]]:
    with pytest.raises(ConfigurationError) as raised:
        _runtime(folder, connection, **secrets)
    place = "/connections/one"
    return [(one.code, one.pointer.removeprefix(place)) for one in raised.value.findings]


@pytest.mark.parametrize(
    ("connection", "kind"),
    [
        ({"product": "breg", "baseUrl": "http://127.0.0.1:1"}, Anonymous),
        (_calendar(authorization={"type": "bearer", "tokenRef": "secret:env/T"}), BearerToken),
        (_calendar(), ClientCredentials),
        (_bound(), TaskBound),
    ],
)
def test_each_kind_of_authorization_is_read(
    tmp_path: Path, connection: dict[str, Any], kind: type
) -> None:
    assert isinstance(_runtime(tmp_path, connection).connections.authorization("one"), kind)


def test_receipts_are_read_under_the_observation_identity(tmp_path: Path) -> None:
    connections = _runtime(tmp_path, _bound()).connections
    observer = connections.authorization("one", observing=True)
    assert isinstance(observer, ClientCredentials)
    assert observer.scopes == ("read",)
    assert observer.endpoint == "https://issuer.example/token/"


@pytest.mark.parametrize(
    ("connection", "finding"),
    [
        (
            {"product": "breg", "baseUrl": "https://registry.example"},
            ("config.identity", ""),
        ),
        (
            _calendar(authorization={"type": "anonymous"}),
            ("config.identity", "/authorization"),
        ),
        (
            _calendar(authorization=_CLIENT | {"tokenEndpoint": "http://issuer.example/token"}),
            ("config.plain-http", "/authorization/tokenEndpoint"),
        ),
        (
            _calendar(authorization=_CLIENT | {"tokenEndpoint": "https://169.254.169.254/token"}),
            ("config.forbidden-address", "/authorization/tokenEndpoint"),
        ),
        (
            _bound(baseUrl="https://[fe80::1]"),
            ("config.forbidden-address", "/authorization/taskAuthority/baseUrl"),
        ),
        (
            _calendar(baseUrl="https://[::ffff:169.254.169.254]"),
            ("config.forbidden-address", "/baseUrl"),
        ),
        (
            _calendar(authorization=_CLIENT | {"taskAuthority": _TASK}),
            ("config.missing-key", "/observationAuthorization"),
        ),
        (
            _calendar(observationAuthorization=_OBSERVER),
            ("config.unknown-key", "/observationAuthorization"),
        ),
        (
            _bound() | {"observationAuthorization": _OBSERVER | {"clientId": "other"}},
            ("config.identity", "/observationAuthorization/clientId"),
        ),
        (
            _bound() | {"observationAuthorization": _OBSERVER | {"taskAuthority": _TASK}},
            ("config.unknown-key", "/observationAuthorization/taskAuthority"),
        ),
        (
            {"product": "messaging", "baseUrl": "https://letters.example"}
            | {"authorization": _CLIENT | {"taskAuthority": _TASK}},
            ("config.identity", "/authorization/taskAuthority"),
        ),
        (
            _calendar(authorization=_CLIENT | {"signingKeyRef": "secret:env/KEY"}),
            ("config.secret-reference", "/authorization/signingKeyRef"),
        ),
        (
            _calendar(authorization=_CLIENT | {"scopes": ["one", "one"]}),
            ("config.duplicate-item", "/authorization"),
        ),
        (
            _calendar(authorization=_CLIENT | {"scopes": [f"{n}{'x' * 200}" for n in range(32)]}),
            ("config.invalid-length", "/authorization"),
        ),
        (
            _calendar(authorization=_CLIENT | {"resource": "urn:one#two"}),
            ("config.invalid-value", "/authorization/resource"),
        ),
        (
            _calendar(tls={"certificateRef": "secret:file/certificate"}),
            ("config.missing-key", "/tls"),
        ),
        (_calendar(tls={}), ("config.missing-key", "/tls")),
        (
            _calendar(baseUrl="http://127.0.0.1:1", tls={"caRef": "secret:file/ca"}),
            ("config.identity", "/tls"),
        ),
    ],
)
def test_what_fits_nothing_is_refused_at_its_place(
    tmp_path: Path, connection: dict[str, Any], finding: tuple[str, str]
) -> None:
    assert finding in _refused(tmp_path, connection)


def test_a_certificate_alone_is_an_identity(tmp_path: Path) -> None:
    tls = {"certificateRef": "secret:file/certificate", "keyRef": "secret:file/key"}
    connection = {"product": "messaging", "baseUrl": "https://letters.example", "tls": tls}
    assert _runtime(tmp_path, connection).document.connections["one"].tls is not None


@pytest.mark.parametrize(
    ("reference", "secrets", "code"),
    [
        ("secret:vault/registry#token", {}, "config.secret-provider"),
        ("secret:vault/../token", {}, "config.secret-reference"),
        ("secret:vault/-x", {}, "config.secret-reference"),
        ("secret:vault/", {}, "config.secret-reference"),
        (
            "secret:vault/token",
            {"providers": {"vault": {"use": "v", "settings": {"login": "secret:vault/login"}}}},
            "config.secret-provider",
        ),
        ("secret:env/T", {"providers": {"env": {"use": "command"}}}, "config.invalid-value"),
    ],
)
def test_a_reference_names_a_provider_that_is_there(
    tmp_path: Path, reference: str, secrets: dict[str, Any], code: str
) -> None:
    connection = _calendar(authorization={"type": "bearer", "tokenRef": reference})
    assert code in [found for found, _ in _refused(tmp_path, connection, **secrets)]


async def test_settings_for_calls_hold_no_identity(tmp_path: Path) -> None:
    connections = _runtime(tmp_path, _bound()).connections
    assert connections.settings("one") == {
        "product": "scheduling",
        "baseUrl": "https://calendar.example",
    }
    assert await connections.tls("one") is None


async def test_certificates_are_read_anew_at_every_attempt(tmp_path: Path) -> None:
    tls = {"certificateRef": "secret:file/certificate", "keyRef": "secret:file/key"}
    connections = _runtime(tmp_path, _calendar(tls=tls)).connections
    (tmp_path / "secrets").mkdir()
    for name in ("certificate", "key"):
        (tmp_path / "secrets" / name).write_text("one")
        (tmp_path / "secrets" / name).chmod(0o600)
    first = await connections.tls("one")
    (tmp_path / "secrets" / "certificate").write_text("two")
    second = await connections.tls("one")
    assert first != second
    assert second is not None
    assert second.certificate == Secret("two")


async def test_what_can_not_call_is_known_before_it_is_called(tmp_path: Path) -> None:
    runtime = _runtime(tmp_path, _bound())
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in ("worker-key", "other-key"):
        (secrets / name).write_text(json.dumps(SIGNING_JWK))
        (secrets / name).chmod(0o600)
    assert await runtime.connections.rehearse() == []
    (secrets / "other-key").write_text("no key")
    [unusable] = await runtime.connections.rehearse()
    assert (unusable.code, unusable.place) == ("connection.signing-key", "one")
    (secrets / "worker-key").chmod(0o644)
    [exposed] = await runtime.connections.rehearse()
    assert (exposed.code, exposed.place) == ("connection.credential", "one")


@pytest.mark.parametrize("text", ["no certificate", ""])
async def test_certificates_that_are_none_are_known_before_they_are_used(
    tmp_path: Path, text: str
) -> None:
    runtime = _runtime(tmp_path, _calendar(tls={"caRef": "secret:file/ca"}))
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "worker-key").write_text(json.dumps(SIGNING_JWK))
    (tmp_path / "secrets" / "ca").write_text(text)
    for secret in (tmp_path / "secrets").iterdir():
        secret.chmod(0o600)
    [fault] = await runtime.connections.rehearse()
    assert fault.place == "one"
