"""Tests of the part `authentication`: what is believed and allowed, proved without a server."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.config.callers import ACTIONS, OPERATORS_ALONE
from adapter.config.findings import ConfigurationError
from adapter.config.loading import load_runtime
from tests.adapter.config.test_runtime_file import sound

PLAIN = {"workflows": ["*"], "actions": ["status"]}
CLIENT = {"requiredScopes": ["runs"], **PLAIN}
ISSUER = {
    "issuer": "https://issuer.example/",
    "audience": "https://coordinator.example",
    "clients": {"desk": CLIENT},
}
KEY = {"hash": "sha256:" + "1" * 64, "expiresAt": "2030-01-01T00:00:00Z"}


def document() -> dict[str, Any]:
    """A runtime document with an issuer and an API key."""
    part = {"issuers": {"staff": deepcopy(ISSUER)}, "apiKeys": {"job": {"keys": [KEY], **PLAIN}}}
    return sound() | {"authentication": deepcopy(part)}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The document with one member below `authentication` changed; None takes it out."""
    made = document()
    *parents, last = path.split("/")
    place: Any = made["authentication"]
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


def findings(folder: Path, written: dict[str, Any]) -> list[tuple[str, str]]:
    """Code and pointer of everything that is wrong, below `authentication`."""
    path = folder / "runtime.yaml"
    path.write_text(yaml.safe_dump(written, sort_keys=False))
    try:
        load_runtime(path, {})
    except ConfigurationError as error:
        return [
            (one.code, one.pointer.removeprefix("/authentication/"))
            for one in error.findings
            if one.line
        ]
    return []


def test_an_issuers_address_is_kept_letter_by_letter(tmp_path: Path) -> None:
    assert findings(tmp_path, document()) == []
    read = load_runtime(tmp_path / "runtime.yaml", {}).document.authentication
    assert read.issuers["staff"].issuer == "https://issuer.example/"
    assert read.issuers["staff"].key_set.type == "discovery"
    assert (read.limits.per_second, read.limits.burst) == (50, 200)


STAFF = "issuers/staff"
DESK = f"{STAFF}/clients/desk"
WRONG: list[tuple[str, Any, str, str]] = [
    (f"{STAFF}/issuer", "http://issuer.example", "config.plain-http", f"{STAFF}/issuer"),
    (f"{STAFF}/issuer", "https://a.example/?x", "config.invalid-value", f"{STAFF}/issuer"),
    (f"{STAFF}/issuer", "issuer.example", "config.invalid-value", f"{STAFF}/issuer"),
    (f"{STAFF}/issuer", None, "config.missing-key", f"{STAFF}/issuer"),
    (f"{STAFF}/audience", "x" * 513, "config.invalid-length", f"{STAFF}/audience"),
    (f"{STAFF}/algorithms", ["HS256"], "config.invalid-value", f"{STAFF}/algorithms/0"),
    (f"{STAFF}/algorithms", ["none"], "config.invalid-value", f"{STAFF}/algorithms/0"),
    (f"{STAFF}/algorithms", [], "config.invalid-length", f"{STAFF}/algorithms"),
    (f"{STAFF}/algorithms", ["ES256"] * 2, "config.duplicate-item", f"{STAFF}/algorithms"),
    (
        f"{STAFF}/longestLifetimeSeconds",
        3_601,
        "config.out-of-range",
        f"{STAFF}/longestLifetimeSeconds",
    ),
    (f"{STAFF}/clients", {}, "config.invalid-length", f"{STAFF}/clients"),
    (f"{STAFF}/clients", None, "config.missing-key", f"{STAFF}/clients"),
    (f"{STAFF}/keySet", {"type": "jwks"}, "config.unknown-variant", f"{STAFF}/keySet"),
    (f"{STAFF}/keySet", {"type": "uri"}, "config.missing-key", f"{STAFF}/keySet/uri"),
    (
        f"{STAFF}/keySet",
        {"type": "uri", "uri": "http://keys.example"},
        "config.plain-http",
        f"{STAFF}/keySet/uri",
    ),
    (
        f"{STAFF}/keySet",
        {"type": "uri", "uri": "https://169.254.169.254/keys"},
        "config.forbidden-address",
        f"{STAFF}/keySet/uri",
    ),
    (f"{STAFF}/issuer", "https://[fe80::1]", "config.forbidden-address", f"{STAFF}/issuer"),
    (
        f"{STAFF}/keySet",
        {"type": "static", "documentRef": "keys.json"},
        "config.secret-reference",
        f"{STAFF}/keySet/documentRef",
    ),
    (f"{DESK}/requiredScopes", [], "config.invalid-length", f"{DESK}/requiredScopes"),
    (f"{DESK}/requiredScopes", ["a b"], "config.invalid-value", f"{DESK}/requiredScopes/0"),
    (
        f"{DESK}/requiredScopes",
        ["x" * 200 + str(n) for n in range(6)],
        "config.invalid-value",
        DESK,
    ),
    (f"{DESK}/workflows", [], "config.invalid-length", f"{DESK}/workflows"),
    (f"{DESK}/workflows", ["*", "a"], "config.invalid-value", f"{DESK}/workflows"),
    (f"{DESK}/workflows", ["a*"], "config.invalid-value", f"{DESK}/workflows/0"),
    (f"{DESK}/actions", [], "config.invalid-length", f"{DESK}/actions"),
    (f"{DESK}/actions", ["everything"], "config.invalid-value", f"{DESK}/actions/0"),
    (f"{DESK}/actions", ["start", "doctor"], "config.operator-alone", f"{DESK}/actions/1"),
    ("apiKeys/job/keys", [], "config.invalid-length", "apiKeys/job/keys"),
    ("apiKeys/job/keys", [KEY, dict(KEY)], "config.duplicate-item", "apiKeys/job/keys/1/hash"),
    ("apiKeys/job/keys/0/hash", "hunter2", "config.invalid-value", "apiKeys/job/keys/0/hash"),
    (
        "apiKeys/job/keys/0/expiresAt",
        "2030-01-01",
        "config.invalid-value",
        "apiKeys/job/keys/0/expiresAt",
    ),
    (
        "apiKeys/job/keys/0/expiresAt",
        None,
        "config.missing-key",
        "apiKeys/job/keys/0/expiresAt",
    ),
    ("limits/burst", 0, "config.out-of-range", "limits/burst"),
    (
        "limits/trustedProxies",
        ["10.0.0.1/8"],
        "config.invalid-value",
        "limits/trustedProxies/0",
    ),
]


@pytest.mark.parametrize(("path", "value", "code", "pointer"), WRONG)
def test_what_is_wrong_about_callers_is_placed(
    tmp_path: Path, path: str, value: Any, code: str, pointer: str
) -> None:
    assert findings(tmp_path, changed(path, value)) == [(code, pointer)]


@pytest.mark.parametrize("action", ACTIONS)
def test_only_an_operator_is_given_an_operators_actions(tmp_path: Path, action: str) -> None:
    policy = {"keys": [KEY], "workflows": ["*"], "actions": [action]}
    alone = findings(tmp_path, changed("apiKeys/job", policy))
    assert bool(alone) == (action in OPERATORS_ALONE)
    assert findings(tmp_path, changed("apiKeys/job", policy | {"operator": True})) == []


def test_an_issuer_and_a_key_stand_once(tmp_path: Path) -> None:
    made = document()
    made["authentication"]["issuers"]["others"] = deepcopy(ISSUER)
    made["authentication"]["apiKeys"]["other"] = {"keys": [KEY], **PLAIN}
    assert findings(tmp_path, made) == [
        ("config.duplicate-item", "issuers/others/issuer"),
        ("config.duplicate-item", "apiKeys/other/keys/0/hash"),
    ]


@pytest.mark.parametrize("name", ["static", "none", "bearer", "authorization", "uri"])
def test_a_caller_may_be_called_as_a_kind_is(tmp_path: Path, name: str) -> None:
    policy = {"keys": [KEY], "workflows": ["*"], "actions": ["nothing"]}
    made = changed(f"apiKeys/{name}", policy)
    del made["authentication"]["apiKeys"]["job"]
    assert findings(tmp_path, made) == [("config.invalid-value", f"apiKeys/{name}/actions/0")]
