"""What a process of pretend products is started with."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: The static bearer that every product takes unless another one, or OAuth, is configured.
DEVELOPMENT_BEARER = "pretend-products"


class SettingsRefused(Exception):
    """A settings file that can not be used; the message names the place and the remedy."""


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """Where completion events go: an http URL and a Standard Webhooks secret (``whsec_…``)."""

    url: str
    secret: str


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """A client of the token endpoint: a public JWK (``private_key_jwt``), a test secret or both."""

    client_id: str
    jwk: dict[str, Any] | None = None
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """The token endpoint: who may ask, how long a token lives, and the audience of an assertion.

    ``audience`` of ``None`` means the URL of the token endpoint as the client sees it.
    """

    clients: tuple[OAuthClient, ...]
    token_seconds: float = 300
    audience: str | None = None


@dataclass(frozen=True, slots=True)
class GrantAuthority:
    """What signs the assertions of task grants: its name, whom they are for, a private JWK."""

    issuer: str
    exchange_audience: str
    signing_key: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProductsSettings:
    """Everything a process needs. Without ``state_directory`` it remembers in memory only.

    ``bearer`` of ``None`` lets every caller in; with ``oauth`` only issued tokens are accepted.
    Tokens of ``issuer``, an address, are accepted beside the bearer; ``grants`` makes casework an
    authority for tasks. ``webhook_delays`` are the seconds between the attempts to deliver one
    completion event.
    """

    state_directory: Path | None = None
    bearer: str | None = DEVELOPMENT_BEARER
    oauth: OAuthSettings | None = None
    issuer: str | None = None
    grants: GrantAuthority | None = None
    webhook: WebhookTarget | None = None
    receipt_window_seconds: float = 86_400
    webhook_delays: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0, 5.0)


#: The ``iss`` of casework's assertions.
CASEWORK = "urn:pretend:casework"


def grant_authority(issuer: str, key: str) -> GrantAuthority:
    """Casework as an authority whose assertions ``issuer`` exchanges; ``key`` is a JWK as text.

    Raises ``SettingsRefused`` for a text that is no JWK.
    """
    try:
        return GrantAuthority(CASEWORK, issuer, dict(json.loads(key)))
    except (TypeError, ValueError) as error:
        raise SettingsRefused("PRODUCTS_GRANT_KEY: not a private JWK") from error


def read_oauth_settings(path: Path) -> OAuthSettings:
    """Read ``{"clients": [{"clientId", "jwk"?, "secret"?}], "tokenSeconds"?, "audience"?}``.

    Raises ``SettingsRefused`` when the file is missing, is no JSON or has another shape.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsRefused(f"{path}: not a readable JSON file; give a path to one") from error
    try:
        clients = tuple(
            OAuthClient(str(entry["clientId"]), entry.get("jwk"), entry.get("secret"))
            for entry in document["clients"]
        )
        seconds = float(document.get("tokenSeconds", 300))
        audience = document.get("audience")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SettingsRefused(
            f"{path}: /clients must be a list of objects with clientId and jwk or secret"
        ) from error
    if not clients or any(client.jwk is None and client.secret is None for client in clients):
        raise SettingsRefused(f"{path}: /clients needs at least one client with a jwk or a secret")
    return OAuthSettings(clients, seconds, audience)
