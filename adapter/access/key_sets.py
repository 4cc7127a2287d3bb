"""An issuer's keys over time: fetched, kept, renewed, rotated, and used on through an outage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol
from urllib.parse import urlsplit

import structlog

from adapter.access.keys import LARGEST_DOCUMENT_BYTES, Key, keys_of, matching, unusable
from adapter.config.callers import DiscoveredKeys, IssuerPart, KeysAt
from adapter.config.document import is_loopback
from adapter.config.json_text import strict_json
from adapter.errors import Unavailable

_FRESH_SECONDS = 300.0
"""Keys are fetched again after this; a key that an issuer withdraws counts no longer than that."""
_USABLE_SECONDS = 3_600.0
"""How long known keys serve without their issuer: as long as the longest token lives."""
_AGAIN_SECONDS = 10.0
"""The least time between two fetches, however many tokens name a key that is not known."""

ABSENT = "document.absent"
"""The code of a `Fetch` where the server answered, and has no such document."""

_log = structlog.get_logger(__name__)


class Fetch(Protocol):
    """A way to documents on the web."""

    async def __call__(self, address: str, most_bytes: int) -> bytes:
        """The body of a 200 answer to a GET; Unavailable for everything else.

        Its code is ``document.absent`` where the server answered that there is none.
        """
        ...


class KeyLoader:
    """Gets the key set of an issuer as runtime.yaml says: discovered, at an address, or kept."""

    def __init__(self, fetch: Fetch, read_secret: Callable[[str], bytes]) -> None:
        self._fetch = fetch
        self._read_secret = read_secret

    async def load(self, name: str, part: IssuerPart) -> list[Key]:
        """The issuer's keys; Unavailable ``access.keys-unusable``, or what the way to them says."""
        place = f"/authentication/issuers/{name}/keySet"
        source = part.key_set
        if isinstance(source, DiscoveredKeys):
            address = await self._discovered(part.issuer, place)
        elif isinstance(source, KeysAt):
            address = source.uri
        else:
            return keys_of(await asyncio.to_thread(self._read_secret, source.document_ref), place)
        return keys_of(await self._fetch(address, LARGEST_DOCUMENT_BYTES), place)

    async def _discovered(self, issuer: str, place: str) -> str:
        """Where the issuer's metadata says that its keys are."""
        try:
            metadata = strict_json(await self._metadata(issuer))
        except ValueError as error:
            raise unusable(place, "the issuer's metadata is no JSON") from error
        if not isinstance(metadata, dict) or metadata.get("issuer") != issuer:
            raise unusable(place, "the metadata at the issuer's address names another issuer")
        keys_at = metadata.get("jwks_uri")
        if not isinstance(keys_at, str) or not _is_safe(keys_at):
            raise unusable(place, "the issuer's metadata names no https address of keys")
        return keys_at

    async def _metadata(self, issuer: str) -> bytes:
        """The first document that the issuer has; an outage is no reason to ask further."""
        first, second = metadata_addresses(issuer)
        try:
            return await self._fetch(first, LARGEST_DOCUMENT_BYTES)
        except Unavailable as error:
            if error.code != ABSENT:
                raise
            return await self._fetch(second, LARGEST_DOCUMENT_BYTES)


def metadata_addresses(issuer: str) -> tuple[str, str]:
    """Where an issuer's metadata may be: OpenID Connect Discovery 1.0 section 4, then RFC 8414.

    The first appends its path to the issuer, the second puts its own before the issuer's
    (section 3.1); both without a slash at the end of the issuer.
    """
    parts = urlsplit(issuer)
    path = parts.path.removesuffix("/")
    origin = f"{parts.scheme}://{parts.netloc}"
    return (
        f"{origin}{path}/.well-known/openid-configuration",
        f"{origin}/.well-known/oauth-authorization-server{path}",
    )


def _is_safe(address: str) -> bool:
    """Whether keys may be fetched from an address: https, or http on a numeric loopback one."""
    try:
        scheme = urlsplit(address).scheme
    except ValueError:
        return False
    return scheme == "https" or (scheme == "http" and is_loopback(address))


class KeySet:
    """The keys of one issuer; ``ticks`` is a monotonic clock in seconds.

    Nothing is fetched while a known key is fresh enough. An unknown one is looked for at most
    once in 10 seconds, by one request for all of them.
    """

    def __init__(
        self, name: str, load: Callable[[], Awaitable[list[Key]]], ticks: Callable[[], float]
    ) -> None:
        self.name = name
        self._load = load
        self._ticks = ticks
        self._fetching = asyncio.Lock()
        self._keys: list[Key] = []
        self._known_at: float | None = None
        self._tried_at: float | None = None
        self.failing_since: float | None = None

    async def candidates(self, kid: str | None, algorithm: str) -> list[Key]:
        """The keys that may have made a signature, none if no such key is known.

        Raises Unavailable ``access.unavailable`` when the issuer does not answer and what is
        known is too old, or is not the key that is asked for.
        """
        if not self._younger_than(_USABLE_SECONDS):
            await self._renew()
            if not self._younger_than(_USABLE_SECONDS):
                raise _away(self.name)
        found = matching(self._keys, kid, algorithm)
        if not found:
            await self._renew()
            found = matching(self._keys, kid, algorithm)
            if not found and self.failing_since is not None:
                raise _away(self.name)
        return found

    async def keep_fresh(self) -> None:
        """Fetch again what is known for five minutes, or could not be had the last time."""
        if self.failing_since is not None or not self._younger_than(_FRESH_SECONDS):
            await self._renew()

    def _younger_than(self, seconds: float) -> bool:
        return self._known_at is not None and self._ticks() - self._known_at < seconds

    async def _renew(self) -> None:
        async with self._fetching:
            now = self._ticks()
            if self._tried_at is not None and now - self._tried_at < _AGAIN_SECONDS:
                return
            try:
                self._keys = await self._load()
            except Unavailable as error:
                if self.failing_since is None:
                    self.failing_since = now
                    _log.warning("access.keys-away", issuer=self.name, code=error.code)
            else:
                self._known_at = self._ticks()
                self.failing_since = None
            # From the end of it: an issuer that answers slowly must not be asked all the time.
            self._tried_at = self._ticks()


def _away(name: str) -> Unavailable:
    return Unavailable(
        "access.unavailable",
        "the keys of the token's issuer can not be had",
        place=f"/authentication/issuers/{name}",
        remedy="try again later",
    )
