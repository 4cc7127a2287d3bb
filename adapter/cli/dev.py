"""The command `dev`: a development deployment of the example or of any project, until a signal."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from adapter.cli.activation import activate_packaged, activate_project
from adapter.cli.authored import Authored, Wishes, read_authored
from adapter.cli.local_files import event_source_of
from adapter.cli.local_servers import SOURCE_ROOT, LocalPlan, LocalServers, running_servers
from adapter.cli.loops import run_to_end, stop_on_signal
from adapter.cli.options import FormatOption
from adapter.cli.terminal import Format, Terminal
from adapter.config.loading import load_runtime
from adapter.config.location import DEVELOPMENT_FOLDER
from adapter.errors import Usage
from adapter.ledger import Plan
from interpreter.contract.values import JsonValue
from interpreter.definition.nodes import ForSignal, WaitNode

_EXAMPLE = SOURCE_ROOT / "examples" / "reviewed-notice"
_SAMPLE_FILE = "sample-input.json"
Port = Annotated[int | None, typer.Option(min=1024, max=65_535)]


ProjectArgument = Annotated[
    Path | None,
    typer.Argument(metavar="PROJECT", help="a project's folder; the example without it"),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", help="where data is kept; .coordinator of the project, or here"
    ),
]
CaseOption = Annotated[
    str | None,
    typer.Option("--case", metavar="ID", help="a scenario case whose replies are played"),
]
FailOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fail",
        metavar="STEP=KIND",
        help="lost-response, refuse:CODE, status-5xx, slow:SECONDS or rate-limited; repeatable",
    ),
]
CompleteOption = Annotated[
    float | None,
    typer.Option(
        "--complete-after", metavar="SECONDS", min=0, help="complete awaited results by then"
    ),
]
CatalogueOption = Annotated[
    list[Path] | None,
    typer.Option("--catalogue", metavar="FILE", help="operations of your own; repeatable"),
]


def dev(
    project: ProjectArgument = None,
    data: DataOption = None,
    case: CaseOption = None,
    fail: FailOption = None,
    complete_after: CompleteOption = None,
    catalogue: CatalogueOption = None,
    start: Annotated[bool, typer.Option("--start", help="start a run at once")] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, max=16)] = 2,
    port: Port = None,
    temporal_port: Port = None,
    ui_port: Port = None,
    products_port: Port = None,
    issuer_port: Port = None,
    postgres_port: Port = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Start PostgreSQL, Temporal, an issuer, products, the service and workers; Ctrl-C stops all.

    With a project it is checked, activated, and its products are simulated from their contracts.
    A port that is named is used or refused; every other one moves when it is taken. Runs that
    were not finished go on.
    """
    fixed = {
        "api": port,
        "temporal": temporal_port,
        "temporalUi": ui_port,
        "products": products_port,
        "issuer": issuer_port,
        "postgres": postgres_port,
    }
    terminal = Terminal(format)
    wishes = Wishes(case, fail or (), complete_after, catalogue or ())
    authored = _authored(project, wishes, start, terminal)
    folder = Path(DEVELOPMENT_FOLDER) if authored is None else authored.folder / DEVELOPMENT_FOLDER
    plan = LocalPlan(
        folder=data or folder,
        workers=workers,
        fixed_ports={name: number for name, number in fixed.items() if number is not None},
        authored=authored,
        say=terminal.line if format is Format.TEXT else lambda _: None,
    )
    run_to_end(_keep_up(plan, terminal, start=start))


def _authored(
    project: Path | None, wishes: Wishes, start: bool, terminal: Terminal
) -> Authored | None:
    if project is not None:
        authored = read_authored(project, wishes, terminal)
        if start and not authored.inputs:
            raise Usage(
                "dev.no-sample-input",
                "no input could be made up for the project's input schema",
                place="--start",
                remedy="name a scenario case with --case, or start a run with an input of your own",
            )
        return authored
    if start or not wishes.none:
        raise Usage(
            "dev.needs-project",
            "only the products of a project are simulated",
            place="PROJECT",
            remedy="name the project's folder first",
        )
    return None


async def _keep_up(plan: LocalPlan, terminal: Terminal, *, start: bool) -> None:
    stop, up = stop_on_signal(), asyncio.Event()
    tell = _Telling(terminal, plan.authored, start)
    serving = asyncio.create_task(_serve_until(plan, tell, stop, up))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not up.is_set() and not serving.done():
        # Whoever interrupts a start does not want to wait for its end.
        serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving


async def _serve_until(
    plan: LocalPlan, tell: _Telling, stop: asyncio.Event, up: asyncio.Event
) -> None:
    async with running_servers(plan) as servers:
        if plan.authored is None:
            applied = await activate_project(servers.files.runtime, _EXAMPLE)
        else:
            runtime = load_runtime(servers.files.runtime)
            applied = await activate_packaged(runtime, plan.authored.packaged)
        await asyncio.to_thread(tell.everything, servers, applied)
        up.set()
        await servers.keep_up(stop, plan.say)


def addresses_of(servers: LocalServers) -> list[tuple[str, str]]:
    """Every address that a person may want, by what it is."""
    at = servers.addresses
    products = (
        [("simulation", f"{at.products}/")]
        if servers.simulated
        else [("reviews", f"{at.products}/casework/"), ("pretend products", at.products)]
    )
    return [
        ("service", at.api),
        ("Temporal UI", at.temporal_ui),
        *products,
        ("Temporal", at.temporal),
        ("PostgreSQL", at.database_url.rpartition("@")[2]),
        ("runtime file", str(servers.files.runtime)),
        ("issuer of tokens", at.issuer),
        ("profile", str(servers.files.profile)),
        ("API key", str(servers.files.api_key_file)),
        ("logs", str(servers.files.folder / "logs")),
    ]


@dataclass(frozen=True, slots=True)
class _Telling:
    """What a person is told once everything is up."""

    terminal: Terminal
    authored: Authored | None
    start: bool

    def everything(self, servers: LocalServers, applied: Plan) -> None:
        """Addresses, what was done, and what to do next; starts a run if that is asked for."""
        facts: dict[str, Any] = dict(addresses_of(servers))
        if self.authored is not None:
            facts |= self._project_facts(self.authored, servers, applied)
        if self.terminal.format is Format.JSON:
            self.terminal.object(facts)
            return
        say = self.terminal.line
        say()
        self.terminal.facts(facts.items())
        say()
        if self.authored is None:
            _say_example(say, applied.workflow)
        else:
            self._say_project(self.authored, servers, applied)
        flag = _runtime_flag(servers.files.runtime)
        say("From a program:")
        say(
            f"  curl -s {servers.addresses.api}/v1/runs"
            f' -H "Authorization: Bearer $(coordinatorctl token{flag})"'
        )
        say()
        say("Ready. Ctrl-C stops everything; the data is kept.")

    def _project_facts(
        self, authored: Authored, servers: LocalServers, applied: Plan
    ) -> dict[str, JsonValue]:
        facts: dict[str, JsonValue] = {
            "workflow": applied.workflow,
            "revision": applied.revision,
            "activation": _activation(applied),
        }
        if authored.inputs:
            facts["sample input"] = str(_kept(servers, _SAMPLE_FILE, authored.inputs[0]))
        if self.start:
            run = _start(servers, applied, authored.inputs[0])
            facts |= {"run": run["runId"], "run in Temporal UI": _page_of(servers, run["runId"])}
        return facts

    def _say_project(self, authored: Authored, servers: LocalServers, applied: Plan) -> None:
        say, definition = self.terminal.line, authored.packaged.definition
        flag = _runtime_flag(servers.files.runtime)
        for name, trigger in sorted(definition.triggers.items()):
            address = f"/v1/events/{applied.workflow}/{name}"
            say(f"Trigger {name} takes {trigger.event} at {address}:")
            say(f"  from {event_source_of(definition)}, signed with secrets/registry-events")
        say("In another terminal:")
        for name, data in sorted(authored.events.items()):
            file = _kept(servers, f"sample-event-{name}.json", data)
            named = f"{applied.workflow} {name} --type {definition.triggers[name].event}"
            say(f"  coordinatorctl emit {named} --data {os.path.relpath(file)}{flag}")
        if authored.inputs:
            sample = os.path.relpath(servers.files.folder / _SAMPLE_FILE)
            say(f"  coordinatorctl start --workflow {applied.workflow} --input {sample}{flag}")
        say(f"  coordinatorctl list{flag}")
        for wait in authored.waits:
            say(f"  coordinatorctl complete {wait}{flag}")
        for node in definition.nodes.values():
            if isinstance(node, WaitNode) and isinstance(node.wait, ForSignal):
                signal = node.wait.signal
                say(f"  coordinatorctl signal --run RUN --name {signal} --payload FILE{flag}")
        call = next((n for n, node in definition.nodes.items() if node.kind == "call"), None)
        if call is not None:
            say(f"  coordinatorctl fail {call}=lost-response{flag}")


def _kept(servers: LocalServers, name: str, value: JsonValue) -> Path:
    """A file with a made-up value, for a command that takes one."""
    file = servers.files.folder / name
    file.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    return file


def _activation(applied: Plan) -> str:
    if "activation" not in applied.changes:
        return "as before"
    return "the first" if applied.active is None else "changed since the last start"


def _start(servers: LocalServers, applied: Plan, input: JsonValue) -> dict[str, Any]:
    body = {"workflow": applied.workflow, "revision": applied.revision, "input": input}
    key = {"Idempotency-Key": str(uuid.uuid4())}
    run: dict[str, Any] = servers.client.post("/v1/runs", body, key)
    return run


def _page_of(servers: LocalServers, run: str) -> str:
    found = servers.client.get(f"/v1/runs/{run}/inspect")
    path = quote(found["execution"]["workflowId"], safe="")
    return f"{servers.addresses.temporal_ui}/namespaces/default/workflows/{path}"


def _runtime_flag(runtime: Path) -> str:
    """The option that names the runtime file, nothing where commands find it by themselves."""
    if runtime == (Path.cwd() / DEVELOPMENT_FOLDER / runtime.name):
        return ""
    return f" --runtime {os.path.relpath(runtime)}"


def _say_example(say: Callable[[str], None], workflow: str) -> None:
    say(f"The example {workflow} is active. In another terminal:")
    say('  echo \'{"applicationId": "APP-1001"}\' > input.json')
    say(f"  coordinatorctl start --workflow {workflow} --input input.json")
    say("  coordinatorctl decide approved")
    say("  coordinatorctl list")
