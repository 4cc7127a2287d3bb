"""``deployment`` of a public runtime file: package, listener, callers, custody (contract 1.4)."""

from __future__ import annotations

import re
from ipaddress import ip_address

from activities.yaml.tree import Table
from adapter.authoring.formats.shape import Rule, Section
from adapter.authoring.runtimes.values import (
    ABSOLUTE_PATH,
    Values,
    absolute_uri,
    length,
    refuse,
    short_text,
    texts,
    web_address,
)

LARGEST_KEY_VERSION = 4_294_967_295
_ACTIONS = (
    "start",
    "status",
    "inspect",
    "retry-same",
    "cancel",
    "reconcile",
    "doctor",
    "restore-hold",
    "release-restore-hold",
    "release-admission-hold",
    "complete-execution-recovery",
    "retain",
)
_OPERATORS_ONLY = frozenset(_ACTIONS[6:])
_DEPLOYMENT = "deployment.configuration"
_ACCESS = "access.configuration"
_ROLE = Rule(re.compile(r"[a-z_][a-z0-9_]{0,62}\Z"), "use 1 to 63 of `a-z 0-9 _`")
_DIGEST = Rule(re.compile(r"sha256:[0-9a-f]{64}\Z"), "write `sha256:` and 64 hex digits")
_FLOW = Rule(re.compile(r"[A-Za-z0-9_-]{1,64}\Z"), "write the exact id of a workflow")
_VERSION = re.compile(r"[1-9][0-9]{0,9}\Z")
_UNRESTRICTED = frozenset({"*", "any", "all", "unrestricted"})


def read_deployment(section: Section, values: Values) -> None:
    """Every rule of the section; whatever is wrong is reported at its place."""
    section.text("databaseId", short_text(128))
    section.text("runtimeRole", _ROLE)
    _package(section)
    _listener(section)
    authentication = section.section("authentication", "`authentication`")
    if authentication is not None:
        _authentication(authentication, values)
        authentication.close()
    section.text("auditFile", ABSOLUTE_PATH)
    values.secret(section, "auditKeyRef")
    values.secret(section, "admissionKeyRef")
    _state_keys(section, values)


def _package(section: Section) -> None:
    inner = section.section("package", "`package`")
    if inner is not None:
        inner.text("root", ABSOLUTE_PATH)
        inner.text("expectedDigest", _DIGEST)
        inner.close()


def _listener(section: Section) -> None:
    inner = section.section("listener", "`listener`")
    if inner is None:
        return
    bind = inner.text("bind", short_text(128))
    if bind is not None and not _is_socket(bind):
        message = "`bind` is no numeric address with a port"
        refuse(inner, _DEPLOYMENT, "bind", message, "write IP:PORT")
    inner.word("tlsTermination", ("operator-controlled-upstream", "development-loopback"))
    inner.word("networkExposure", ("private-address", "container-private"), required=False)
    inner.close()


def _is_socket(text: str) -> bool:
    host, _, port = text.rpartition(":")
    try:
        ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return port.isascii() and port.isdigit() and int(port) <= 65_535


def _authentication(section: Section, values: Values) -> None:
    issuer = web_address(section, "issuer", _ACCESS)
    if issuer is not None and not issuer.startswith("https:"):
        refuse(section, _ACCESS, "issuer", "an issuer is an https address", "use https")
    section.text("audience", short_text(512))
    _key_set(section, values)
    clients = texts(
        section, "allowedClients", short_text(128), 1, 64, check=_client_fault, code=_ACCESS
    )
    _assertion_issuers(section)
    section.text("scopeClaim", short_text(128), required=False)
    _policies(section, clients)


def _client_fault(client: str) -> str | None:
    return "every client is named by itself" if client.lower() in _UNRESTRICTED else None


def _key_set(section: Section, values: Values) -> None:
    inner = section.section("jwksSource", "`jwksSource`", required=False)
    if inner is None:
        return
    kind = inner.word("type", ("discovery", "uri", "static"))
    if kind == "uri":
        absolute_uri(inner, "uri", 2_048, _ACCESS)
    elif kind == "static":
        values.secret(inner, "documentRef")
    if kind is not None:
        inner.close()


def _assertion_issuers(section: Section) -> None:
    table = section.table("assertionIssuers", required=False)
    if table is None:
        return
    inner = Section(table, section.report, "`assertionIssuers`")
    for client in table.entries:
        texts(inner, client, short_text(2_048), 1, 16)


def _policies(section: Section, clients: list[str]) -> None:
    sequence = section.sequence("policies")
    if sequence is None:
        return
    length(section, "policies", sequence, 1, 64)
    named: list[str] = []
    whole = True
    for item in sequence.items:
        if not isinstance(item, Table):
            section.table_needed(item, "a policy")
            whole = False
            continue
        inner = Section(item, section.report, "this policy")
        client = _policy(inner)
        inner.close()
        if client is None:
            whole = False
        elif client in named:
            message = "this client has a policy already"
            refuse(inner, _ACCESS, "clientId", message, "keep one policy a client")
        elif clients and client not in clients:
            message = "this client is not among `allowedClients`"
            refuse(inner, _ACCESS, "clientId", message, "add it there, or remove the policy")
        named.append(client or "")
    if whole and set(clients) - set(named):
        message = "an allowed client has no policy"
        refuse(section, _ACCESS, "policies", message, "add a policy for every allowed client")


def _policy(section: Section) -> str | None:
    client = section.text("clientId", short_text(128))
    scopes = texts(section, "requiredScopes", short_text(1_024), 1, 64)
    if len(" ".join(scopes).encode()) > 1_024:
        message = "the scopes together have more than 1024 bytes"
        refuse(section, _ACCESS, "requiredScopes", message, "require fewer")
    texts(section, "flows", _FLOW, 1, 64)
    actions = texts(
        section, "actions", short_text(64), 1, len(_ACTIONS), check=_action_fault, code=_ACCESS
    )
    operator = section.boolean("operator", required=False)
    if operator is not True and _OPERATORS_ONLY & set(actions):
        message = "these actions concern every run, and this policy is no operator's"
        refuse(section, _ACCESS, "actions", message, "set `operator: true`, or remove them")
    return client


def _action_fault(action: str) -> str | None:
    return None if action in _ACTIONS else "there is no such action"


def _state_keys(section: Section, values: Values) -> None:
    active = section.integer("activeStateKey", 1, LARGEST_KEY_VERSION)
    table = section.table("stateKeys")
    if table is None:
        return
    if not 1 <= len(table.entries) <= 16:
        message = f"`stateKeys` must have 1 to 16 items, not {len(table.entries)}"
        section.refuse("config.invalid-length", table.spot, message)
    for version, entry in table.entries.items():
        if not _VERSION.match(version) or int(version) > LARGEST_KEY_VERSION:
            message = "a key version is no canonical positive number"
            remedy = 'write "1", "2" and so on'
            section.refuse(f"coordinator.{_DEPLOYMENT}", entry.key, message, remedy)
        if not isinstance(entry.value, Table):
            section.table_needed(entry.value, "a state key")
            continue
        inner = Section(entry.value, section.report, "a state key")
        values.secret(inner, "keyRef")
        inner.close()
    if active is not None and str(active) not in table.entries:
        message = "the active key is not among `stateKeys`"
        refuse(section, _DEPLOYMENT, "activeStateKey", message, "add it, or name another one")
