"""The three kinds of connections of a public runtime file (contract 1.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from activities.catalogue.schemas import schema_faults
from activities.yaml.sources import Spot, pointer_parts
from activities.yaml.tree import Table, find
from adapter.authoring.formats.shape import Rule, Section, local_names
from adapter.authoring.runtimes.substitution import Silence
from adapter.authoring.runtimes.values import (
    Values,
    absolute_uri,
    base_address,
    is_loopback,
    refuse,
    short_text,
    texts,
    web_address,
)
from interpreter.contract.values import JsonValue

MOST_CONNECTIONS = 16
_PRODUCTS = ("breg", "messaging", "scheduling")
_ADAPTER = "adapter.configuration"
_EXTERNAL = "external-http.configuration"
_DECISION = "decision.configuration"
_PROFILE = Rule(
    re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}\Z"),
    "use 1 to 128 of letters, digits, `_`, `.` and `-`, beginning with a letter or `_`",
)
_SCOPE = Rule(re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,256}\Z"), "use visible ASCII without quotes")
_PATH = Rule(re.compile(r"[^\x00-\x20\x7f-\x9f\\?#]{1,1024}\Z"), "write a relative path")


@dataclass(frozen=True, slots=True)
class Bound:
    """A connection of a file: its product, None while unknown, and whether it acts for a task.

    ``response_schema`` is what an external connection lets through, True while unknown.
    """

    spot: Spot
    product: str | None
    task_authority: bool | None
    response_schema: JsonValue = True


class ConnectionReader:
    """Reads the connections of one file; ``found`` holds them by name."""

    def __init__(self, values: Values, silence: Silence) -> None:
        self._values = values
        self._silence = silence
        self.found: dict[str, Bound] = {}

    def read(self, root: Section) -> None:
        """All three maps; together they have 1 to 16 connections, and no name stands twice."""
        total = 0
        for key, read in (
            ("connections", self._product),
            ("externalHttpConnections", self._external),
            ("decisionConnections", self._decision),
        ):
            table = root.table(key, required=False)
            if table is None:
                continue
            total += len(table.entries)
            for name in local_names(root, table, "connection", MOST_CONNECTIONS, 0):
                self._one(root, table, name, read)
        if not 1 <= total <= MOST_CONNECTIONS:
            message = f"there must be 1 to {MOST_CONNECTIONS} connections, not {total}"
            root.refuse("config.invalid-length", root.spot, message)

    def _one(self, root: Section, table: Table, name: str, read: object) -> None:
        entry = table.entries[name]
        if not isinstance(entry.value, Table):
            root.table_needed(entry.value, "a connection")
            self.found.setdefault(name, Bound(entry.key, None, None))
            return
        if name in self.found:
            message = f"another connection is called `{name}`"
            root.refuse("config.duplicate-id", entry.key, message)
        section = Section(entry.value, root.report, "this connection")
        assert callable(read)
        self.found[name] = read(section, entry.key)
        section.close()

    def _product(self, section: Section, spot: Spot) -> Bound:
        pointer = section.place("product").pointer
        if section.has("product") and self._silence.stands_in(pointer):
            self._unchecked(section, "product")
            return Bound(spot, None, None)
        product = section.word("product", _PRODUCTS)
        base_address(section, _ADAPTER)
        acts = self.authorization(section, "authorization", task=product in ("breg", "scheduling"))
        observes = section.has("observationAuthorization")
        if observes:
            self._observation(section)
        needed = product == "scheduling" and acts is True
        if needed and not observes:
            message = "a task-bound connection of scheduling needs `observationAuthorization`"
            remedy = "add the standing identity that reads receipts"
            section.refuse(f"coordinator.{_ADAPTER}", section.spot, message, remedy)
        elif observes and not needed and product is not None:
            message = "only a task-bound connection of scheduling has this"
            refuse(section, _ADAPTER, "observationAuthorization", message, "remove it")
        profile = section.text("profile", _PROFILE, required=product == "breg")
        if profile is not None and product in ("messaging", "scheduling"):
            message = "only a connection of breg has a profile"
            refuse(section, _ADAPTER, "profile", message, "remove it")
        return Bound(spot, product, acts)

    def _unchecked(self, section: Section, key: str) -> None:
        """Warn that nothing more can be said, and say nothing more."""
        spot = section.place(key)
        outside = Spot(spot.file, spot.line, spot.column, f"{section.spot.pointer}", spot.length)
        message = f"`{key}` is known in the deployment only, so the rest here is not checked"
        section.report.add("config.substitution-unchecked", outside, message)
        self._silence.about(section.spot.pointer)

    def _observation(self, section: Section) -> None:
        """It shares endpoint, client and resource with the main authorization."""
        self.authorization(section, "observationAuthorization", task=False)
        main = section.tree.entries.get("authorization")
        own = section.tree.entries["observationAuthorization"].value
        if main is None or not isinstance(main.value, Table) or not isinstance(own, Table):
            return
        for key in ("tokenEndpoint", "clientId", "resource"):
            one, other = main.value.entries.get(key), own.entries.get(key)
            if one is None or other is None:
                continue
            if one.value.to_json() != other.value.to_json():
                message = f"`{key}` differs from the main authorization"
                remedy = "use the same client, endpoint and resource"
                section.refuse(f"coordinator.{_ADAPTER}", other.value.spot, message, remedy)

    def authorization(
        self, section: Section, key: str, *, task: bool, required: bool = True
    ) -> bool | None:
        """A client-credentials authorization; gives whether it acts for a task."""
        inner = section.section(key, f"`{key}`", required=required)
        if inner is None:
            return None
        web_address(inner, "tokenEndpoint", _ADAPTER)
        inner.text("clientId", short_text(256))
        absolute_uri(inner, "clientAssertionAudience", 2_048, _ADAPTER, required=False)
        self._values.secret(inner, "signingKeyRef", file_only=True)
        absolute_uri(inner, "resource", 2_048, _ADAPTER)
        scopes = texts(inner, "scopes", _SCOPE, 1, 32)
        if len(" ".join(scopes)) > 4_096:
            message = "the scopes together have more than 4096 bytes"
            refuse(inner, _ADAPTER, "scopes", message, "ask for fewer")
        acts = inner.has("taskAuthority")
        if acts and not task:
            message = "this authorization does not act for tasks"
            refuse(inner, _ADAPTER, "taskAuthority", message, "remove it")
        elif acts:
            _task_authority(inner)
        inner.close()
        section.broken = section.broken or inner.broken
        return acts

    def _external(self, section: Section, spot: Spot) -> Bound:
        base_address(section, _EXTERNAL)
        texts(section, "paths", _PATH, 1, 16, check=_path_fault, code=_EXTERNAL)
        texts(section, "queryParameters", short_text(128), 1, 16, required=False)
        self.authorization(section, "authorization", task=False, required=False)
        schema = self._response_schema(section)
        section.integer("attemptTimeoutMilliseconds", 1, 2_000, required=False)
        section.integer("maximumResponseBytes", 1, 65_536, required=False)
        return Bound(spot, "external", False, schema)

    def _response_schema(self, section: Section) -> JsonValue:
        schema = section.foreign("responseSchema")
        entry = section.tree.entries.get("responseSchema")
        if entry is None:
            return True
        faults = schema_faults(schema)
        for fault in faults:
            place = find(entry.value, pointer_parts(fault.pointer))
            message = f"this is no usable schema: {fault.message}"
            section.refuse(f"coordinator.{_EXTERNAL}", place, message, fault.remedy)
        unknown = faults or self._silence.holds_stand_ins(entry.value.spot.pointer)
        return True if unknown else schema

    def _decision(self, section: Section, spot: Spot) -> Bound:
        section.word("protocol", ("system-one", "openai-decisions"))
        address = base_address(section, _DECISION)
        section.text("model", short_text(512))
        self._credential(section, address)
        section.integer("attemptTimeoutMilliseconds", 1, 8_000, required=False)
        section.integer("maximumRequestBytes", 1, 65_536, required=False)
        section.integer("maximumResponseBytes", 1, 65_536, required=False)
        return Bound(spot, "evaluation", False)

    def _credential(self, section: Section, address: str | None) -> None:
        inner = section.section("authorization", "`authorization`")
        if inner is None:
            return
        bearer, local = inner.has("bearer"), inner.has("local")
        if bearer == local:
            message = "an authorization is either `bearer` or `local`"
            section.refuse("config.unknown-variant", inner.spot, message, "keep one of the two")
        elif bearer and (token := inner.section("bearer", "`bearer`")) is not None:
            self._values.secret(token, "tokenRef")
            token.text("principal", short_text(512))
            token.close()
        elif local and (empty := inner.section("local", "`local`")) is not None:
            empty.close()
            if address is not None and not is_loopback(address):
                message = "`local` is for a numeric loopback address only"
                refuse(section, _DECISION, "authorization", message, "use `bearer`")
        inner.close()


def _task_authority(section: Section) -> None:
    inner = section.section("taskAuthority", "`taskAuthority`")
    if inner is None:
        return
    for key in ("baseUrl", "issuer", "exchangeAudience", "bootstrapResource"):
        absolute_uri(inner, key, 512, _ADAPTER)
    inner.text("subject", short_text(512))
    inner.close()


def _path_fault(path: str) -> str | None:
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "a path has no leading slash and no empty or dot segment"
    return None
