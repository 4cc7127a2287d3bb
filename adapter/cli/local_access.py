"""Who may call a development deployment: the issuer's clients, people, and one API key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from adapter.config.callers import ACTIONS, OPERATORS_ALONE
from adapter.crypto.web_keys import new_signing_key, public_half
from adapter.issuer import Client, IssuerFolder

AUDIENCE = "urn:coordinator:development"
ISSUER_NAME = "development"
OPERATOR_CLIENT = "coordinatorctl"
"""The client of the commands: an operator, with a key and a profile of its own."""

APPLICATION_CLIENT = "application"
"""A program that starts runs and follows its own, as the demo does."""

PEOPLE_CLIENT = "console"
"""Through which people would sign in; `coordinatorctl token --person` stands for that here."""

_SCOPE = "coordinator"
_KEEP_UNTIL = "2100-01-01T00:00:00Z"
Keep = Callable[[str, Callable[[], str]], str]
"""Gives the text of a secret by its name, made at the first start."""


def admit_callers(issuer: IssuerFolder, keep: Keep) -> None:
    """Make the issuer know every client of the deployment."""
    for client in (OPERATOR_CLIENT, APPLICATION_CLIENT, PEOPLE_CLIENT):
        key = json.loads(keep(_key_of(client), lambda: json.dumps(new_signing_key("ES256"))))
        issuer.admit(Client(client, (public_half(key),), (AUDIENCE,), (_SCOPE,)))


def authentication_part(issuer: str, key: str, ui_key: str) -> dict[str, Any]:
    """The part `authentication` of the runtime file; an empty ``issuer`` leaves API keys alone.

    Temporal's UI has a key of its own, which opens payloads and nothing else.
    """
    reader = {"workflows": ["*"], "actions": ["decode"], "operator": True}
    part: dict[str, Any] = {
        "apiKeys": {
            "developer": {"keys": [_kept_key(key)], **_policy(operator=True)},
            "temporal-ui": {"keys": [_kept_key(ui_key)], **reader},
        }
    }
    # One person's deployment, whose scripts may ask as fast as they can.
    part["limits"] = {"perSecond": 1_000, "burst": 2_000}
    if issuer:
        part["issuers"] = {
            ISSUER_NAME: {
                "issuer": issuer,
                "audience": AUDIENCE,
                "clients": {
                    client: {
                        "requiredScopes": [_SCOPE],
                        **_policy(operator=client == OPERATOR_CLIENT),
                    }
                    for client in (OPERATOR_CLIENT, APPLICATION_CLIENT, PEOPLE_CLIENT)
                },
            }
        }
    return part


def _kept_key(key: str) -> dict[str, str]:
    digest = hashlib.sha256(key.encode()).hexdigest()
    return {"hash": f"sha256:{digest}", "expiresAt": _KEEP_UNTIL}


def _policy(*, operator: bool) -> dict[str, Any]:
    actions = [action for action in ACTIONS if operator or action not in OPERATORS_ALONE]
    return {"workflows": ["*"], "actions": actions, "operator": operator}


def write_profile(file: Path, client: str, issuer: str, url: str) -> None:
    """Write the profile by which a client gets its own tokens."""
    document = {
        "url": url,
        "fileRoot": "secrets",
        "client": {
            "tokenEndpoint": f"{issuer}/token",
            "clientId": client,
            "signingKeyRef": f"secret:file/{_key_of(client)}",
            "scopes": [_SCOPE],
            "resource": AUDIENCE,
        },
    }
    file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def _key_of(client: str) -> str:
    return f"{client}-key"
