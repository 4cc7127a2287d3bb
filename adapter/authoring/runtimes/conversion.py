"""What a sound public runtime file says, as a runtime file of our own says it (docs/runtime.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter.authoring.runtimes.values import is_loopback

_EXTERNAL = (
    "baseUrl",
    "paths",
    "queryParameters",
    "responseSchema",
    "attemptTimeoutMilliseconds",
    "maximumResponseBytes",
)
_DECISION = (
    "protocol",
    "baseUrl",
    "model",
    "attemptTimeoutMilliseconds",
    "maximumRequestBytes",
    "maximumResponseBytes",
)
_PRODUCT = ("product", "baseUrl", "profile")


def converted_runtime(written: Mapping[str, Any]) -> dict[str, Any]:
    """``{secrets, database, keys, connections}`` of ``coordinator/v1``.

    ``written`` is a public runtime file without findings, its substitutions made. Callers,
    listener and package have no counterpart that could be made without asking.
    """
    return {
        "secrets": _secrets(written["secretProviders"]),
        "database": _database(written),
        **_keys(written.get("deployment", {})),
        "connections": {
            **_each(written, "connections", _product),
            **_each(written, "externalHttpConnections", _external),
            **_each(written, "decisionConnections", _decision),
        },
    }


def _secrets(providers: Mapping[str, Any]) -> dict[str, Any]:
    return {"fileRoot": providers["file"]["root"]} if "file" in providers else {}


def _database(written: Mapping[str, Any]) -> dict[str, Any]:
    role = written.get("deployment", {}).get("runtimeRole")
    addresses = {
        "url": written["database"]["runtimeUrlRef"],
        "migrationUrl": written["database"]["migrationUrlRef"],
    }
    return addresses if role is None else {**addresses, "runtimeRole": role}


def _keys(deployment: Mapping[str, Any]) -> dict[str, Any]:
    if not deployment:
        return {}
    versions = {version: key["keyRef"] for version, key in deployment["stateKeys"].items()}
    admission = {"active": 1, "versions": {"1": deployment["admissionKeyRef"]}}
    state = {"active": deployment["activeStateKey"], "versions": versions}
    return {"keys": {"admission": admission, "state": state}}


def _each(written: Mapping[str, Any], key: str, convert: Any) -> dict[str, Any]:
    return {name: convert(one) for name, one in written.get(key, {}).items()}


def _product(connection: Mapping[str, Any]) -> dict[str, Any]:
    result = _members(connection, _PRODUCT)
    for key in ("authorization", "observationAuthorization"):
        if key in connection:
            result[key] = _client(connection[key])
    return result


def _external(connection: Mapping[str, Any]) -> dict[str, Any]:
    result = {"product": "external", **_members(connection, _EXTERNAL)}
    if "authorization" in connection:
        return result | {"authorization": _client(connection["authorization"])}
    kind = "none" if is_loopback(connection["baseUrl"]) else "anonymous"
    return result | {"authorization": {"type": kind}}


def _decision(connection: Mapping[str, Any]) -> dict[str, Any]:
    bearer = connection["authorization"].get("bearer")
    identity = {"type": "none"} if bearer is None else {"type": "bearer", **bearer}
    return {
        "product": "evaluation",
        **_members(connection, _DECISION),
        "authorization": identity,
    }


def _client(authorization: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "client-credentials", **authorization}


def _members(connection: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: connection[name] for name in names if name in connection}
