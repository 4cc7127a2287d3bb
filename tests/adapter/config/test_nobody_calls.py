"""Tests of what is said of a runtime file that lets nobody call."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.config.caller_rules import nobody_calls
from adapter.config.loading import load_runtime
from tests.adapter.config.test_runtime_file import SIGNED, sound
from tests.fixtures.access import key_policy

NOW = datetime(2026, 1, 2, tzinfo=UTC)
KEY = key_policy("desk")
OTHER = key_policy("other")
ENDED = key_policy("desk") | {
    "keys": [KEY["keys"][0] | {"expiresAt": (NOW - timedelta(days=1)).isoformat()}]
}
POLICY = {"workflows": ["*"], "actions": ["start"], "requiredScopes": ["runs"]}
ISSUER = {"issuer": "https://a.example", "audience": "https://b", "clients": {"c": POLICY}}


@pytest.mark.parametrize(
    ("mode", "authentication", "told"),
    [
        ("production", None, True),
        ("production", {}, True),
        ("production", {"limits": {"burst": 5}}, True),
        ("production", {"apiKeys": {"desk": ENDED}}, True),
        ("production", {"apiKeys": {"desk": ENDED, "other": OTHER}}, False),
        ("production", {"issuers": {"staff": ISSUER}}, False),
        ("development", {}, False),
    ],
)
def test_a_production_deployment_that_nobody_may_call_is_told(
    tmp_path: Path, mode: str, authentication: dict[str, Any] | None, told: bool
) -> None:
    document = sound() | {"mode": mode, "audit": SIGNED, "waits": {}}
    document.pop("authentication")
    if authentication is not None:
        document["authentication"] = deepcopy(authentication)
    path = tmp_path / "runtime.yaml"
    path.write_text(yaml.safe_dump(document))
    found = nobody_calls(load_runtime(path, {}).document, NOW)
    assert (found is not None) == told
    assert found is None or (found.code, found.pointer) == (
        "config.nobody-calls",
        "/authentication",
    )
