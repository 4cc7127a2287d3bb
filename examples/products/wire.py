"""Reading a request strictly: body, key, profile, and the digest that names a command."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, NoReturn

import rfc8785
from starlette.requests import Request

from examples.products.problems import Problem

MAXIMUM_REQUEST_BYTES = 65_536


def digest_of(value: Any) -> str:
    """``sha256:`` over the canonical JSON (RFC 8785) of a value.

    Raises ``Problem`` 400 for a value without a canonical form (a number out of range).
    """
    try:
        canonical = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise Problem(400, "request-invalid", "A value has no canonical JSON form.") from error
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


async def read_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object.

    Raises ``Problem`` 413 above 65,536 bytes, 415 for another content type, and 400 for anything
    that is not exactly one JSON object without duplicate keys.
    """
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise Problem(415, "content-type-invalid", "Send the body as application/json.")
    body = await request.body()
    if len(body) > MAXIMUM_REQUEST_BYTES:
        raise Problem(413, "request-too-large", "Send at most 65536 bytes.")
    try:
        value = json.loads(body, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(
            400, "request-invalid", "Send one JSON document without duplicates."
        ) from error
    if not isinstance(value, dict):
        raise Problem(400, "request-invalid", "The body must be a JSON object.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def idempotency_key(request: Request) -> str:
    """The ``Idempotency-Key``: 1 to 128 visible ASCII characters, else ``Problem`` 400."""
    key = request.headers.get("idempotency-key")
    if key is None:
        raise Problem(400, "idempotency-key-required", "Send an Idempotency-Key header.")
    if not 1 <= len(key) <= 128 or not all("!" <= letter <= "~" for letter in key):
        raise Problem(
            400, "idempotency-key-invalid", "Use 1 to 128 visible ASCII characters as the key."
        )
    return key


def access_profile(request: Request) -> str:
    """The one ``accessProfile`` of the query, else ``Problem`` 400, or 403 for ``forbidden``."""
    profiles = request.query_params.getlist("accessProfile")
    if len(profiles) != 1 or not profiles[0]:
        raise Problem(400, "access-profile-required", "Give one accessProfile in the query.")
    if profiles[0] == "forbidden":
        raise Problem(403, "access-profile-forbidden", "This caller may not use that profile.")
    return profiles[0]


def refuse_unknown(value: dict[str, Any], known: Collection[str], code: str) -> None:
    """Raise ``Problem`` 422 with ``code`` when an object has a member outside ``known``."""
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise Problem(422, code, f"Remove the unknown member {json.dumps(unknown[0][:64])}.")


def text(value: dict[str, Any], name: str, code: str, *, limit: int = 200) -> str:
    """A required, non-blank string member of at most ``limit`` characters, else ``Problem`` 422."""
    found = value.get(name)
    if not isinstance(found, str) or not found.strip() or len(found) > limit:
        raise Problem(422, code, f"{name} must be text of 1 to {limit} characters.")
    return found


def optional_text(value: dict[str, Any], name: str, code: str, *, limit: int = 200) -> str | None:
    """As ``text``, but the member may be missing or null."""
    return None if value.get(name) is None else text(value, name, code, limit=limit)


def instant(found: Any, name: str, code: str) -> datetime:
    """An RFC 3339 instant with an offset, else ``Problem`` 422."""
    try:
        moment = datetime.fromisoformat(found)
    except (TypeError, ValueError):
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Problem(422, code, f"{name} must be an RFC 3339 instant with an offset.")
    return moment.astimezone(UTC)
