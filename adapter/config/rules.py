"""Rules of a runtime file that need more than one key: mode, transport, references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from adapter.config.caller_rules import caller_rules
from adapter.config.document import (
    PRODUCTION_FLOOR_SECONDS,
    RuntimeDocument,
    is_loopback,
)
from adapter.config.findings import Finding, pointer
from adapter.config.identity_rules import broken_identities
from adapter.config.outgoing import outgoing_document
from interpreter.contract.values import JsonValue

_FILE_REFERENCE = re.compile(r"^secret:file/")


def broken_rules(document: RuntimeDocument, folder: Path) -> list[Finding]:
    """Every broken rule of a document whose shape is right; ``folder`` holds the file."""
    return [
        *_transport(document),
        *broken_identities(document),
        *_floor(document),
        *_codec(document),
        *_signed(document),
        *caller_rules(document),
        *_secrets_apart(document),
        *_file_root(document),
        *_providers(document),
        *_catalogue(document, folder),
    ]


def _transport(document: RuntimeDocument) -> Iterator[Finding]:
    traces = document.telemetry.traces
    if traces is not None and traces.endpoint is not None:
        yield from outgoing_document(traces.endpoint, ["telemetry", "traces", "endpoint"])


def _codec(document: RuntimeDocument) -> Iterator[Finding]:
    if document.codec is None:
        return
    for index, origin in enumerate(document.codec.ui_origins):
        here = is_loopback(origin) or urlsplit(origin).hostname == "localhost"
        if origin.startswith("http://") and not here:
            yield Finding(
                "config.plain-http",
                pointer(["codec", "uiOrigins", index]),
                "plain http is allowed on a loopback address only",
                "serve Temporal's UI over https",
            )
    alone = document.mode == "development" and is_loopback(f"http://{document.api.bind}")
    if document.codec.key_in_path and not alone:
        yield Finding(
            "config.key-in-path",
            "/codec/keyInPath",
            "an API key may stand in an address in mode development on loopback only",
            "remove it, and have Temporal's UI pass the access token",
        )


def _floor(document: RuntimeDocument) -> Iterator[Finding]:
    production = document.mode == "production"
    if production and document.waits.floor_seconds < PRODUCTION_FLOOR_SECONDS:
        yield Finding(
            "config.out-of-range",
            "/waits/floorSeconds",
            f"the floor is below {PRODUCTION_FLOOR_SECONDS} seconds",
            f"use {PRODUCTION_FLOOR_SECONDS} or more; only mode development may go lower",
        )


def _signed(document: RuntimeDocument) -> Iterator[Finding]:
    if document.mode == "production" and document.audit is None:
        yield Finding(
            "config.missing-key",
            "/audit",
            "a production journal is signed",
            "name the signing key under audit.signingKey, see docs/audit.md",
        )


def _secrets_apart(document: RuntimeDocument) -> Iterator[Finding]:
    """No two keys of the deployment are one secret, and no two senders of events are."""
    audit, events = document.audit, document.events
    keys = {("keys", "state"): document.keys.state, ("keys", "admission"): document.keys.admission}
    if audit is not None:
        keys["audit", "signingKey"] = audit.signing_key
    yield from _used_once(
        [
            ([*place, "versions", version], reference)
            for place, key in keys.items()
            for version, reference in key.versions.items()
        ],
        "another key is the same secret",
        "generate each key by itself",
    )
    # Who signed tells whose message it is, so a secret must have one owner.
    senders = [("completions", name, part.secret_ref) for name, part in events.completions.items()]
    senders += [("sources", name, part.secret_ref) for name, part in events.sources.items()]
    yield from _used_once(
        [(["events", kind, name, "secretRef"], reference) for kind, name, reference in senders],
        "another sender has the same secret",
        "give every sender a secret of its own",
    )


def _used_once(places: list[tuple[list[str], str]], message: str, remedy: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for place, reference in places:
        if reference in seen:
            yield Finding("config.duplicate-item", pointer([*place]), message, remedy)
        seen.add(reference)


def _file_root(document: RuntimeDocument) -> Iterator[Finding]:
    if document.secrets.file_root is None:
        for location, reference in references(document):
            if _FILE_REFERENCE.match(reference):
                yield Finding(
                    "config.secret-root",
                    location,
                    "a file reference needs secrets.fileRoot",
                    "name the folder that holds the secret files",
                )


def _providers(document: RuntimeDocument) -> Iterator[Finding]:
    known = {"file", "env", *document.secrets.providers}
    for location, reference in references(document):
        provider = reference.removeprefix("secret:").partition("/")[0]
        if provider not in known:
            yield Finding(
                "config.secret-provider",
                location,
                "no such provider of secrets is configured",
                "add it under secrets.providers, or correct the reference",
            )
        elif location.startswith("/secrets/providers/") and provider not in ("file", "env"):
            yield Finding(
                "config.secret-provider",
                location,
                "what a provider needs itself is not kept by a provider",
                "write secret:file/NAME or secret:env/NAME",
            )


def _catalogue(document: RuntimeDocument, folder: Path) -> Iterator[Finding]:
    for index, name in enumerate(document.catalogue):
        if not (folder / name).is_file():
            yield Finding(
                "config.file-absent",
                pointer(["catalogue", index]),
                "there is no such catalogue document",
                "correct the path; it is relative to the runtime file",
            )


def references(document: RuntimeDocument) -> Iterator[tuple[str, str]]:
    """Pointer and text of every secret reference of the document."""
    yield from _walk(document.to_json(), [])


def _walk(value: JsonValue, location: list[str | int]) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _walk(member, [*location, key])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, [*location, index])
    elif isinstance(value, str) and value.startswith("secret:"):
        yield pointer(location), value
