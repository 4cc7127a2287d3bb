"""How commands say who calls: an API key, an access token, or a client that gets its own tokens."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from activities.credentials import Secret
from activities.credentials.assertions import SigningKey, UnusableKey, client_assertion
from adapter.cli.exchange import ask_once
from adapter.config.files import read_named_file
from adapter.config.location import setting
from adapter.config.profile import LARGEST_PROFILE_BYTES, Profile, load_profile
from adapter.errors import Refused, Unavailable, Usage

DEVELOPMENT_PROFILE = "profile.yaml"
_LARGEST_TOKEN = 16_384
_LARGEST_KEY = 512
_VISIBLE = re.compile(rb"[!-~]+")
_TOKEN = re.compile(rb"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_PROFILE_START = re.compile(rb"\s*(#|\{|[a-zA-Z]+:\s)")
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ERROR_WORD = re.compile(r"[a-z_]{1,40}")
# A token is not used up to its last second: the request has to arrive, and clocks differ.
_SPARE_SECONDS = 30.0


class Credential(Protocol):
    """Gives the headers that say who calls."""

    def headers(self) -> dict[str, str]:
        """The headers of the next request; Refused or Unavailable when a token can not be had."""
        ...


class ApiKey:
    """An API key."""

    def __init__(self, key: str) -> None:
        self._key = Secret(key)

    def headers(self) -> dict[str, str]:
        """``X-API-Key``."""
        return {"X-API-Key": self._key.reveal()}


class Token:
    """An access token that somebody else has got."""

    def __init__(self, token: str) -> None:
        self._token = Secret(token)

    def headers(self) -> dict[str, str]:
        """``Authorization``."""
        return {"Authorization": f"Bearer {self._token.reveal()}"}


class ClientTokens:
    """A client of an issuer: a token is got when it is needed, and kept in this process alone."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._token: Secret | None = None
        self._good_until = 0.0

    @property
    def url(self) -> str | None:
        """The service that the profile is for, if it says so."""
        return self._profile.document.url

    def headers(self) -> dict[str, str]:
        """``Authorization`` with a token that is good for a while."""
        return {"Authorization": f"Bearer {self.token().reveal()}"}

    def token(self) -> Secret:
        """The token as it is, or a new one.

        Raises Unavailable ``credential.unavailable``, Refused ``credential.refused``, Usage
        ``credential.key-unusable``, and what `SecretStore.read` raises.
        """
        if self._token is None or time.monotonic() > self._good_until:
            self._token, seconds = self._issued()
            self._good_until = time.monotonic() + max(0.0, seconds - _SPARE_SECONDS)
        return self._token

    def _issued(self) -> tuple[Secret, float]:
        client = self._profile.document.client
        fields = {
            "grant_type": "client_credentials",
            "client_id": client.client_id,
            "client_assertion_type": _ASSERTION_TYPE,
            "client_assertion": self._assertion().reveal(),
            "scope": " ".join(client.scopes),
            **({} if client.resource is None else {"resource": client.resource}),
        }
        parts = urlsplit(client.token_endpoint)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
        origin, body = f"{parts.scheme}://{parts.netloc}", urlencode(fields).encode("ascii")
        try:
            answer = ask_once(origin, "POST", parts.path or "/", body, headers)
        except Unavailable as error:
            raise self._away() from error
        if answer.status >= 500 or answer.status in (408, 429):
            raise self._away()
        return self._read(answer.status, answer.body)

    def _assertion(self) -> Secret:
        client = self._profile.document.client
        try:
            key = SigningKey(self._profile.secrets.secret(client.signing_key_ref))
        except UnusableKey as error:
            raise Usage(
                "credential.key-unusable",
                str(error),
                place=f"{self._profile.path}#/client/signingKeyRef",
                remedy="keep the client's private JWK (RSA, P-256 or Ed25519) there",
            ) from error
        audience = client.assertion_audience or client.token_endpoint
        return client_assertion(key, client.client_id, audience, time.time())

    def _read(self, status: int, data: bytes) -> tuple[Secret, float]:
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            answer = None
        written = answer if isinstance(answer, dict) else {}
        token, seconds = written.get("access_token"), written.get("expires_in", 0)
        if status != 200 or not isinstance(token, str) or not _TOKEN.fullmatch(token.encode()):
            # A word of RFC 6749, section 5.2; anything else from outside is not repeated.
            word = str(written.get("error", ""))
            known = f" ({word})" if _ERROR_WORD.fullmatch(word) else ""
            raise Refused(
                "credential.refused",
                f"the token endpoint gives the client no token{known}",
                place=f"{self._profile.path}#/client",
                remedy="compare the profile with what the issuer knows of this client",
            )
        return Secret(token), float(seconds) if isinstance(seconds, int | float) else 0.0

    def _away(self) -> Unavailable:
        return Unavailable(
            "credential.unavailable",
            "the token endpoint does not answer",
            place=f"{self._profile.path}#/client/tokenEndpoint",
            remedy="check that the issuer runs and can be reached from here; "
            "that of a development deployment runs with `coordinatorctl dev`",
        )


def credential_in(path: Path, environment: Mapping[str, str]) -> Credential:
    """The credential that a file holds: a profile, an access token, or an API key.

    Which of them it is shows in its text. Raises Usage ``credential.unreadable`` or
    ``credential.malformed``, and what `load_profile` raises.
    """
    data = read_named_file(path, LARGEST_PROFILE_BYTES, code="credential.unreadable", what="file")
    if _PROFILE_START.match(data):
        return ClientTokens(load_profile(path, environment))
    return _written(data.strip(), str(path))


def credential_of(
    named: Path | None, environment: Mapping[str, str]
) -> tuple[Credential, str | None] | None:
    """What the option or the environment names, and the service that its profile names.

    None when neither names one. Raises Usage ``credential.ambiguous`` when the environment names
    several, ``credential.malformed`` when its token is none, and what `credential_in` raises.
    """
    if named is None:
        texts = {
            name: value
            for name in ("TOKEN", "API_KEY")
            if (value := setting(name, environment)) is not None
        }
        files = {
            name: value
            for name in ("TOKEN_FILE", "API_KEY_FILE", "PROFILE")
            if (value := setting(name, environment)) is not None
        }
        if len(texts) + len(files) > 1:
            raise Usage(
                "credential.ambiguous",
                "the environment names more than one credential",
                place=", ".join(f"COORDINATOR_{name}" for name in (*texts, *files)),
                remedy="keep one of these variables",
            )
        for name, text in texts.items():
            written = _written(text.encode().strip(), f"COORDINATOR_{name}")
            if name == "TOKEN" and not isinstance(written, Token):
                raise Usage(
                    "credential.malformed",
                    "this is no access token",
                    place="COORDINATOR_TOKEN",
                    remedy="write the token alone and whole; a key belongs in COORDINATOR_API_KEY",
                )
            return written, None
        named = next((Path(file) for file in files.values()), None)
    if named is None:
        return None
    credential = credential_in(named, environment)
    url = credential.url if isinstance(credential, ClientTokens) else None
    return credential, url


def _written(text: bytes, place: str) -> Credential:
    if _TOKEN.fullmatch(text) and len(text) <= _LARGEST_TOKEN:
        return Token(text.decode("ascii"))
    if _VISIBLE.fullmatch(text) and len(text) <= _LARGEST_KEY:
        return ApiKey(text.decode("ascii"))
    raise Usage(
        "credential.malformed",
        "this is no API key, access token or profile",
        place=place,
        remedy="write the key or the token alone on one line, or a profile as docs/cli.md has it",
    )
