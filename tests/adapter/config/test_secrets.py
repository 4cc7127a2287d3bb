"""Tests of secret references: custody of files, variables, and credentials of connections."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from activities.credentials import Secret
from activities.errors import ConnectionFault
from adapter.config.connections import ConfiguredConnections
from adapter.config.document import Connection
from adapter.config.secrets import SecretStore
from adapter.errors import Unavailable
from tests.activities.issuers import NO_ATTEMPT


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one well-kept secret called token."""
    (tmp_path / "token").write_text("s3cret\n")
    (tmp_path / "token").chmod(0o600)
    return tmp_path


def code(store: SecretStore, reference: str) -> str:
    """The code with which a secret is refused."""
    with pytest.raises(Unavailable) as raised:
        store.read(reference)
    assert "s3cret" not in str(raised.value)
    return raised.value.code


def test_a_well_kept_file_is_read_without_its_newline(root: Path) -> None:
    assert SecretStore(root, {}).secret("secret:file/token") == Secret("s3cret")


def test_a_variable_is_read(root: Path) -> None:
    assert SecretStore(None, {"TOKEN": "s3cret"}).read("secret:env/TOKEN") == b"s3cret"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o700])
def test_a_file_that_others_may_read_is_refused(root: Path, mode: int) -> None:
    (root / "token").chmod(mode)
    assert code(SecretStore(root, {}), "secret:file/token") == "secret.exposed"


def test_a_second_hard_link_is_refused(root: Path) -> None:
    os.link(root / "token", root / "other")
    assert code(SecretStore(root, {}), "secret:file/token") == "secret.exposed"


def test_a_symbolic_link_is_refused(root: Path) -> None:
    (root / "link").symlink_to(root / "token")
    assert code(SecretStore(root, {}), "secret:file/link") == "secret.absent"


@pytest.mark.parametrize("reference", ["secret:file/none", "secret:env/NONE"])
def test_an_absent_secret_is_named_by_its_reference(root: Path, reference: str) -> None:
    with pytest.raises(Unavailable) as raised:
        SecretStore(root, {}).read(reference)
    assert (raised.value.code, raised.value.place) == ("secret.absent", reference)


def test_an_empty_secret_is_refused(root: Path) -> None:
    (root / "token").write_text("\n")
    assert code(SecretStore(root, {}), "secret:file/token") == "secret.unusable"


async def test_a_credential_is_read_anew_for_every_attempt(root: Path) -> None:
    connection = Connection.model_validate(
        {
            "product": "breg",
            "baseUrl": "https://breg.example",
            "authorization": {"type": "bearer", "tokenRef": "secret:file/token"},
        }
    )
    connections = ConfiguredConnections({"register": connection}, SecretStore(root, {}))
    authorization = connections.authorization("register")
    assert await authorization.header(NO_ATTEMPT) == Secret("Bearer s3cret")
    (root / "token").write_text("fresh")
    assert await authorization.header(NO_ATTEMPT) == Secret("Bearer fresh")


def test_settings_hold_neither_credential_nor_routing() -> None:
    connection = Connection.model_validate(
        {"product": "breg", "baseUrl": "https://breg.example/", "dispatch": "remote"}
    )
    connections = ConfiguredConnections({"register": connection}, SecretStore(None, {}))
    assert connections.settings("register") == {
        "product": "breg",
        "baseUrl": "https://breg.example",
    }
    with pytest.raises(ConnectionFault, match=r"connection\.unknown"):
        connections.settings("other")
