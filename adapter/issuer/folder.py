"""What the issuer keeps in its folder: signing keys, clients, and whose assertions it exchanges."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adapter.crypto.web_keys import SigningAlgorithm, new_signing_key, public_half
from adapter.errors import Unavailable

LONGEST_TOKEN_SECONDS = 3_600
_KEPT_KEYS = 3
"""A rotated key stays published while tokens that it signed may still be shown."""


@dataclass(frozen=True, slots=True)
class Client:
    """Who may ask for tokens: its public keys, and the most that a token of it may say.

    ``resources`` are the audiences it may name, ``scopes`` what it may ask for, ``claims`` are
    added to every token. A token lives ``token_seconds``, 3,600 at most.
    """

    client_id: str
    keys: tuple[dict[str, Any], ...]
    resources: tuple[str, ...]
    scopes: tuple[str, ...] = ()
    token_seconds: int = 300
    claims: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def from_json(written: dict[str, Any]) -> Client:
        """From ``{clientId, keys, resources, scopes, tokenSeconds, claims}``."""
        return Client(
            written["clientId"],
            tuple(written["keys"]),
            tuple(written["resources"]),
            tuple(written["scopes"]),
            min(int(written["tokenSeconds"]), LONGEST_TOKEN_SECONDS),
            written["claims"],
        )

    def to_json(self) -> dict[str, Any]:
        """``{clientId, keys, resources, scopes, tokenSeconds, claims}``."""
        return {
            "clientId": self.client_id,
            "keys": list(self.keys),
            "resources": list(self.resources),
            "scopes": list(self.scopes),
            "tokenSeconds": self.token_seconds,
            "claims": self.claims,
        }


class IssuerFolder:
    """The folder of an issuer, mode 0700.

    ``keys.json`` holds the signing keys, newest first; ``clients.json`` and ``authorities.json``
    the clients and the public keys of those who sign assertions for tasks. A running issuer reads
    them at every request, so what is written here counts at once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self, algorithm: SigningAlgorithm = "ES256") -> None:
        """Make the folder and a signing key where there is none."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.signing_keys():
            self.rotate(algorithm)

    def rotate(self, algorithm: SigningAlgorithm = "ES256") -> str:
        """Sign with a new key from now on; gives its ``kid``. The last three stay published."""
        key = new_signing_key(algorithm)
        self._write("keys.json", [key, *self.signing_keys()][:_KEPT_KEYS])
        return key["kid"]

    def signing_keys(self) -> list[dict[str, str]]:
        """Private JWKs, the one that signs first."""
        keys: list[dict[str, str]] = self._read("keys.json", [])
        return keys

    def published_keys(self) -> dict[str, Any]:
        """The JWK set that everybody may read."""
        return {"keys": [public_half(key) for key in self.signing_keys()]}

    def admit(self, client: Client) -> None:
        """Write a client down, in the place of the one with the same id."""
        known = {one.client_id: one for one in self.clients().values()}
        known[client.client_id] = client
        self._write("clients.json", [one.to_json() for one in known.values()])

    def clients(self) -> dict[str, Client]:
        """Every client by id."""
        written: list[dict[str, Any]] = self._read("clients.json", [])
        return {one["clientId"]: Client.from_json(one) for one in written}

    def trust(self, issuer: str, keys: list[dict[str, Any]]) -> None:
        """Exchange assertions of ``issuer`` that one of these public JWKs verifies."""
        self._write("authorities.json", {**self.authorities(), issuer: keys})

    def authorities(self) -> dict[str, list[dict[str, Any]]]:
        """The public JWKs of those whose assertions are exchanged, by issuer."""
        known: dict[str, list[dict[str, Any]]] = self._read("authorities.json", {})
        return known

    def _read(self, name: str, absent: Any) -> Any:
        try:
            return json.loads((self._folder / name).read_text("utf-8"))
        except FileNotFoundError:
            return absent
        except (OSError, ValueError) as error:
            raise Unavailable(
                "issuer.folder-unusable",
                "a file of the issuer can not be read",
                place=str(self._folder / name),
                remedy="correct or remove it: what is generated comes back at the next start",
            ) from error

    def _write(self, name: str, content: Any) -> None:
        # Moved into place whole: a request that reads meanwhile finds one version or the other.
        draft = self._folder / f"{name}.new"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
        draft.replace(self._folder / name)
