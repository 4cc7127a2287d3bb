"""The commands `complete` and `fail`: what an author does to a simulation while a run goes on."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.runs import read_input
from adapter.cli.simulation_client import SimulationClient
from adapter.cli.terminal import Format, Terminal
from adapter.config.json_text import strict_json
from adapter.errors import Usage
from interpreter.contract.values import JsonValue


def complete(
    name: Annotated[
        str,
        typer.Argument(
            metavar="WAIT", help="the wait's step or the result's id; the only one without it"
        ),
    ] = "",
    value: Annotated[
        str | None, typer.Option("--value", metavar="JSON", help="the result; made up without it")
    ] = None,
    value_file: Annotated[
        str | None, typer.Option("--value-file", metavar="FILE", help="the result in a file")
    ] = None,
    gone: Annotated[
        bool, typer.Option("--gone", help="the result will never come (withdrawn, say)")
    ] = False,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Give a waiting run the result it waits for, at the simulated product."""
    if sum((value is not None, value_file is not None, gone)) > 1:
        raise Usage(
            "usage.invalid",
            "a result has one value, or is gone",
            place="--value",
            remedy="give one of --value, --value-file and --gone",
        )
    asked: dict[str, JsonValue] = {"name": name}
    if value is not None:
        asked["value"] = _json(value)
    elif value_file is not None:
        asked["value"] = read_input(value_file)
    elif gone:
        asked["gone"] = True
    done = SimulationClient.find(runtime).complete(**asked)
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(done)
        return
    terminal.line(f"{done['wait']}: {done['id']} is {done['state']}")
    if done["state"] == "completed":
        terminal.line(json.dumps(done["value"], ensure_ascii=False))


def fail(
    failure: Annotated[
        str,
        typer.Argument(
            metavar="STEP=KIND",
            help="lost-response, refuse:CODE, status-5xx, slow:SECONDS or rate-limited; shows "
            "what is set without it",
        ),
    ] = "",
    clear: Annotated[
        str | None,
        typer.Option("--clear", metavar="STEP", help="let the step work again, or `all`"),
    ] = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Let a step of the simulated project fail, or work again.

    A failure strikes the first attempt of every command; `*3` after it strikes three, `*` all.
    """
    client = SimulationClient.find(runtime)
    if clear is not None:
        state = client.clear("" if clear == "all" else clear)
    else:
        state = client.fail(failure) if failure else client.state()
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object({"failures": state["failures"]})
    elif state["failures"]:
        terminal.table(("step", "failure", "attempts"), [_row(one) for one in state["failures"]])
    else:
        terminal.line("no step fails")


def _row(failure: dict[str, Any]) -> tuple[Any, ...]:
    setting = failure["code"] or (f"{failure['seconds']:g} s" if failure["seconds"] else "")
    times = failure.get("times", "all")
    return failure["step"], f"{failure['kind']} {setting}".strip(), times or "all"


def _json(text: str) -> JsonValue:
    try:
        return strict_json(text.encode())
    except ValueError as error:
        raise Usage(
            "input.unreadable",
            "the value is not JSON",
            place="--value",
            remedy="quote it for your shell, or use --value-file",
        ) from error
