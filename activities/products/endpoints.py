"""Where a connection's credentials come from: token endpoints and task authorities."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from activities.credentials import (
    CredentialRefused,
    CredentialUnavailable,
    CredentialUnusable,
    PostAnswer,
)
from activities.destinations import Destination, DestinationRefused, destination_of
from activities.errors import ConnectionFault
from activities.products.outcomes import retry_after
from activities.products.transport import Failure, HttpRequest, Transport

ENDPOINT_SECONDS = 5.0
LARGEST_ANSWER_BYTES = 65_536


class Endpoints:
    """Posts for credentials over the same guarded transport as calls: no redirect, every limit."""

    def __init__(self, connection: str, trust: Callable[[], ssl.SSLContext]) -> None:
        self._connection = connection
        self._trust = trust
        self._open: dict[str, tuple[Transport, str]] = {}

    async def post(
        self, url: str, body: bytes, headers: tuple[tuple[str, str], ...], seconds: float
    ) -> PostAnswer | None:
        """One POST within ``seconds``, 5 at most; None when no whole answer came.

        Raises CredentialRefused for an address that may not be called and CredentialUnusable for
        one that is no address.
        """
        if seconds <= 0:
            return None
        transport, target = self._endpoint(url)
        request = HttpRequest("POST", target, headers, body)
        limit = min(seconds, ENDPOINT_SECONDS)
        answer = await transport.exchange(request, limit, LARGEST_ANSWER_BYTES)
        if answer is Failure.DESTINATION:
            raise self._refused()
        if isinstance(answer, Failure):
            return None
        content_type = (answer.header(b"content-type") or "").lower()
        delay = retry_after(answer.header(b"retry-after"), time.time())
        return PostAnswer(answer.status, content_type, answer.body, delay)

    async def aclose(self) -> None:
        """Close idle connections."""
        for transport, _ in self._open.values():
            await transport.aclose()

    def _endpoint(self, url: str) -> tuple[Transport, str]:
        known = self._open.get(url)
        if known is None:
            try:
                whole = destination_of(url, self._connection)
            except DestinationRefused as error:
                raise self._refused() from error
            except ConnectionFault as error:
                raise CredentialUnusable(
                    "connection.credential",
                    "the address of the issuer can not be used",
                    place=self._connection,
                    remedy="give an https address, or http on a numeric loopback address",
                ) from error
            destination = Destination(whole.secure, whole.host, whole.port, "")
            trust = self._trust() if whole.secure else None
            known = Transport(destination, trust), urlsplit(url).path or "/"
            self._open[url] = known
        return known

    def _refused(self) -> CredentialRefused:
        return CredentialRefused(
            "connection.credential-refused",
            "the credential would come from an address that may not be called",
            place=self._connection,
            remedy="name an address outside metadata services and link-local networks",
        )


def out_of_time(connection: str) -> CredentialUnavailable:
    """The fault of a credential that did not come within the attempt."""
    return CredentialUnavailable(
        "connection.credential",
        "the credential of the connection can not be had",
        place=connection,
        remedy="check the connection's authorization in runtime.yaml",
    )
