"""The command `dev`: the servers of a development deployment, kept up until a signal."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from adapter.cli.activation import activate_project
from adapter.cli.local_servers import SOURCE_ROOT, LocalPlan, LocalServers, running_servers
from adapter.cli.loops import run_to_end, stop_on_signal
from adapter.cli.options import FormatOption
from adapter.cli.terminal import Format, Terminal
from adapter.config.location import DEVELOPMENT_FOLDER

_EXAMPLE = SOURCE_ROOT / "examples" / "reviewed-notice"
Port = Annotated[int | None, typer.Option(min=1024, max=65_535)]


def dev(
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="where data is kept between starts")
    ] = Path(DEVELOPMENT_FOLDER),
    workers: Annotated[int, typer.Option("--workers", min=1, max=16)] = 2,
    port: Port = None,
    temporal_port: Port = None,
    ui_port: Port = None,
    products_port: Port = None,
    postgres_port: Port = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Start PostgreSQL, Temporal, pretend products, the service and workers; Ctrl-C stops all.

    A port that is named is used or refused; every other one moves when it is taken. Runs that were
    not finished go on.
    """
    fixed = {
        "api": port,
        "temporal": temporal_port,
        "temporalUi": ui_port,
        "products": products_port,
        "postgres": postgres_port,
    }
    terminal = Terminal(format)
    plan = LocalPlan(
        folder=data,
        workers=workers,
        fixed_ports={name: number for name, number in fixed.items() if number is not None},
        say=terminal.line if format is Format.TEXT else lambda _: None,
    )
    run_to_end(_keep_up(plan, terminal))


async def _keep_up(plan: LocalPlan, terminal: Terminal) -> None:
    stop, up = stop_on_signal(), asyncio.Event()
    serving = asyncio.create_task(_serve_until(plan, terminal, stop, up))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not up.is_set() and not serving.done():
        # Whoever interrupts a start does not want to wait for its end.
        serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving


async def _serve_until(
    plan: LocalPlan, terminal: Terminal, stop: asyncio.Event, up: asyncio.Event
) -> None:
    async with running_servers(plan) as servers:
        applied = await activate_project(servers.files.runtime, _EXAMPLE)
        _say_addresses(terminal, servers, applied.workflow)
        up.set()
        await servers.keep_up(stop, plan.say)


def addresses_of(servers: LocalServers) -> list[tuple[str, str]]:
    """Every address that a person may want, by what it is."""
    at = servers.addresses
    return [
        ("service", at.api),
        ("reviews", f"{at.products}/casework/"),
        ("Temporal UI", at.temporal_ui),
        ("Temporal", at.temporal),
        ("PostgreSQL", at.database_url.rpartition("@")[2]),
        ("pretend products", at.products),
        ("runtime file", str(servers.files.runtime)),
        ("API key", str(servers.files.api_key_file)),
        ("logs", str(servers.files.folder / "logs")),
    ]


def _say_addresses(terminal: Terminal, servers: LocalServers, workflow: str) -> None:
    if terminal.format is Format.JSON:
        terminal.object(dict(addresses_of(servers)))
        return
    terminal.line()
    terminal.facts(addresses_of(servers))
    terminal.line()
    terminal.line(f"The example {workflow} is active. In another terminal:")
    terminal.line('  echo \'{"applicationId": "APP-1001"}\' > input.json')
    terminal.line(f"  coordinatorctl start --workflow {workflow} --input input.json")
    terminal.line("  coordinatorctl decide approved")
    terminal.line("  coordinatorctl list")
    terminal.line()
    terminal.line("Ready. Ctrl-C stops everything; the data is kept.")
