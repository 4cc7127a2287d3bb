"""Runtime files of the public format: every rule by its code and place, and never a secret."""

from __future__ import annotations

import copy
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from activities.catalogue import Catalogue
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.proof import prove_project, prove_runtime
from adapter.authoring.runtimes import read_runtime
from tests.adapter.authoring.mutations import json_values, mutated, places
from tests.adapter.authoring.public_projects import FOLDER

_FORMAT = "id.registrystack.org/formats/coordinator/runtime/v1alpha1"
_CLIENT: dict[str, Any] = {
    "tokenEndpoint": "https://login.example.org/token",
    "clientId": "desk",
    "signingKeyRef": "secret:file/key",
    "resource": "urn:example:records",
    "scopes": ["read"],
}
_TASK = {
    "baseUrl": "https://casework.example.org",
    "issuer": "https://casework.example.org",
    "subject": "coordinator",
    "exchangeAudience": "urn:login",
    "bootstrapResource": "urn:casework",
}


def sound() -> dict[str, Any]:
    """A file with every kind of connection and a deployment."""
    deployment = yaml.safe_load((FOLDER / "late-reminder" / "runtime.yaml").read_text())
    return {
        "apiVersion": _FORMAT,
        "kind": "CoordinatorRuntimeConfig",
        "secretProviders": {"file": {"root": "/secrets"}, "environment": {}},
        "database": {"runtimeUrlRef": "secret:env/URL", "migrationUrlRef": "secret:file/owner"},
        "namespace": "coordinator_test",
        "connections": {
            "records": {
                "product": "breg",
                "baseUrl": "https://records.example.org",
                "profile": "desk",
                "authorization": copy.deepcopy(_CLIENT),
            },
            "calendar": {
                "product": "scheduling",
                "baseUrl": "https://calendar.example.org",
                "authorization": {**copy.deepcopy(_CLIENT), "taskAuthority": dict(_TASK)},
                "observationAuthorization": copy.deepcopy(_CLIENT),
            },
        },
        "externalHttpConnections": {
            "directory": {
                "baseUrl": "https://directory.example.org",
                "paths": ["offices"],
                "responseSchema": {"type": "object"},
            }
        },
        "decisionConnections": {
            "judge": {
                "protocol": "system-one",
                "baseUrl": "http://127.0.0.1:9",
                "model": "small",
                "authorization": {"local": {}},
            }
        },
        "deployment": deployment["deployment"],
    }


def changed(*path_and_value: Any) -> dict[str, Any]:
    """The sound file with one member replaced, or removed for None."""
    document = sound()
    *path, last, value = path_and_value
    place: Any = document
    for key in path:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document


def found(document: Any, environment: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """Code and pointer of every finding."""
    report = Report()
    text = document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False)
    read_runtime(text.encode(), "runtime.yaml", Path(), report, environment)
    return [(one.code.removeprefix("coordinator."), one.spot.pointer) for one in report.findings()]


_RECORDS, _CALENDAR = ("connections", "records"), ("connections", "calendar")
_DIRECTORY, _JUDGE = ("externalHttpConnections", "directory"), ("decisionConnections", "judge")
_ACCESS = ("deployment", "authentication")
_POLICY = (*_ACCESS, "policies", 0)
_WRONG: list[tuple[tuple[Any, ...], str, str]] = [
    (("kind", "CoordinatorRuntime"), "config.wrong-kind", "/kind"),
    (("namespace", "elsewhere"), "config.invalid-value", "/namespace"),
    (("namespace", None), "config.missing-key", ""),
    (("namespaces", 1), "config.unknown-key", "/namespaces"),
    (("secretProviders", {}), "runtime-config.refused", "/secretProviders"),
    (
        ("secretProviders", {"file": {"root": "/s"}}),
        "runtime-config.refused",
        "/database/runtimeUrlRef",
    ),
    (
        ("secretProviders", "file", "root", "secrets"),
        "config.invalid-value",
        "/secretProviders/file/root",
    ),
    (
        ("database", "runtimeUrlRef", "postgresql://x"),
        "config.invalid-value",
        "/database/runtimeUrlRef",
    ),
    ((*_RECORDS, "profile", None), "config.missing-key", "/connections/records"),
    ((*_RECORDS, "product", "messaging"), "adapter.configuration", "/connections/records/profile"),
    ((*_RECORDS, "product", "casework"), "config.unknown-variant", "/connections/records/product"),
    (
        (*_RECORDS, "baseUrl", "http://localhost:1"),
        "adapter.configuration",
        "/connections/records/baseUrl",
    ),
    (
        (*_RECORDS, "baseUrl", "https://a.example/x//y"),
        "adapter.configuration",
        "/connections/records/baseUrl",
    ),
    (
        (*_RECORDS, "baseUrl", "https://a.example/?x"),
        "adapter.configuration",
        "/connections/records/baseUrl",
    ),
    (
        (*_RECORDS, "baseUrl", "https://me@a.example"),
        "adapter.configuration",
        "/connections/records/baseUrl",
    ),
    (
        (*_RECORDS, "authorization", "signingKeyRef", "secret:env/KEY"),
        "adapter.configuration",
        "/connections/records/authorization/signingKeyRef",
    ),
    (
        (*_RECORDS, "authorization", "scopes", ["a", "a"]),
        "config.duplicate-item",
        "/connections/records/authorization/scopes/1",
    ),
    (
        (*_RECORDS, "authorization", "scopes", []),
        "config.invalid-length",
        "/connections/records/authorization/scopes",
    ),
    (
        (*_RECORDS, "authorization", "resource", "no-scheme"),
        "adapter.configuration",
        "/connections/records/authorization/resource",
    ),
    (
        (*_RECORDS, "observationAuthorization", _CLIENT),
        "adapter.configuration",
        "/connections/records/observationAuthorization",
    ),
    (
        (*_CALENDAR, "observationAuthorization", None),
        "adapter.configuration",
        "/connections/calendar",
    ),
    (
        (*_CALENDAR, "observationAuthorization", "clientId", "other"),
        "adapter.configuration",
        "/connections/calendar/observationAuthorization/clientId",
    ),
    (
        (*_CALENDAR, "observationAuthorization", "taskAuthority", _TASK),
        "adapter.configuration",
        "/connections/calendar/observationAuthorization/taskAuthority",
    ),
    (
        (*_CALENDAR, "baseUrl", "https://169.254.169.254"),
        "adapter.configuration",
        "/connections/calendar/baseUrl",
    ),
    (
        (*_CALENDAR, "authorization", "tokenEndpoint", "https://metadata.google.internal/token"),
        "adapter.configuration",
        "/connections/calendar/authorization/tokenEndpoint",
    ),
    (
        (*_DIRECTORY, "baseUrl", "https://[::ffff:a9fe:a9fe]"),
        "external-http.configuration",
        "/externalHttpConnections/directory/baseUrl",
    ),
    (
        (*_DIRECTORY, "paths", ["/offices"]),
        "external-http.configuration",
        "/externalHttpConnections/directory/paths/0",
    ),
    (
        (*_DIRECTORY, "paths", ["a/../b"]),
        "external-http.configuration",
        "/externalHttpConnections/directory/paths/0",
    ),
    (
        (*_DIRECTORY, "responseSchema", {"type": "objekt"}),
        "external-http.configuration",
        "/externalHttpConnections/directory/responseSchema/type",
    ),
    (
        (*_DIRECTORY, "responseSchema", None),
        "config.missing-key",
        "/externalHttpConnections/directory",
    ),
    (
        (*_DIRECTORY, "attemptTimeoutMilliseconds", 2001),
        "config.out-of-range",
        "/externalHttpConnections/directory/attemptTimeoutMilliseconds",
    ),
    (
        (*_JUDGE, "baseUrl", "https://judge.example.org"),
        "decision.configuration",
        "/decisionConnections/judge/authorization",
    ),
    (
        (*_JUDGE, "authorization", {}),
        "config.unknown-variant",
        "/decisionConnections/judge/authorization",
    ),
    (
        (*_JUDGE, "protocol", "other"),
        "config.unknown-variant",
        "/decisionConnections/judge/protocol",
    ),
    (("decisionConnections", "records", {}), "config.duplicate-id", "/decisionConnections/records"),
    (
        ("deployment", "listener", "bind", "localhost:1"),
        "deployment.configuration",
        "/deployment/listener/bind",
    ),
    (("deployment", "activeStateKey", 3), "deployment.configuration", "/deployment/activeStateKey"),
    (
        ("deployment", "stateKeys", "02", {"keyRef": "secret:file/k"}),
        "deployment.configuration",
        "/deployment/stateKeys/02",
    ),
    (("deployment", "auditFile", "/var/../x"), "config.invalid-value", "/deployment/auditFile"),
    (
        ("deployment", "package", "expectedDigest", "sha256:1"),
        "config.invalid-value",
        "/deployment/package/expectedDigest",
    ),
    (
        (*_ACCESS, "issuer", "http://login.example.org"),
        "access.configuration",
        "/deployment/authentication/issuer",
    ),
    (
        (*_ACCESS, "allowedClients", []),
        "config.invalid-length",
        "/deployment/authentication/allowedClients",
    ),
    (
        (*_ACCESS, "allowedClients", ["desk", "on-call", "third"]),
        "access.configuration",
        "/deployment/authentication/policies",
    ),
    (
        (*_ACCESS, "allowedClients", 1, "*"),
        "access.configuration",
        "/deployment/authentication/allowedClients/1",
    ),
    (
        (*_ACCESS, "jwksSource", {"type": "file"}),
        "config.unknown-variant",
        "/deployment/authentication/jwksSource/type",
    ),
    (
        (*_POLICY, "clientId", "stranger"),
        "access.configuration",
        "/deployment/authentication/policies/0/clientId",
    ),
    (
        (*_POLICY, "actions", ["start", "doctor"]),
        "access.configuration",
        "/deployment/authentication/policies/0/actions",
    ),
    (
        (*_POLICY, "actions", ["begin"]),
        "access.configuration",
        "/deployment/authentication/policies/0/actions/0",
    ),
    (
        (*_POLICY, "operator", "yes"),
        "config.expected-boolean",
        "/deployment/authentication/policies/0/operator",
    ),
]


def test_a_file_with_everything_is_sound() -> None:
    assert found(sound()) == []


@pytest.mark.parametrize(("path_and_value", "code", "pointer"), _WRONG)
def test_a_broken_rule_has_a_code_and_a_place(
    path_and_value: tuple[Any, ...], code: str, pointer: str
) -> None:
    assert (code, pointer) in found(changed(*path_and_value))


def test_independent_mistakes_are_reported_together() -> None:
    document = changed(*_RECORDS, "baseUrl", "http://localhost")
    document["namespace"] = "x"
    document["deployment"]["activeStateKey"] = 9
    assert len(found(document)) == 3


@pytest.mark.parametrize(
    ("value", "environment", "code"),
    [
        ("${ORIGIN}", None, None),
        ("https://${HOST}/x", None, None),
        ("${ORIGIN}", {"ORIGIN": "https://a.example"}, None),
        ("${ORIGIN:-https://a.example}", {}, None),
        ("${ORIGIN}", {}, "config.substitution"),
        ("${ORIGIN", None, "config.substitution"),
        ("${ORIGIN}", {"ORIGIN": "http://localhost"}, "adapter.configuration"),
    ],
)
def test_a_substitution_is_known_only_with_an_environment(
    value: str, environment: dict[str, str] | None, code: str | None
) -> None:
    document = changed(*_RECORDS, "baseUrl", value)
    document["deployment"]["databaseId"] = "test"
    codes = [one for one, _ in found(document, environment)]
    assert codes == ([] if code is None else [code])


@pytest.mark.parametrize(
    "path_and_value",
    [("apiVersion", "${FORMAT}"), ("database", "runtimeUrlRef", "secret:env/${NAME}")],
)
def test_envelope_and_references_are_written_out(path_and_value: tuple[Any, ...]) -> None:
    codes = {code for code, _ in found(changed(*path_and_value))}
    assert codes & {"config.substitution", "config.unsupported-api-version"}


def test_a_substituted_number_is_one() -> None:
    document = changed(*_DIRECTORY, "maximumResponseBytes", "${MOST}")
    document["deployment"]["databaseId"] = "test"
    assert found(document, {"MOST": "512"}) == []
    assert [code for code, _ in found(document, {"MOST": "5120000"})] == ["config.out-of-range"]


@pytest.mark.parametrize(
    ("path_and_value", "pointer"),
    [
        (("connections", "records", None), "/connections"),
        (("connections", "records", "product", "scheduling"), "/connections/records"),
        (
            ("connections", "calendar", "authorization", "taskAuthority", None),
            "/connections/calendar",
        ),
        (("connections", "letters", None), "/connections"),
    ],
)
def test_a_connection_is_bound_as_the_workflow_uses_it(
    tmp_path: Path, path_and_value: tuple[Any, ...], pointer: str
) -> None:
    runtime = yaml.safe_load((FOLDER / "counter_booking" / "runtime.yaml").read_text())
    *path, last, value = path_and_value
    place: Any = runtime
    for key in path:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    (tmp_path / "runtime.yaml").write_text(yaml.safe_dump(runtime))
    proof = prove_project(
        FOLDER / "counter_booking", Catalogue.standard(), runtime=tmp_path / "runtime.yaml"
    )
    bindings = [
        one.spot.pointer
        for one in proof.errors
        if one.code == "coordinator.runtime.workflow-binding"
    ]
    assert bindings == [pointer]


def test_an_action_is_not_invoked_for_a_task(tmp_path: Path) -> None:
    runtime = sound()
    runtime["connections"]["records"]["authorization"]["taskAuthority"] = _TASK
    (tmp_path / "runtime.yaml").write_text(yaml.safe_dump(runtime))
    proof = prove_project(
        FOLDER / "bakery-judgement", Catalogue.standard(), runtime=tmp_path / "runtime.yaml"
    )
    assert [one.spot.pointer for one in proof.errors] == ["/connections/records"]


def test_a_secret_in_the_file_is_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "runtime.yaml"
    path.write_text(yaml.safe_dump(changed("database", "runtimeUrlRef", "hunter2")))
    proof = prove_runtime(path)
    assert [one.code for one in proof.errors] == ["config.invalid-value"]
    assert "hunter2" not in repr(proof.diagnostics) + repr(proof.sources)


@given(seed=st.integers(0, 2**32), values=st.lists(json_values, min_size=1, max_size=4))
def test_a_mutated_file_gives_findings_with_places_or_none(seed: int, values: list[Any]) -> None:
    chance = random.Random(seed)
    document = sound()
    for value in values:
        if places(document):
            document = mutated(document, chance, value)
    report = Report()
    text = json.dumps(document, indent=1)
    read_runtime(text.encode(), "runtime.yaml", Path(), report, {"HOME": "x"})
    for one in report.findings():
        assert one.remedy
        assert 1 <= one.spot.line <= text.count("\n") + 1


def lookup(tmp_path: Path, old: str, new: str) -> list[tuple[str, str, str]]:
    """What is found about the office look-up after one change of its runtime file."""
    shutil.copytree(FOLDER / "office_lookup", tmp_path, dirs_exist_ok=True)
    file = tmp_path / "runtime.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    found = prove_project(tmp_path, Catalogue.standard()).diagnostics
    return [(one.code, one.spot.pointer, one.message) for one in found]


def test_an_answer_that_the_connection_would_not_let_through_is_a_warning(tmp_path: Path) -> None:
    [(code, pointer, message)] = lookup(tmp_path, "[200, 404, 410, 500, null]", "[200, 404, 500]")
    assert code == "coordinator.scenario.response-schema"
    assert pointer == "/cases/1/replies/ask/0/value/status"
    assert message.endswith("responseSchema in runtime.yaml: enum")
    assert "410" not in message


def test_a_schema_that_only_the_deployment_knows_is_not_compared(tmp_path: Path) -> None:
    unknown = '[200, 404, "${STATUS}"]'
    assert lookup(tmp_path, "[200, 404, 410, 500, null]", unknown) == []
