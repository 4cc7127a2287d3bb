"""Standard Webhooks signatures: who signed a message, and when."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable
from typing import Any

from fastapi import Request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from adapter.access import CallRefused
from adapter.api.messages import SignedMessage
from adapter.api.problems import KINDS

_ID, _TIMESTAMP, _SIGNATURE = _HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_MESSAGE_ID = re.compile(r"[\x21-\x7e]{1,256}")
_SECONDS = re.compile(r"[0-9]{1,12}")
_LEAST_SECRET_BYTES = 24
_LONGEST_SIGNATURES = 4_096

HEADER_PARAMETERS: list[dict[str, Any]] = [
    {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
    for name in _HEADERS
]
"""The three headers, for the OpenAPI document."""


def webhook_key(secret: str) -> bytes:
    """The key in a shared secret: ``whsec_`` and base64 of 24 bytes or more, else ValueError.

    Twenty-four bytes are the least that Standard Webhooks asks for.
    """
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("not a webhook secret") from error
    if len(key) < _LEAST_SECRET_BYTES:
        raise ValueError("a webhook secret is too short")
    return key


def webhook_of(secret: str) -> Webhook:
    """The verifier of a shared secret; ValueError as from ``webhook_key``."""
    return Webhook(webhook_key(secret))


def signer_of(
    request: Request, data: bytes, sources: Iterable[tuple[str, Webhook]]
) -> SignedMessage:
    """The message of whichever source has signed it, by its name.

    Raises Refused ``event.signature-invalid``, which does not tell what is wrong: a missing
    header, a time that is off by more than five minutes, or no matching signature.
    """
    headers = {name: _only(request, name) for name in _HEADERS}
    sound = (
        _MESSAGE_ID.fullmatch(headers[_ID])
        and _SECONDS.fullmatch(headers[_TIMESTAMP])
        and len(headers[_SIGNATURE]) <= _LONGEST_SIGNATURES
    )
    if not sound:
        raise _invalid()
    for name, verifier in sources:
        if _holds(verifier, data, headers):
            content = hashlib.sha256(data).hexdigest()
            return SignedMessage(name, headers[_ID], int(headers[_TIMESTAMP]), content)
    raise _invalid()


def _holds(verifier: Webhook, data: bytes, headers: dict[str, str]) -> bool:
    try:
        verifier.verify(data, headers, json_parse=False)
    except (WebhookVerificationError, ValueError):
        # The package lets a malformed signature or body escape as the ValueError that it met.
        return False
    return True


def _only(request: Request, name: str) -> str:
    values = request.headers.getlist(name)
    return values[0] if len(values) == 1 else ""


def _invalid() -> CallRefused:
    return CallRefused(
        "event.signature-invalid",
        "the signature or its time does not hold",
        status=KINDS["event.signature-invalid"].status,
        place=_SIGNATURE,
        remedy="sign with the shared secret and send within five minutes",
        headers=(("WWW-Authenticate", 'Webhook-Signature realm="coordinator"'),),
    )
