"""The commands `versions …`: builds of workers, which is current, and moving runs to it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer

from adapter.cli.loops import run_to_end
from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.terminal import Format, Terminal
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.config.words import BUILD_ID
from adapter.errors import Usage
from adapter.reconcile.builds import Builds
from adapter.wiring.versions import open_builds

_ACTOR: Final = "coordinatorctl"
_SOME_LEFT = 1
_LONGEST = 86_400
_Work: TypeAlias = Callable[[Builds], Awaitable[dict[str, Any]]]

BuildArgument = Annotated[str, typer.Argument(metavar="BUILD", help="build id of the workers")]
SecondsOption = Annotated[
    float, typer.Option("--seconds", min=0, max=_LONGEST, help="how long to wait at most")
]


def list_builds(runtime: RuntimeOption = None, format: FormatOption = Format.TEXT) -> None:
    """Show the builds that Temporal knows, and how many open runs are on each."""
    report = _done(runtime, _listed)
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(report)
        return
    rows = [(row["build"], row["state"], row["runs"], row["since"]) for row in report["builds"]]
    title = f"Builds of {report['deployment']}"
    terminal.table(("build", "state", "open runs", "known since"), rows, title)


def current(
    build: BuildArgument,
    seconds: SecondsOption = 60,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Have new runs begin on a build, as soon as a worker of it polls."""
    if re.fullmatch(BUILD_ID, build) is None:
        raise Usage(
            "usage.invalid-value",
            "a build id is 1 to 128 letters, digits and ._+-",
            place="BUILD",
            remedy="give a build that `coordinatorctl versions list` shows, or that is starting",
        )

    async def work(builds: Builds) -> dict[str, Any]:
        await builds.make_current(build, _ACTOR, seconds)
        return {"deployment": builds.deployment, "current": build}

    _say(_done(runtime, work), format)


def drain(
    wait: Annotated[
        bool, typer.Option("--wait", help="until no run is left on another build")
    ] = False,
    seconds: SecondsOption = 60,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Move open runs to the current build; with --wait it ends with 1 when some are left."""

    async def work(builds: Builds) -> dict[str, Any]:
        drained = await builds.drain(_ACTOR, seconds if wait else 0)
        named = {build or "none": count for build, count in sorted(drained.left.items())}
        left = sum(named.values())
        return {
            "deployment": builds.deployment,
            "current": drained.current,
            "nudged": drained.nudged,
            "left": left,
            "leftOn": named,
        }

    report = _done(runtime, work)
    _say(report, format)
    if wait and report["left"]:
        raise typer.Exit(_SOME_LEFT)


def _done(runtime: Path | None, work: _Work) -> dict[str, Any]:
    return run_to_end(_carried_out(load_runtime(find_runtime(runtime)), work))


async def _carried_out(runtime: Runtime, work: _Work) -> dict[str, Any]:
    async with open_builds(runtime) as builds:
        return await work(builds)


async def _listed(builds: Builds) -> dict[str, Any]:
    known, runs = await builds.known(), await builds.runs()
    rows = [
        {
            "build": build.id,
            "state": build.state,
            "runs": runs.pop(build.id, 0),
            "since": build.created_at.isoformat(),
        }
        for build in known.builds
    ]
    # Runs of before builds were told apart, and of builds that Temporal has forgotten.
    rows += [
        {"build": build or None, "state": "unknown", "runs": count, "since": None}
        for build, count in sorted(runs.items())
    ]
    return {"deployment": builds.deployment, "current": known.current, "builds": rows}


def _say(report: dict[str, Any], format: Format) -> None:
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(report)
        return
    elsewhere = ", ".join(
        f"{count} on {build}" for build, count in report.get("leftOn", {}).items()
    )
    known = [("deployment", report["deployment"]), ("current", report["current"])]
    if "left" in report:
        known += [("nudged", report["nudged"]), ("left", report["left"]), ("of them", elsewhere)]
    terminal.facts(known)
