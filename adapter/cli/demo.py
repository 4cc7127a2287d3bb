"""The command `demo`: the example, whole, on real servers that are started and stopped for it."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from adapter.cli.activation import activate_project
from adapter.cli.casework_client import PretendCasework
from adapter.cli.demo_cases import CASES, EVERY_CASE, Case, Stage, chosen_cases
from adapter.cli.local_servers import (
    PREFERRED_PORTS,
    SOURCE_ROOT,
    LocalPlan,
    LocalServers,
    running_servers,
)
from adapter.cli.loops import run_to_end, stop_on_signal
from adapter.cli.options import FormatOption
from adapter.cli.runs import effects_table, show_status, steps_table
from adapter.cli.terminal import Format, Terminal
from adapter.cli.watch import follow
from adapter.errors import Refused, Unavailable

_EXAMPLE = SOURCE_ROOT / "examples" / "reviewed-notice"
_SHORT_WAIT_SECONDS = 3
_POLL_SECONDS = 60
_LOOK_SECONDS = 0.25
_MOST_SECONDS = 50.0
_CASE_HELP = f"which end to show: {', '.join(CASES)}, or {EVERY_CASE}"


def demo(
    case: Annotated[str, typer.Option("--case", metavar="NAME", help=_CASE_HELP)] = "approved",
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="keep the data here; it is removed without"),
    ] = None,
    stay: Annotated[
        bool, typer.Option("--stay", help="keep the servers up afterwards, until Ctrl-C")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Run reviewed-notice for real: registry, casework, a person's decision, messaging.

    PostgreSQL, Temporal with its UI, the service, two workers and pretend products are started
    on this machine, and all of them are stopped at the end.
    """
    terminal = Terminal(format)
    cases = chosen_cases(case)
    with _folder(data) as folder:
        plan = LocalPlan(
            folder=folder,
            preferred_ports=dict.fromkeys(PREFERRED_PORTS, 0),
            poll_seconds=_POLL_SECONDS,
            say=terminal.line if format is Format.TEXT else lambda _: None,
        )
        run_to_end(_demonstrate(plan, cases, terminal, stay))


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    """Where the demo's data is: kept if named, else removed unless its logs say what failed."""
    if data is not None:
        yield data
        return
    made = Path(tempfile.mkdtemp(prefix="coordinator-demo-"))
    try:
        yield made
    except Unavailable:
        raise
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    else:
        shutil.rmtree(made, ignore_errors=True)


async def _demonstrate(
    plan: LocalPlan, cases: dict[str, Case], terminal: Terminal, stay: bool
) -> None:
    stop = stop_on_signal()
    playing = asyncio.create_task(_play_all(plan, cases, terminal, stop if stay else None))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({playing, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not playing.done() and not stay:
        playing.cancel()
        await asyncio.wait({playing})
        raise KeyboardInterrupt
    await playing


async def _play_all(
    plan: LocalPlan, cases: dict[str, Case], terminal: Terminal, stay: asyncio.Event | None
) -> None:
    async with running_servers(plan) as servers, _kept_up(servers, plan):
        await activate_project(servers.files.runtime, _EXAMPLE)
        told = [await _play(servers, name, case, terminal) for name, case in cases.items()]
        if terminal.format is Format.JSON:
            terminal.object(told if len(told) > 1 else told[0])
        if stay is not None:
            terminal.line("the servers stay up until Ctrl-C")
            await stay.wait()


@asynccontextmanager
async def _kept_up(servers: LocalServers, plan: LocalPlan) -> AsyncIterator[None]:
    """Watch the servers; never past their stop, when an ended one is meant to end."""
    over = asyncio.Event()
    watching = asyncio.create_task(servers.keep_up(over, plan.say))
    try:
        yield
    finally:
        over.set()
        await watching


async def _play(servers: LocalServers, name: str, case: Case, terminal: Terminal) -> dict[str, Any]:
    """Run one case to its end and show it; Refused ``demo.unexpected-end`` for another end."""
    if case.short_wait:
        with _hurried_example(servers.files.folder) as project:
            await activate_project(servers.files.runtime, project)
    show = Showing(servers, name, case, terminal)
    try:
        async with asyncio.timeout(_MOST_SECONDS):
            found = await asyncio.to_thread(show.play)
    except TimeoutError:
        raise Unavailable(
            "demo.too-slow",
            f"the run did not end within {_MOST_SECONDS:.0f} seconds",
            place=name,
            remedy="try again on a machine that is less busy, or look at it with --stay",
        ) from None
    finally:
        show.over = True
    run = found["run"]
    if (run["state"], run["outcome"]) != (case.state, case.outcome):
        raise Refused(
            "demo.unexpected-end",
            f"the run ended as {run['state']} {run['outcome'] or run['failureCode'] or ''}",
            place=name,
            remedy=f"it should end as {case.state} {case.outcome or ''}; look at it with --stay",
        )
    return {"case": name, **found, "temporalUi": show.address(found)}


@contextmanager
def _hurried_example(folder: Path) -> Iterator[Path]:
    """The example with a wait of seconds, as a version of its own."""
    copy = folder / "hurried-example"
    shutil.copytree(_EXAMPLE, copy, dirs_exist_ok=True)
    workflow = copy / "workflow.yaml"
    text = workflow.read_text(encoding="utf-8")
    text = re.sub(r"timeoutSeconds: \d+", f"timeoutSeconds: {_SHORT_WAIT_SECONDS}", text)
    workflow.write_text(text.replace('version: "1"', 'version: "1-hurried"'), encoding="utf-8")
    try:
        yield copy
    finally:
        shutil.rmtree(copy, ignore_errors=True)


@dataclass
class Showing:
    """One case as it is played: its run is started, followed, acted on and shown."""

    servers: LocalServers
    name: str
    case: Case
    terminal: Terminal
    over: bool = False
    _acted: bool = field(default=False, init=False)

    def play(self) -> dict[str, Any]:
        """Start the run and follow it to its end; gives its last inspection."""
        client, desk = self.servers.application, self._desk
        self.case.before(desk)
        self._say(f"\n{self.name}: {self.case.about}")
        [workflow] = client.get("/v1/workflows")["workflows"]
        body = {
            "workflow": workflow["workflow"],
            "revision": workflow["revision"],
            "input": {"applicationId": self.case.application},
        }
        run = client.post("/v1/runs", body, {"Idempotency-Key": str(uuid.uuid4())})
        self._say(f"started run {run['runId']}")
        progress = self.terminal if self.terminal.format is Format.TEXT else _silent()
        found: dict[str, Any] = follow(client, run["runId"], progress, _LOOK_SECONDS, self._look)
        self._show(found)
        return found

    @property
    def _desk(self) -> PretendCasework:
        return PretendCasework(self.servers.addresses.products)

    def _look(self, found: dict[str, Any]) -> None:
        if self.over:
            raise KeyboardInterrupt
        if self.case.act is None or self._acted or not _waits(found):
            return
        run = found["run"]["runId"]
        for review in self._desk.pending():
            if review["correlationId"] == run:
                self._acted = True
                self._say(f"          {self.case.told}")
                stage = Stage(self.servers.application, self._desk, run, review["reviewRequestId"])
                self.case.act(stage)

    def address(self, found: dict[str, Any]) -> str:
        """Where Temporal's UI shows the run."""
        execution = found["execution"]
        path = f"{quote(execution['workflowId'], safe='')}/{execution['runId']}"
        return f"{self.servers.addresses.temporal_ui}/namespaces/default/workflows/{path}/history"

    def _show(self, found: dict[str, Any]) -> None:
        if self.terminal.format is Format.JSON:
            return
        self._say("")
        self.terminal.table(*steps_table(found))
        self._say("")
        self.terminal.table(*effects_table(found))
        self._say("")
        show_status(self.terminal, found["run"])
        self._say(f"Temporal UI  {self.address(found)}")

    def _say(self, text: str) -> None:
        if self.terminal.format is Format.TEXT:
            self.terminal.line(text)


def _waits(found: dict[str, Any]) -> bool:
    return any(wait["resolution"] is None for wait in found["waits"])


def _silent() -> Terminal:
    return Terminal(Format.TEXT, StringIO())
