"""The command `keys`: what is under which sealing key, and bringing it under the active one."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from adapter.cli.loops import run_to_end
from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.terminal import Format, Terminal
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.crypto import KeyRing
from adapter.ledger.rotation import KeyUse, Resealed, Rotation
from adapter.wiring.deployment import key_ring

_ACTOR = "coordinatorctl"
_UNREADABLE = 1


class KeysAction(StrEnum):
    """What to do about the sealing keys."""

    STATUS = "status"
    RESEAL = "reseal"


def keys(
    action: Annotated[
        KeysAction,
        typer.Argument(
            metavar="ACTION",
            help="status: count what is under each version; reseal: bring it under the active one",
        ),
    ],
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what is under which sealing key, or bring everything under the active one."""
    loaded = load_runtime(find_runtime(runtime))
    report = run_to_end(_report(loaded, action))
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(report)
    else:
        _show(terminal, report)
    if report.get("unreadable"):
        raise typer.Exit(_UNREADABLE)


async def _report(runtime: Runtime, action: KeysAction) -> dict[str, Any]:
    url = runtime.secrets.text(runtime.document.database.migration_url)
    ring = key_ring(runtime)
    async with Rotation.open(url, ring, runtime.document.deployment) as rotation:
        done = await rotation.reseal(_ACTOR) if action is KeysAction.RESEAL else None
        return {**_versions(ring, await rotation.uses()), **_resealed(done)}


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
        "inKeySet": version in ring.versions,
        "firstUsedAt": None if noted_at is None else noted_at.isoformat(),
        "mayBeTakenOut": version != ring.active and (use is None or not use.used),
    }


def _resealed(done: Resealed | None) -> dict[str, Any]:
    if done is None:
        return {}
    counts = done.counts()
    return {
        "resealed": {"runKeys": counts["runKeys"], "definitions": counts["definitions"]},
        "unreadable": done.unreadable,
        "unreadableNamed": list(done.named),
    }


def _show(terminal: Terminal, report: dict[str, Any]) -> None:
    if "resealed" in report:
        done = report["resealed"]
        terminal.facts(
            [
                ("run keys resealed", done["runKeys"]),
                ("definitions resealed", done["definitions"]),
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
            "yes" if version["inKeySet"] else "no",
            "yes" if version["mayBeTakenOut"] else "no",
        )
        for version in report["versions"]
    ]
    columns = ("version", "use", "run keys", "definitions", "in the key set", "may be taken out")
    terminal.table(columns, rows, "Sealing keys")
