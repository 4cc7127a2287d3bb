"""The connections of a development deployment that lead to the pretend products."""

from __future__ import annotations

from typing import Any

from adapter.cli.local_issuer import client_of, task_client_of


def pretend_connections(products: str, issuer: str | None = None) -> dict[str, Any]:
    """Every pretend product under the connection names of the examples.

    Without an ``issuer`` all of them take the static token. With one, registry and notices call
    with a token of their own for every attempt, and the calendar is called for tasks alone.
    """
    bearer = {"type": "bearer", "tokenRef": "secret:file/products-token"}
    connections: dict[str, Any] = {
        "registry": {
            "product": "breg",
            "baseUrl": f"{products}/registry",
            "profile": "coordinator",
            "authorization": dict(bearer),
        },
        "reviews": {
            "product": "casework",
            "baseUrl": f"{products}/casework",
            "authorization": dict(bearer),
        },
        "notices": {
            "product": "messaging",
            "baseUrl": f"{products}/messaging",
            "authorization": dict(bearer),
        },
        "calendar": {
            "product": "scheduling",
            "baseUrl": f"{products}/scheduling",
            "authorization": dict(bearer),
        },
        "assessment": {
            "product": "evaluation",
            "baseUrl": f"{products}/evaluation",
            "protocol": "system-one",
            "model": "pretend",
        },
        "directory": {
            "product": "external",
            "baseUrl": f"{products}/external",
            "paths": ["offices", "offices/licensing", "closed"],
            "responseSchema": {"type": "object"},
        },
    }
    if issuer is not None:
        for name, identities in _identities(products, issuer).items():
            connections[name] |= identities
    return connections


def _identities(products: str, issuer: str) -> dict[str, dict[str, Any]]:
    casework = f"{products}/casework"
    return {
        "registry": {
            "authorization": client_of(issuer, "registry", "records:read", "actions:invoke")
        },
        "notices": {"authorization": client_of(issuer, "messaging", "messages:send")},
        "calendar": {
            "authorization": task_client_of(
                issuer, casework, "scheduling", "appointments:read", "appointments:book"
            ),
            "observationAuthorization": client_of(issuer, "scheduling", "appointments:read"),
        },
    }
