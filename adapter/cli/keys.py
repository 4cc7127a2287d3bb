"""The commands `keys status` and `keys reseal`: what is under which sealing key, and rotation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import typer

from adapter.cli.loops import run_to_end
from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.terminal import Format, Terminal
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.crypto import KeyRing
from adapter.ledger.rotation import KeyUse, Rotation
from adapter.wiring.deployment import key_ring

_ACTOR = "coordinatorctl"
_UNREADABLE = 1
_Work: TypeAlias = Callable[[Rotation], Awaitable[dict[str, Any]]]


def status(runtime: RuntimeOption = None, format: FormatOption = Format.TEXT) -> None:
    """Count what is under each version of the sealing key."""
    _report(runtime, format, _looked)


def reseal(runtime: RuntimeOption = None, format: FormatOption = Format.TEXT) -> None:
    """Bring every run's key, every definition and reason under the active version."""
    report = _report(runtime, format, _renewed)
    if report["unreadable"]:
        raise typer.Exit(_UNREADABLE)


def _report(runtime: Path | None, format: Format, work: _Work) -> dict[str, Any]:
    report = run_to_end(_carried_out(load_runtime(find_runtime(runtime)), work))
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(report)
    else:
        _show(terminal, report)
    return report


async def _carried_out(runtime: Runtime, work: _Work) -> dict[str, Any]:
    url = runtime.secrets.secret(runtime.document.database.migration_url).reveal()
    ring = key_ring(runtime)
    async with Rotation.open(url, ring, runtime.document.deployment) as rotation:
        done = await work(rotation)
        return {**_versions(ring, await rotation.uses()), **done}


async def _looked(rotation: Rotation) -> dict[str, Any]:
    return {}


async def _renewed(rotation: Rotation) -> dict[str, Any]:
    done = await rotation.reseal(_ACTOR)
    return {
        "resealed": {
            "runKeys": done.run_keys,
            "definitions": done.definitions,
            "reasons": done.reasons,
        },
        "unreadable": done.unreadable,
        "unreadableNamed": list(done.named),
    }


def _versions(ring: KeyRing, uses: list[KeyUse]) -> dict[str, Any]:
    by_version = {use.version: use for use in uses}
    rows = [
        _version(ring, version, by_version.get(version))
        for version in sorted({*ring.versions, *by_version})
    ]
    return {"active": ring.active, "versions": rows}


def _version(ring: KeyRing, version: int, use: KeyUse | None) -> dict[str, Any]:
    noted_at = None if use is None else use.noted_at
    return {
        "version": version,
        "runKeys": 0 if use is None else use.run_keys,
        "definitions": 0 if use is None else use.definitions,
        "reasons": 0 if use is None else use.reasons,
        "inKeySet": version in ring.versions,
        "firstUsedAt": None if noted_at is None else noted_at.isoformat(),
        "mayBeTakenOut": version != ring.active and (use is None or not use.used),
    }


def _show(terminal: Terminal, report: dict[str, Any]) -> None:
    if "resealed" in report:
        done = report["resealed"]
        terminal.facts(
            [
                ("run keys resealed", done["runKeys"]),
                ("definitions resealed", done["definitions"]),
                ("reasons resealed", done["reasons"]),
                ("not readable", report["unreadable"]),
            ]
        )
        for name in report["unreadableNamed"]:
            terminal.line(f"  {name}")
        terminal.line()
    rows = [
        (
            version["version"],
            "active" if version["version"] == report["active"] else "kept",
            version["runKeys"],
            version["definitions"],
            version["reasons"],
            "yes" if version["inKeySet"] else "no",
            "yes" if version["mayBeTakenOut"] else "no",
        )
        for version in report["versions"]
    ]
    counted = ("run keys", "definitions", "reasons")
    columns = ("version", "use", *counted, "in the key set", "may be taken out")
    terminal.table(columns, rows, "Sealing keys")
