"""From a command's input to the request on the wire, by the HTTP facts of its operation."""

from __future__ import annotations

from urllib.parse import quote

from activities.catalogue.http_call import (
    BodySource,
    HttpCall,
    QuerySource,
    ReceiptRead,
    fill_path,
    path_members,
)
from activities.products.settings import LARGEST_BODY_BYTES, ConnectionSettings
from activities.products.transport import HttpRequest
from interpreter.contract.values import JsonValue, canonical_bytes
from interpreter.errors import DefinitionError

_DOTS = frozenset({"", ".", ".."})


class CommandRefused(Exception):
    """An input that can not be put into the request; the text is the place."""


def write_request(
    http: HttpCall, input: JsonValue, settings: ConnectionSettings, key: str | None
) -> HttpRequest:
    """The request of a command; CommandRefused for an input that has no place in it."""
    return _request(http.method, _target(http, http.path, input, settings), http, input, key)


def write_receipt_request(
    http: HttpCall, receipt: ReceiptRead, input: JsonValue, settings: ConnectionSettings, key: str
) -> HttpRequest:
    """The request that reads a command's receipt, with the same key and the same body."""
    target = _target(http, receipt.path, input, settings)
    return _request(receipt.method, target, http, input, key)


def json_request(
    method: str, target: str, value: JsonValue, headers: tuple[tuple[str, str], ...] = ()
) -> HttpRequest:
    """A request with a JSON body in its canonical form.

    Canonical, because a command that is sent again has been through the ledger, and its bytes
    must be the same as the first time. Raises CommandRefused for a body that is too large.
    """
    try:
        body = canonical_bytes(value)
    except DefinitionError as error:
        raise CommandRefused("request body: no canonical form") from error
    if len(body) > LARGEST_BODY_BYTES:
        raise CommandRefused("request body: too large")
    return HttpRequest(method, target, (*_ACCEPT, _CONTENT, *headers), body)


def body_request(target: str, body: bytes) -> HttpRequest:
    """A POST of JSON bytes that were written before."""
    return HttpRequest("POST", target, (*_ACCEPT, _CONTENT), body)


def plain_request(target: str, headers: tuple[tuple[str, str], ...] = ()) -> HttpRequest:
    """A GET without a body."""
    return HttpRequest("GET", target, (*_ACCEPT, *headers))


def key_header(http: HttpCall, key: str) -> tuple[str, str]:
    """The idempotency header; CommandRefused unless it is 1 to 128 visible ASCII characters."""
    if not 1 <= len(key) <= 128 or not all("!" <= letter <= "~" for letter in key):
        raise CommandRefused("request header: idempotency key")
    return http.idempotency_header, key


_ACCEPT = (("Accept", "application/json, application/problem+json"),)
_CONTENT = ("Content-Type", "application/json")


def _request(
    method: str, target: str, http: HttpCall, input: JsonValue, key: str | None
) -> HttpRequest:
    headers = () if key is None else (key_header(http, key),)
    if http.body is None:
        return HttpRequest(method, target, (*_ACCEPT, *headers))
    return json_request(method, target, _body(http.body, input), headers)


def _body(source: BodySource, input: JsonValue) -> JsonValue:
    if source.member is not None:
        return input.get(source.member)
    return {name: input[name] for name in source.members or () if name in input}


def _target(http: HttpCall, path: str, input: JsonValue, settings: ConnectionSettings) -> str:
    members = {name: _segment(name, input) for name in path_members(path)}
    filled = fill_path(path, members)
    query = "&".join(
        f"{quote(name, safe='')}={quote(text, safe='')}"
        for name, source in http.query.items()
        if (text := _parameter(source, input, settings)) is not None
    )
    return f"{filled}?{query}" if query else filled


def _segment(name: str, input: JsonValue) -> str:
    text = _text(input.get(name))
    if text in _DOTS:
        raise CommandRefused(f"request /{name}")
    return quote(text, safe="")


def _parameter(source: QuerySource, input: JsonValue, settings: ConnectionSettings) -> str | None:
    if source.setting is not None:
        return settings.profile
    return None if source.member not in input else _text(input[source.member])


def _text(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else canonical_bytes(value).decode("ascii")
