"""The issuer of a development deployment: its clients, and how connections ask it for tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adapter.cli.local_access import admit_callers
from adapter.cli.local_files import LocalFiles
from adapter.crypto.web_keys import new_signing_key, public_half
from adapter.issuer import Client, IssuerFolder

CLIENT = "coordinator"
CLIENT_KEY = "issuer-client-key"
"""The secret with the private JWK of the client that connections call as."""

TASK_AUTHORITY = "urn:pretend:casework"
TASK_AUTHORITY_KEY = "task-authority-key"
"""The secret with the private JWK by which the pretend casework asserts grants."""

_RESOURCE = "urn:pretend:"
_PRODUCTS = ("registry", "casework", "messaging", "scheduling")
_SCOPES = (
    "records:read",
    "actions:invoke",
    "messages:send",
    "appointments:read",
    "appointments:book",
    "casework:grants:assert",
)


def prepare_issuer(files: LocalFiles) -> Path:
    """Make what the issuer keeps, where it is not there yet; gives its folder."""
    issuer = IssuerFolder(files.folder / "issuer")
    issuer.prepare()
    resources = tuple(f"{_RESOURCE}{product}" for product in _PRODUCTS)
    issuer.admit(Client(CLIENT, (_public(files, CLIENT_KEY),), resources, _SCOPES))
    admit_callers(issuer, files.keep)
    issuer.trust(TASK_AUTHORITY, [_public(files, TASK_AUTHORITY_KEY)])
    return files.folder / "issuer"


def _public(files: LocalFiles, name: str) -> dict[str, str]:
    return public_half(json.loads(files.keep(name, lambda: json.dumps(new_signing_key("ES256")))))


def client_of(issuer: str, product: str, *scopes: str) -> dict[str, Any]:
    """The authorization of a connection that asks the issuer for a token at every attempt."""
    return {
        "type": "client-credentials",
        "tokenEndpoint": f"{issuer}/token",
        "clientId": CLIENT,
        "signingKeyRef": f"secret:file/{CLIENT_KEY}",
        "resource": f"{_RESOURCE}{product}",
        "scopes": list(scopes),
    }


def task_client_of(issuer: str, casework: str, product: str, *scopes: str) -> dict[str, Any]:
    """The same for a connection whose every call is done for a task."""
    authority = {
        "baseUrl": casework,
        "issuer": TASK_AUTHORITY,
        "subject": "coordinator",
        "exchangeAudience": issuer,
        "bootstrapResource": f"{_RESOURCE}casework",
    }
    return client_of(issuer, product, *scopes) | {"taskAuthority": authority}
