"""Documents from the web for the service, over the guarded transport that calls go through."""

from __future__ import annotations

import ssl
from functools import cache
from urllib.parse import urlsplit

from activities.credentials import trusting
from activities.destinations import DestinationRefused, destination_of
from activities.errors import ConnectionFault
from activities.products.transport import Failure, HttpRequest, Transport
from adapter.access import ABSENT
from adapter.errors import Unavailable

_SECONDS = 5.0


async def fetch_document(address: str, most_bytes: int) -> bytes:
    """The body of a 200 answer to a GET; no redirect is followed.

    Metadata addresses, cleartext beyond loopback and the like are refused as for any product.
    Raises Unavailable ``document.refused``, ``document.absent`` where the server answered that it
    has none, or ``document.unavailable``; none of them names the address.
    """
    try:
        parts = urlsplit(address)
        destination = destination_of(f"{parts.scheme}://{parts.netloc}", "keySet")
    except (ValueError, ConnectionFault, DestinationRefused) as error:
        raise _refused() from error
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if parts.fragment or not all("!" <= letter <= "~" for letter in target):
        raise _refused()
    transport = Transport(destination, _trust())
    try:
        request = HttpRequest("GET", target, (("Accept", "application/json"),))
        answer = await transport.exchange(request, _SECONDS, most_bytes)
    finally:
        await transport.aclose()
    if answer is Failure.DESTINATION:
        raise _refused()
    if not isinstance(answer, Failure) and _says_absent(answer.status):
        raise Unavailable(
            ABSENT,
            "the server has no document at the address",
            remedy="give the document's own address; redirects are not followed",
        )
    if isinstance(answer, Failure) or answer.status != 200 or answer.body is None:
        raise Unavailable(
            "document.unavailable",
            "the document can not be had",
            remedy="see whether its server answers, and with a document of a usual size",
        )
    return answer.body


def _says_absent(status: int) -> bool:
    """Whether a status is about the address, and not about the server or the time."""
    return 300 <= status < 500 and status not in (408, 429)


@cache
def _trust() -> ssl.SSLContext:
    return trusting()


def _refused() -> Unavailable:
    return Unavailable(
        "document.refused",
        "the address may not be called",
        remedy="give an https address, or http on a numeric loopback one",
    )
