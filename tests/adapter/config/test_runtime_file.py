"""Tests of runtime.yaml: what is accepted, and how everything wrong is reported at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.config.findings import ConfigurationError, Finding
from adapter.config.loading import load_runtime
from adapter.config.location import find_runtime
from adapter.errors import Usage

Write = Callable[[Any], Path]
SIGNED = {"signingKey": {"active": 1, "versions": {"1": "secret:env/AUDIT_KEY"}}}


def sound() -> dict[str, Any]:
    """A whole runtime document that every rule accepts."""
    return {
        "apiVersion": "coordinator/v1",
        "kind": "CoordinatorRuntime",
        "deployment": "town-hall",
        "mode": "development",
        "secrets": {"fileRoot": "secrets"},
        "temporal": {"address": "127.0.0.1:7233"},
        "database": {"url": "secret:file/database", "migrationUrl": "secret:env/MIGRATION_URL"},
        "keys": {
            "admission": {"active": 1, "versions": {"1": "secret:file/admission-1"}},
            "state": {"active": 1, "versions": {"1": "secret:file/state-1"}},
        },
        "api": {"bind": "127.0.0.1:8300", "publicUrl": "http://127.0.0.1:8300/"},
        "connections": {
            "register": {
                "product": "breg",
                "baseUrl": "http://127.0.0.1:9000/breg",
                "authorization": {"type": "bearer", "tokenRef": "secret:file/token"},
            },
        },
        "waits": {"floorSeconds": 1, "pollSeconds": {"casework": 2}},
        "authentication": {
            "apiKeys": {
                "desk": {
                    "keys": [{"hash": "sha256:" + "0" * 64, "expiresAt": "2100-01-01T00:00:00Z"}],
                    "workflows": ["*"],
                    "actions": ["start", "status"],
                }
            }
        },
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a document, or a text, as runtime.yaml and gives its path."""

    def _write(content: Any) -> Path:
        path = tmp_path / "runtime.yaml"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path

    return _write


def findings(path: Path) -> tuple[Finding, ...]:
    """What is wrong with a file."""
    with pytest.raises(ConfigurationError) as raised:
        load_runtime(path, {})
    return raised.value.findings


def test_a_sound_file_is_read_with_its_defaults(write: Write) -> None:
    document = load_runtime(write(sound()), {}).document
    assert document.temporal.task_queue == "coordinator"
    assert document.api.public_url == "http://127.0.0.1:8300"
    assert document.connections["register"].dispatch is None


def test_every_wrong_key_is_reported_in_one_go_with_its_pointer(write: Write) -> None:
    wrong = sound()
    wrong["deploymnt"] = wrong.pop("deployment")
    wrong["waits"]["floorSeconds"] = "soon"
    wrong["database"]["url"] = "postgresql://me:hunter2@db/x"
    found = {f.pointer: f.code for f in findings(write(wrong))}
    assert found == {
        "/deployment": "config.missing-key",
        "/deploymnt": "config.unknown-key",
        "/waits/floorSeconds": "config.expected-integer",
        "/database/url": "config.secret-reference",
    }


def test_a_message_never_shows_the_value_that_is_wrong(write: Write) -> None:
    wrong = sound()
    wrong["database"]["url"] = "hunter2"
    wrong["connections"]["register"]["authorization"] = {"type": "hunter2"}
    with pytest.raises(ConfigurationError) as raised:
        load_runtime(write(wrong), {})
    assert "hunter2" not in str(raised.value) + repr(raised.value.findings)


def test_a_finding_names_the_line_it_is_about(write: Write) -> None:
    text = yaml.safe_dump(sound(), sort_keys=False).replace("mode: development", "mode: playful")
    [found] = findings(write(text))
    assert text.splitlines()[found.line - 1].startswith("mode:")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: 1\na: 2\n", "yaml.duplicate-key"),
        ("a: &x 1\nb: *x\n", "yaml.anchor"),
        ("a: 0x1F\n", "yaml.ambiguous-number"),
        ("mode: development\nmode: yes\n", "yaml.duplicate-key"),
        ("a: !!set {x}\n", "yaml.tag"),
        ("a: [1\n", "yaml.unexpected-end"),
        ("a: {]\n", "yaml.syntax"),
        ("a: 1\n---\nb: 1\n", "yaml.multiple-documents"),
        ("[" * 1_000_000, "yaml.too-deep"),
        ("a: " + "x" * 1_048_576, "yaml.too-large"),
        ("1: a\n", "yaml.non-string-key"),
        ("a:\n", "config.null-value"),
        ("- a\n", "config.missing-envelope"),
        ("", "config.missing-envelope"),
    ],
)
def test_what_yaml_readers_disagree_about_is_refused(write: Write, text: str, code: str) -> None:
    assert code in {f.code for f in findings(write(text))}


def test_production_keeps_the_thirty_second_floor(write: Write) -> None:
    wrong = sound() | {"mode": "production", "audit": SIGNED}
    [found] = findings(write(wrong))
    assert (found.pointer, found.code) == ("/waits/floorSeconds", "config.out-of-range")


def test_a_production_journal_is_signed(write: Write) -> None:
    wrong = sound() | {"mode": "production", "waits": {"floorSeconds": 30}}
    [found] = findings(write(wrong))
    assert (found.pointer, found.code) == ("/audit", "config.missing-key")
    assert load_runtime(write(wrong | {"audit": SIGNED})).document.audit is not None


def test_plain_http_is_for_numeric_loopback_only(write: Write) -> None:
    wrong = sound()
    wrong["connections"]["register"]["baseUrl"] = "http://localhost:9000"
    assert [f.code for f in findings(write(wrong))] == ["config.plain-http"]


def test_two_callers_never_share_a_key(write: Write) -> None:
    wrong = sound()
    keys = wrong["authentication"]["apiKeys"]
    keys["other"] = deepcopy(keys["desk"])
    pointers = [f.pointer for f in findings(write(wrong))]
    assert pointers == ["/authentication/apiKeys/other/keys/0/hash"]


def test_an_external_connection_lists_its_paths_and_schema(write: Write) -> None:
    wrong = sound()
    wrong["connections"]["rates"] = {"product": "external", "baseUrl": "https://rates.example"}
    [found] = findings(write(wrong))
    assert (found.pointer, found.code) == ("/connections/rates", "config.missing-key")


def test_a_file_reference_needs_a_root(write: Write) -> None:
    wrong = sound()
    del wrong["secrets"]
    assert {f.code for f in findings(write(wrong))} == {"config.secret-root"}


def test_an_absent_catalogue_document_is_named(write: Write) -> None:
    wrong = sound() | {"catalogue": ["our.yaml"]}
    assert [f.pointer for f in findings(write(wrong))] == ["/catalogue/0"]


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(Usage) as raised:
        find_runtime(None, {"COORDINATOR_RUNTIME": str(tmp_path / "none.yaml")})
    assert raised.value.code == "runtime.absent"
    assert "COORDINATOR_RUNTIME" in str(raised.value)


def test_the_flag_wins_over_the_environment(write: Write) -> None:
    path = write(sound())
    assert find_runtime(path, {"COORDINATOR_RUNTIME": "/elsewhere.yaml"}) == path


def test_a_word_that_yaml_versions_read_differently_is_text(write: Write) -> None:
    wrong = yaml.safe_dump(sound()).replace("operator: false", "operator: no")
    wrong = wrong.replace("      keys:", "      operator: no\n      keys:", 1)
    assert {f.code for f in findings(write(wrong))} == {"config.expected-boolean"}


def test_null_may_stand_in_a_response_schema(write: Write) -> None:
    document = sound()
    document["connections"]["rates"] = {
        "product": "external",
        "baseUrl": "https://rates.example",
        "authorization": {"type": "anonymous"},
        "paths": ["v1/rates"],
        "responseSchema": {"properties": {"body": {"enum": [None, 1]}}},
    }
    assert load_runtime(write(document), {}).document.connections["rates"].product == "external"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "runtime.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + yaml.safe_dump(sound()).replace("\n", ends).encode())
    assert load_runtime(path, {}).document.deployment == "town-hall"


@pytest.mark.parametrize("kind", ["absent", "folder", "pipe", "dangling"])
def test_a_runtime_file_that_is_no_file_is_refused_without_waiting(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "runtime.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(Usage) as raised:
        load_runtime(path, {})
    assert (raised.value.code, raised.value.place) == ("runtime.unreadable", str(path))
    assert raised.value.remedy


def test_a_mounted_runtime_file_may_be_a_link(write: Write, tmp_path: Path) -> None:
    target = write(sound()).rename(tmp_path / "mounted.yaml")
    (tmp_path / "runtime.yaml").symlink_to(target)
    assert load_runtime(tmp_path / "runtime.yaml", {}).document.mode == "development"


def test_a_runtime_file_of_the_public_format_says_what_to_do(write: Write) -> None:
    text = (
        "apiVersion: id.registrystack.org/formats/coordinator/runtime/v1alpha1\n"
        "kind: CoordinatorRuntimeConfig\n"
    )
    [found] = findings(write(text))
    assert (found.code, found.line) == ("config.unsupported-api-version", 1)
    assert "coordinator/v1" in found.remedy


def test_a_sender_of_events_has_a_secret_of_its_own(write: Write) -> None:
    document = sound()
    sender = {"source": "urn:registry", "secretRef": "secret:file/events", "workflows": ["*"]}
    document["events"] = {"sources": {"one": sender, "other": deepcopy(sender)}}
    assert [(f.code, f.pointer) for f in findings(write(document))] == [
        ("config.duplicate-item", "/events/sources/other/secretRef")
    ]


def test_every_sender_counts_whatever_it_sends(write: Write) -> None:
    document = sound()
    secret = {"secretRef": "secret:file/events"}
    document["events"] = {"completions": {"casework": secret, "scheduling": dict(secret)}}
    assert [(f.code, f.pointer) for f in findings(write(document))] == [
        ("config.duplicate-item", "/events/completions/scheduling/secretRef")
    ]


@pytest.mark.parametrize("other", ["state", "admission", "signing"])
def test_no_two_keys_are_one_secret(write: Write, other: str) -> None:
    document = sound()
    document["audit"] = deepcopy(SIGNED)
    key = document["audit"]["signingKey"] if other == "signing" else document["keys"][other]
    key["versions"]["2"] = "secret:file/state-1"
    place = "/audit/signingKey" if other == "signing" else f"/keys/{other}"
    assert [(f.code, f.pointer) for f in findings(write(document))] == [
        ("config.duplicate-item", f"{place}/versions/2")
    ]


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("http://temporal.example.org", "config.plain-http"),
        ("https://temporal.example.org/", "config.invalid-value"),
        ("*", "config.invalid-value"),
        ("null", "config.invalid-value"),
        ("https://Temporal.example.org", "config.invalid-value"),
        ("https://*.example.org", "config.invalid-value"),
    ],
)
def test_the_pages_of_the_codec_server_are_named_one_by_one(
    write: Write, origin: str, code: str
) -> None:
    wrong = sound() | {"codec": {"uiOrigins": [origin]}}
    [finding] = findings(write(wrong))
    assert (finding.code, finding.pointer) == (code, "/codec/uiOrigins/0")


@pytest.mark.parametrize(
    ("mode", "bind", "sound_so"),
    [
        ("development", "127.0.0.1:8300", True),
        ("development", "0.0.0.0:8300", False),
        ("production", "127.0.0.1:8300", False),
    ],
)
def test_a_key_stands_in_an_address_in_development_on_loopback_only(
    write: Write, mode: str, bind: str, sound_so: bool
) -> None:
    codec = {"uiOrigins": ["http://localhost:8233"], "keyInPath": True}
    changes = {"codec": codec, "mode": mode, "audit": SIGNED, "waits": {}}
    document = sound() | changes
    document["api"]["bind"] = bind
    path = write(document)
    if sound_so:
        assert load_runtime(path, {}).document.codec is not None
    else:
        assert [f.code for f in findings(path)] == ["config.key-in-path"]


def test_plain_signals_are_taken_unless_a_deployment_says_otherwise(write: Write) -> None:
    assert load_runtime(write(sound()), {}).document.temporal.plain_signals
    document = sound()
    document["temporal"]["plainSignals"] = False
    assert not load_runtime(write(document), {}).document.temporal.plain_signals
