"""The command `watch`: a run's progress, drawn for a person, as lines or objects otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from adapter.cli.options import (
    CredentialOption,
    FormatOption,
    RunArgument,
    RuntimeOption,
    UrlOption,
)
from adapter.cli.runs import effects_table, segment, show_status, steps_table, waits_table
from adapter.cli.service_client import ServiceClient
from adapter.cli.terminal import Format, Terminal, drawn_table
from adapter.errors import Unavailable
from interpreter.contract.records import RunState

_PAGE = 100
_MOST_MISSED = 20


def watch(
    run: RunArgument,
    interval: Annotated[
        float, typer.Option("--interval", min=0.2, max=60, help="seconds between two looks")
    ] = 0.5,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Follow a run until it ends."""
    client = ServiceClient.find(runtime, url, credential)
    terminal = Terminal(format)
    found = follow(client, segment(run), terminal, interval)
    if format is Format.TEXT:
        show_status(terminal, found["run"])


Look = Callable[[dict[str, Any]], None]


def follow(
    client: ServiceClient,
    run: str,
    terminal: Terminal,
    interval: float = 0.5,
    look: Look = lambda _: None,
) -> Any:
    """Show a run's progress until it is over; gives its last inspection.

    ``look`` is called with every inspection on the way.
    """
    client.get(f"/v1/runs/{run}")
    shown = _drawn if terminal.live else _listed
    found = shown(client, run, terminal, interval, look)
    if terminal.format is Format.JSON:
        terminal.json_line({"run": found["run"]})
    return found


def _over(found: Any) -> bool:
    return RunState(found["run"]["state"]).final


def looks(client: ServiceClient, path: str, interval: float) -> Iterator[Any]:
    """Answers to one GET, again and again; a service that is away for a while is waited for."""
    missed = 0
    while True:
        try:
            yield client.get(path)
            missed = 0
        except Unavailable:
            missed += 1
            if missed > _MOST_MISSED:
                raise
        time.sleep(interval)


def _listed(
    client: ServiceClient, run: str, terminal: Terminal, interval: float, look: Look
) -> Any:
    after = 0
    for found in looks(client, f"/v1/runs/{run}/inspect", interval):
        while True:
            page = client.get(f"/v1/runs/{run}/events", after=after, limit=_PAGE)
            for event in page["events"]:
                _say_event(terminal, event)
            after = page["next"]
            if len(page["events"]) < _PAGE:
                break
        if _over(found):
            return found
        look(found)
    raise AssertionError("looks never end")


def _say_event(terminal: Terminal, event: dict[str, Any]) -> None:
    if terminal.format is Format.JSON:
        terminal.json_line({"event": event})
        return
    terminal.line(told_event(event))


def told_event(event: dict[str, Any]) -> str:
    """One event as a line: when, what, at which step, and what else is worth a look."""
    data = dict(event["data"])
    node = str(data.pop("node", ""))
    usual = {
        "branch": "main",
        "visit": 1,
        "sequence": data.get("sequence"),
        "kind": data.get("kind"),
    }
    rest = " ".join(f"{k}={v}" for k, v in data.items() if v != "" and usual.get(k) != v)
    return f"{event['at'][11:19]}  {event['type']:<18}  {node:<16}  {rest}".rstrip()


def _drawn(client: ServiceClient, run: str, terminal: Terminal, interval: float, look: Look) -> Any:
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    with Live(console=terminal.console(), auto_refresh=False, transient=True) as live:
        for found in looks(client, f"/v1/runs/{run}/inspect", interval):
            status = found["run"]
            head = Text(f"run {run}  {status['workflow']}  ", style="bold")
            head.append(status["state"], style="cyan")
            tables = [steps_table(found), effects_table(found), waits_table(found)]
            live.update(Group(head, *(drawn_table(*t) for t in tables if t[1])), refresh=True)
            if _over(found):
                return found
            look(found)
    raise AssertionError("looks never end")
