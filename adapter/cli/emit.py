"""The command `emit`: an event as a product of the development deployment would send it."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

import typer
from standardwebhooks import Webhook

from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.runs import read_input
from adapter.cli.service_client import ask_open
from adapter.cli.terminal import Format, Terminal
from adapter.config.document import EventSourcePart
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.errors import Unavailable, Usage
from interpreter.contract.values import JsonValue


def emit(
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="an active workflow")],
    trigger: Annotated[str, typer.Argument(metavar="TRIGGER", help="a trigger of it")],
    type: Annotated[str, typer.Option("--type", metavar="TYPE", help="the event's type")],
    data: Annotated[str, typer.Option("--data", metavar="FILE", help="its JSON data; - is stdin")],
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="one id is one event; a fresh one is made without"),
    ] = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Send a signed event to a trigger, as a product of the development deployment would."""
    loaded = load_runtime(find_runtime(runtime))
    source = _source(loaded, workflow)
    event: dict[str, JsonValue] = {
        "specversion": "1.0",
        "id": id or str(uuid.uuid4()),
        "source": source.source,
        "type": type,
        "data": read_input(data),
    }
    path = f"/v1/events/{quote(workflow, safe='')}/{quote(trigger, safe='')}"
    secret = loaded.secrets.secret(source.secret_ref).reveal()
    found = _sent(loaded.document.api.public_url, path, event, Webhook(secret))
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(found | {"event": event["id"]})
        return
    terminal.facts([("event", event["id"]), ("run", found["runId"])])
    terminal.line("the run is new" if found["created"] else "this event started the run before")


def _source(runtime: Runtime, workflow: str) -> EventSourcePart:
    """The sender that may start this workflow; Usage ``emit.not-development``, ``emit.no-source``.

    Whoever holds a sender's secret can send as the sender, so this is for development alone.
    """
    document = runtime.document
    if document.mode != "development":
        raise Usage(
            "emit.not-development",
            "only the events of a development deployment are sent here",
            place="--runtime",
            remedy="have the product itself send its events; see docs/events.md",
        )
    for source in document.events.sources.values():
        if "*" in source.workflows or workflow in source.workflows:
            return source
    raise Usage(
        "emit.no-source",
        "no sender of events may start this workflow",
        place="WORKFLOW",
        remedy="name one in events.sources of the runtime file",
    )


def _sent(origin: str, path: str, event: JsonValue, signer: Webhook) -> dict[str, Any]:
    body, at = json.dumps(event), datetime.now(UTC)
    message = f"msg_{uuid.uuid4().hex}"
    headers = {
        "Content-Type": "application/cloudevents+json",
        "webhook-id": message,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signer.sign(message, at, body),
    }
    value = ask_open(origin, "POST", path, body.encode(), headers)
    if not isinstance(value, dict):
        raise Unavailable(
            "service.answer-unusable", "the service's answer is no JSON object", place=origin
        )
    return value
