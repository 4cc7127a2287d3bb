"""The issuer of a development deployment: what is made once, and what its connections say."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from activities.credentials import Secret
from activities.credentials.assertions import SigningKey, client_assertion
from adapter.cli.local_files import LocalFiles
from adapter.cli.local_issuer import CLIENT, CLIENT_KEY, TASK_AUTHORITY, prepare_issuer
from adapter.cli.pretend_connections import pretend_connections
from adapter.config.document import Connection
from adapter.config.identities import BearerAuthorization, ClientAuthorization
from adapter.issuer import CLIENT_ASSERTION, CLIENT_CREDENTIALS, IssuerFolder, Tokens
from tests.house.places import ROOT


@pytest.fixture
def files(tmp_path: Path) -> LocalFiles:
    files = LocalFiles(tmp_path / "deployment")
    files.prepare()
    return files


def test_keys_and_clients_are_made_once(files: LocalFiles) -> None:
    folder = prepare_issuer(files)
    before = {one.name: one.read_text() for one in folder.iterdir()}
    assert prepare_issuer(files) == folder
    assert before == {one.name: one.read_text() for one in folder.iterdir()}
    assert TASK_AUTHORITY in IssuerFolder(folder).authorities()


def test_the_kept_key_gets_tokens_for_what_the_connections_ask(files: LocalFiles) -> None:
    kept = IssuerFolder(prepare_issuer(files))
    tokens = Tokens(kept, "http://127.0.0.1:1", time.time)
    key = SigningKey(Secret(files.secret(CLIENT_KEY)))
    for written in pretend_connections("http://127.0.0.1:2", tokens.issuer).values():
        connection = Connection.model_validate(written).authorization
        if not isinstance(connection, ClientAuthorization):
            continue
        assertion = client_assertion(key, CLIENT, connection.token_endpoint, time.time())
        form = {
            "grant_type": [CLIENT_CREDENTIALS],
            "client_assertion_type": [CLIENT_ASSERTION],
            "client_assertion": [assertion.reveal()],
            "resource": [connection.resource],
            "scope": [" ".join(connection.scopes)],
        }
        assert tokens.issue(form).status == 200


def test_without_an_issuer_every_product_takes_the_static_token() -> None:
    written = pretend_connections("http://127.0.0.1:2")
    kinds = {name: Connection.model_validate(one).authorization for name, one in written.items()}
    for name in ("registry", "reviews", "notices", "calendar"):
        assert isinstance(kinds[name], BearerAuthorization)


def test_the_calendar_is_called_for_tasks_alone() -> None:
    written = pretend_connections("http://127.0.0.1:2", "http://127.0.0.1:1")
    calendar = Connection.model_validate(written["calendar"])
    assert calendar.for_tasks is True
    assert calendar.observation_authorization is not None
    assert json.dumps(written).count("secret:file/") == 5


def test_the_names_of_the_pretend_connections_are_in_the_docs() -> None:
    told = (ROOT / "docs" / "simulation.md").read_text()
    for name, document in pretend_connections("http://127.0.0.1:1").items():
        assert f"| `{name}` | {document['product']} |" in told
