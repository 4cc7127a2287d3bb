"""Commands about runs: start, status, inspect, list, and the service's document."""

from __future__ import annotations

import json
import re
import sys
import uuid
from pathlib import Path
from typing import Annotated, Any

import typer

from adapter.cli.options import (
    CredentialOption,
    FormatOption,
    RunArgument,
    RuntimeOption,
    UrlOption,
)
from adapter.cli.service_client import ServiceClient, find_origin, service_document
from adapter.cli.terminal import Format, Terminal
from adapter.config.files import read_named_file
from adapter.config.json_text import BadJson, strict_json
from adapter.errors import Refused, Usage
from interpreter.contract.records import RunState

_LARGEST_INPUT_BYTES = 65_536
_KEY = re.compile(r"(?! )[\x20-\x7e]{1,256}(?<! )")
_REVISION = re.compile(r"sha256:[0-9a-f]{64}")


def start(
    workflow: Annotated[str, typer.Option("--workflow", metavar="ID", help="an active workflow")],
    input: Annotated[str, typer.Option("--input", metavar="FILE", help="JSON input; - is stdin")],
    key: Annotated[
        str | None,
        typer.Option("--key", help="idempotency key; a fresh one is made and shown without it"),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option("--revision", help="the expected revision; the active one without it"),
    ] = None,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Start a run; the same key, revision and input give the same run."""
    value = read_input(input)
    used = request_key(key, "--key")
    if revision is not None and _REVISION.fullmatch(revision) is None:
        raise Usage(
            "usage.invalid-value",
            "this is not the form of a revision",
            place="--revision",
            remedy="write sha256: and 64 hex digits, as `coordinatorctl package` shows them",
        )
    client = ServiceClient.find(runtime, url, credential)
    body = {
        "workflow": workflow,
        "revision": revision or active_revision(client, workflow),
        "input": value,
    }
    run = client.post("/v1/runs", body, {"Idempotency-Key": used})
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(run | {"idempotencyKey": used})
        return
    terminal.facts([("run", run["runId"]), ("key", used), ("state", run["state"])])
    terminal.line("the run is new" if run["created"] else "this key started the run before")


def status(
    run: RunArgument,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show how a run stands."""
    found = ServiceClient.find(runtime, url, credential).get(f"/v1/runs/{segment(run)}")
    show_status(Terminal(format), found)


def inspect(
    run: RunArgument,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show a run's steps, effects, waits, acts and signals."""
    found = ServiceClient.find(runtime, url, credential).get(f"/v1/runs/{segment(run)}/inspect")
    show_inspection(Terminal(format), found)


def list_runs(
    state: Annotated[
        RunState | None, typer.Option("--state", help="only runs in this state")
    ] = None,
    workflow: Annotated[str | None, typer.Option("--workflow", metavar="ID")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100)] = 20,
    cursor: Annotated[
        str | None, typer.Option("--cursor", help="`next` of the page before")
    ] = None,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """List runs, newest admission first."""
    client = ServiceClient.find(runtime, url, credential)
    page = client.get("/v1/runs", state=state, workflow=workflow, limit=limit, cursor=cursor)
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(page)
        return
    columns = ("run", "workflow", "state", "outcome", "admitted")
    rows = [
        (r["runId"], r["workflow"], r["state"], r["outcome"] or r["failureCode"], r["admittedAt"])
        for r in page["runs"]
    ]
    terminal.table(columns, rows)
    if page["next"]:
        terminal.line(f"more: --cursor {page['next']}")


def openapi(runtime: RuntimeOption = None, url: UrlOption = None) -> None:
    """Print the service's OpenAPI document."""
    Terminal().object(service_document(find_origin(runtime, url)))


def show_status(terminal: Terminal, run: dict[str, Any]) -> None:
    """Write how a run stands."""
    if terminal.format is Format.JSON:
        terminal.object(run)
    else:
        terminal.facts(_facts(run))


def _facts(run: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        ("run", run["runId"]),
        ("workflow", f"{run['workflow']} {run['version']}".strip()),
        ("revision", run["revision"]),
        ("state", run["state"] if run["start"] == "started" else run["start"]),
        ("outcome", run["outcome"]),
        ("failure", " at ".join(filter(None, (run["failureCode"], run["failurePlace"])))),
        ("output", None if run["output"] is None else json.dumps(run["output"])),
        ("admitted", run["admittedAt"]),
        ("deadline", run["deadlineAt"]),
        ("closed", run["closedAt"]),
        ("under review", "yes" if run["underReview"] else None),
        ("erased", run["erasedAt"]),
        ("allowed now", ", ".join(control["name"] for control in run["controls"])),
    ]


def show_inspection(terminal: Terminal, found: dict[str, Any]) -> None:
    """Write a run with its steps, effects, waits, acts and signals."""
    if terminal.format is Format.JSON:
        terminal.object(found)
        return
    execution = found["execution"] or {}
    terminal.facts(
        [
            *_facts(found["run"]),
            ("unknown since", _unknown_since(found["effects"])),
            ("in Temporal", execution.get("workflowId")),
        ]
    )
    terminal.line()
    terminal.table(*steps_table(found))
    terminal.line()
    terminal.table(*effects_table(found))
    if found["waits"]:
        terminal.line()
        terminal.table(*waits_table(found))
    if found["acts"]:
        terminal.line()
        terminal.table(*acts_table(found))
    if found["signals"]:
        terminal.line()
        terminal.table(*signals_table(found))


def _unknown_since(effects: list[dict[str, Any]]) -> str | None:
    """Since when an effect is unknown that is so now; during a retry, since its last send."""
    unknown = [one for one in effects if one["state"] == "unknown"]
    since = filter(None, (one["settledAt"] or one["dispatchedAt"] for one in unknown))
    return min(since, default=None)


Table = tuple[tuple[str, ...], list[tuple[Any, ...]], str]


def steps_table(found: dict[str, Any]) -> Table:
    """Columns, rows and title of a run's steps."""
    rows = [(s["id"], s["kind"], s["state"], s["outlet"], s["code"]) for s in found["steps"]]
    return ("step", "kind", "state", "outlet", "code"), rows, "Steps"


def effects_table(found: dict[str, Any]) -> Table:
    """Columns, rows and title of a run's effects."""
    rows = [
        (e["id"], e["operation"], e["state"], e["attempts"], e["code"], e["receipt"])
        for e in found["effects"]
    ]
    return ("effect", "operation", "state", "attempts", "code", "receipt"), rows, "Effects"


def waits_table(found: dict[str, Any]) -> Table:
    """Columns, rows and title of a run's waits."""
    rows = [
        (w["id"], w["kind"], w["openedAt"], w["dueAt"], w["observations"], w["resolution"])
        for w in found["waits"]
    ]
    return ("wait", "kind", "opened", "due", "read", "resolution"), rows, "Waits"


def acts_table(found: dict[str, Any]) -> Table:
    """Columns, rows and title of what operators did about a run."""
    rows = [
        (a["recordedAt"], a["kind"], a["effect"], a["actor"], a["outcome"], a["code"], a["reason"])
        for a in found["acts"]
    ]
    return ("at", "act", "effect", "by", "outcome", "code", "reason"), rows, "Acts"


def signals_table(found: dict[str, Any]) -> Table:
    """Columns, rows and title of what a run was told; never what the signals carry."""
    rows = [
        (s["recordedAt"], s["name"], s["id"], s["outcome"], s["wait"], s["concludedAt"])
        for s in found["signals"]
    ]
    return ("at", "signal", "id", "outcome", "wait", "concluded"), rows, "Signals"


def active_revision(client: ServiceClient, workflow: str) -> str:
    """The active revision of a workflow; Refused ``workflow.unknown``."""
    for found in client.get("/v1/workflows")["workflows"]:
        if found["workflow"] == workflow:
            return str(found["revision"])
    raise Refused(
        "workflow.unknown",
        "the deployment has no such active workflow",
        place="--workflow",
        remedy="activate a package of it with `coordinatorctl apply`",
    )


def read_input(name: str) -> Any:
    """The JSON value of a file, or of stdin for ``-``.

    Raises Usage ``input.unreadable`` for what is no readable file, ``input.too-large`` above
    65,536 bytes and ``input.invalid-json`` with line and column.
    """
    place = "stdin" if name == "-" else name
    if name == "-":
        data = sys.stdin.buffer.read(_LARGEST_INPUT_BYTES + 1)
    else:
        path = Path(name)
        data = read_named_file(
            path, _LARGEST_INPUT_BYTES, code="input.unreadable", what="input file"
        )
    if len(data) > _LARGEST_INPUT_BYTES:
        message = f"the input has more than {_LARGEST_INPUT_BYTES} bytes"
        raise Usage("input.too-large", message, place=place, remedy="pass less, or a reference")
    try:
        return strict_json(data)
    except BadJson as error:
        raise Usage(
            "input.invalid-json",
            error.message,
            place=f"{place}:{error.line}:{error.column}",
            remedy=error.remedy,
        ) from error


def request_key(given: str | None, place: str) -> str:
    """The idempotency key that was given, or a fresh one; Usage ``idempotency.key-invalid``."""
    if given is None:
        return str(uuid.uuid4())
    if _KEY.fullmatch(given) is None:
        raise Usage(
            "idempotency.key-invalid",
            "a key has 1 to 256 printable ASCII characters and no space at its ends",
            place=place,
            remedy="give another one, or leave it out for a fresh one",
        )
    return given


def segment(run: str) -> str:
    """A run id as a path segment; Usage ``run.id-invalid`` for what could be none."""
    try:
        return str(uuid.UUID(run))
    except ValueError as error:
        raise Usage(
            "run.id-invalid",
            "this is not the form of a run id",
            place="RUN",
            remedy="use the id that `coordinatorctl start` or `list` shows",
        ) from error
