"""Tests of the secrets that a process has at its start: no two keys and no two senders are one."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.config.loading import load_runtime
from adapter.crypto import new_secret
from adapter.errors import Refused, Usage
from adapter.wiring.deployment import journal_keys
from adapter.wiring.event_sources import senders_of
from tests.adapter.config.test_runtime_file import SIGNED, sound

ENVIRONMENT = {"AUDIT_KEY": new_secret().decode()}


class Files:
    """A runtime file with its secrets."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "runtime.yaml"
        self.secrets = folder / "secrets"
        self.secrets.mkdir()
        self.keep("state-1", new_secret())
        self.keep("admission-1", new_secret())
        self.write({})

    def keep(self, name: str, secret: bytes) -> None:
        """Write a secret as it has to be kept."""
        file = self.secrets / name
        file.write_bytes(secret)
        file.chmod(0o600)

    def write(self, events: dict[str, Any]) -> None:
        """Write a signed deployment that takes these events."""
        self.path.write_text(yaml.safe_dump(sound() | {"audit": SIGNED, "events": events}))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A deployment whose keys are each their own."""
    return Files(tmp_path)


def test_a_signing_key_that_is_no_other_key_signs(files: Files) -> None:
    signing = journal_keys(load_runtime(files.path, ENVIRONMENT))
    assert signing is not None
    assert signing.active == 1


@pytest.mark.parametrize("other", ["state-1", "admission-1"])
@pytest.mark.parametrize("spelled", [str, lambda text: b64decode(text).hex()])
def test_a_signing_key_that_is_another_key_too_is_refused(
    files: Files, other: str, spelled: Any
) -> None:
    files.keep(other, spelled(ENVIRONMENT["AUDIT_KEY"]).encode())
    with pytest.raises(Refused) as refusal:
        journal_keys(load_runtime(files.path, ENVIRONMENT))
    assert refusal.value.code == "keys.invalid"
    assert ENVIRONMENT["AUDIT_KEY"] not in str(refusal.value)


def test_two_senders_with_one_secret_are_refused_however_it_is_written(files: Files) -> None:
    secret = new_secret().decode()
    files.keep("one", secret.encode())
    files.keep("other", f"whsec_{secret}".encode())
    source = {"source": "urn:registry", "secretRef": "secret:file/other", "workflows": ["*"]}
    files.write(
        {
            "completions": {"casework": {"secretRef": "secret:file/one"}},
            "sources": {"registry": source},
        }
    )
    with pytest.raises(Usage) as refusal:
        senders_of(load_runtime(files.path, ENVIRONMENT))
    assert (refusal.value.code, refusal.value.place) == (
        "events.secret-shared",
        "secret:file/other",
    )
