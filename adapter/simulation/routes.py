"""From a request to the operation it calls and the input it carries, by the catalogue's facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qs, unquote

from activities.catalogue import AdapterName, Catalogue, CatalogueEntry
from activities.catalogue.http_call import path_members
from activities.errors import CatalogueError
from adapter.config.json_text import strict_json
from adapter.simulation import evaluating
from adapter.simulation.bindings import PREFIX
from interpreter.contract.operations import OperationContract
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition

_BRACED = re.compile(r"\{[A-Za-z][A-Za-z0-9_]*\}")
_EVALUATIONS = "/v1/systemone"


class Purpose(StrEnum):
    """What a request of an operation is for."""

    CALL = "call"
    RECEIPT = "receipt"
    DESCRIPTION = "description"
    """The registry's own description, read before an action."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it arrived; ``path`` is still encoded, header names are lower-case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class Unreadable(Exception):
    """A request that is not what its operation sends; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Route:
    """One kind of request on one connection."""

    connection: str
    entry: CatalogueEntry
    purpose: Purpose
    method: str
    template: str

    @property
    def operation(self) -> str:
        """The operation's id."""
        return self.entry.contract.id

    def members(self, request: HttpRequest) -> dict[str, str] | None:
        """The path's members when the request goes here, else None."""
        if request.method != self.method:
            return None
        if self.entry.adapter is AdapterName.EXTERNAL:
            return {"path": unquote(request.path.removeprefix("/"))}
        names = path_members(self.template)
        parts = [re.escape(part) for part in _BRACED.split(self.template)]
        match = re.fullmatch("([^/]+)".join(parts), request.path)
        if match is None:
            return None
        return dict(zip(names, map(unquote, match.groups()), strict=True))

    def input(self, request: HttpRequest, members: dict[str, str]) -> JsonValue:
        """The operation's input as far as requests carry it; Unreadable."""
        query = {name: values[0] for name, values in parse_qs(request.query).items()}
        if self.entry.adapter is AdapterName.EXTERNAL:
            return members | ({"query": query} if query else {})
        body = _body(request) if request.body or self._has_body else None
        try:
            if self.entry.adapter is AdapterName.EVALUATION:
                return evaluating.asked(body)
            return self._placed(members, query, body)
        except (KeyError, TypeError, AttributeError) as error:
            raise Unreadable("the body is not what this operation sends") from error

    @property
    def _has_body(self) -> bool:
        http = self.entry.http
        return self.entry.adapter is AdapterName.EVALUATION or http.body is not None

    def _placed(
        self, members: dict[str, str], query: dict[str, str], body: JsonValue
    ) -> dict[str, JsonValue]:
        http = self.entry.http
        properties = self.entry.contract.request.get("properties", {})
        found: dict[str, JsonValue] = {
            name: _typed(text, properties.get(name)) for name, text in members.items()
        }
        for name, source in http.query.items():
            if source.member is not None and name in query:
                found[source.member] = _typed(query[name], properties.get(source.member))
        if http.body is not None and http.body.member is not None:
            found[http.body.member] = body
        elif http.body is not None:
            found |= {name: body[name] for name in http.body.members or () if name in body}
        return found


class Surface:
    """Every request that a definition's operations make, connection by connection."""

    def __init__(self, definition: Definition, catalogue: Catalogue) -> None:
        self.routes = tuple(_routes(definition, catalogue))

    def find(self, request: HttpRequest) -> tuple[Route, HttpRequest, dict[str, str]] | None:
        """The route of a request, the request as the product sees it, and the path's members."""
        connection, slash, rest = request.path.removeprefix(f"{PREFIX}/").partition("/")
        if not slash or not request.path.startswith(f"{PREFIX}/"):
            return None
        inner = HttpRequest(
            request.method, f"/{rest}", request.query, request.headers, request.body
        )
        for route in self.routes:
            members = route.members(inner) if route.connection == unquote(connection) else None
            if members is not None:
                return route, inner, members
        return None


def _routes(definition: Definition, catalogue: Catalogue) -> Iterator[Route]:
    """Paths without members first, so that a member never swallows a fixed path."""
    found: dict[tuple[str, str], Route] = {}
    described: dict[str, Route] = {}
    receipts: list[Route] = []
    for operation in definition.operations.values():
        entry = _pinned(catalogue, operation.contract)
        if entry is None:
            continue
        http, where = entry.http, operation.connection
        template = _EVALUATIONS if entry.adapter is AdapterName.EVALUATION else http.path
        found[where, entry.contract.id] = Route(where, entry, Purpose.CALL, http.method, template)
        if entry.adapter is AdapterName.ACTION:
            described[where] = Route(where, entry, Purpose.DESCRIPTION, "GET", "/v1/registry")
        if http.receipt is not None:
            receipt = http.receipt
            receipts.append(Route(where, entry, Purpose.RECEIPT, receipt.method, receipt.path))
    every = [*found.values(), *described.values(), *receipts]
    yield from sorted(every, key=lambda route: len(path_members(route.template)))


def _pinned(catalogue: Catalogue, contract: OperationContract) -> CatalogueEntry | None:
    try:
        entry = catalogue.find(contract.id)
    except CatalogueError:
        return None
    return CatalogueEntry(contract, entry.http, entry.adapter, entry.alias)


def _body(request: HttpRequest) -> JsonValue:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Unreadable("the body is not application/json")
    try:
        return strict_json(request.body)
    except ValueError as error:
        raise Unreadable("the body is not JSON") from error


def _typed(text: str, schema: JsonValue) -> JsonValue:
    """A member's text as the JSON value that it was written from."""
    kinds = schema.get("type") if isinstance(schema, dict) else None
    kinds = [kinds] if isinstance(kinds, str) else kinds or []
    if "string" in kinds:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float) else text
