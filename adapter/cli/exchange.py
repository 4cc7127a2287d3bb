"""One HTTP exchange of a command: bounded, not repeated, no redirect followed."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from adapter.errors import Unavailable

_CONNECT_SECONDS, _ANSWER_SECONDS = 5.0, 30.0
_LARGEST_ANSWER_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; header names in lower case."""

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


def ask_once(
    origin: str,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One HTTP exchange; Unavailable ``service.unavailable`` when there is no whole answer."""
    parts = urlsplit(origin)
    place = f"{parts.scheme}://{parts.netloc}"
    https = parts.scheme == "https"
    kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_CONNECT_SECONDS)
    try:
        connection.connect()
        if connection.sock is not None:
            connection.sock.settimeout(_ANSWER_SECONDS)
        connection.request(method, parts.path.rstrip("/") + path, body, dict(headers or {}))
        answer = connection.getresponse()
        data = answer.read(_LARGEST_ANSWER_BYTES + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(
            "service.unavailable",
            "the service does not answer",
            place=place,
            remedy="check that it runs; repeat a start with the same key, never with a fresh one",
        ) from error
    finally:
        connection.close()
    if len(data) > _LARGEST_ANSWER_BYTES:
        raise Unavailable(
            "service.answer-too-large", "the service's answer is too large", place=place
        )
    return Answer(answer.status, data, {name.lower(): v for name, v in answer.getheaders()})
