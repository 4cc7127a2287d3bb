"""Where a value must not stand: each place of a deployment, read whole."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from adapter.embedded import ChildProcess
from adapter.embedded.programs import postgres_programs
from tests.canary.deployment import Deployment
from tests.canary.markers import CONTROL
from tests.canary.people import Callers, Commander

Contents = Iterable[tuple[str, bytes]]
_SECONDS = 120
_LARGEST_PART = 64 << 20
_OVERLAP = 4_096
_QUERIES = ("__temporal_workflow_metadata", "__stack_trace", "__enhanced_stack_trace")


class NotSearched(Exception):
    """A place that could not be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place: its name, and what it holds, label by label.

    ``meant`` are kinds of values that belong there. ``named`` is false for a place that shows no
    name of the deployment: there the control is put into what was read.
    """

    name: str
    read: Callable[[], Contents]
    meant: frozenset[str] = frozenset()
    named: bool = True


def running_places(made: Deployment, callers: Callers, commands: Commander) -> list[Place]:
    """Places that are asked while the deployment runs."""
    return [
        Place("PostgreSQL dump", lambda: _dump(made)),
        Place("Temporal UI", lambda: _temporal_ui(made)),
        Place("API answers", lambda: list(callers.heard)),
        Place("OpenAPI", lambda: _fetched(f"{made.addresses.api}/openapi.json"), named=False),
        Place("commands", lambda: list(commands.said)),
        *(
            Place(f"metrics of {kind}", lambda port=port: _metrics(port))  # type: ignore[misc]
            for kind, port in made.metrics.items()
        ),
        Place("processes", lambda: _processes(made)),
    ]


def stopped_places(made: Deployment) -> list[Place]:
    """Places that are files, read once everything has stopped."""
    definition = frozenset({"literal", "function source"})
    return [
        Place("PostgreSQL files", lambda: _files(made.folder / "postgres" / "cluster")),
        Place("Temporal database", lambda: _files(made.folder / "temporal")),
        *(
            Place(f"log of {name}", lambda path=path: _log(made, path))  # type: ignore[misc]
            for name, path in made.logs.items()
        ),
        Place("traces", lambda: _files(made.folder / "traces.jsonl")),
        Place("package", lambda: _files(made.package), meant=definition),
        Place("runtime file", lambda: _files(made.files.runtime)),
    ]


def _dump(made: Deployment) -> Contents:
    command = [str(postgres_programs() / "pg_dumpall"), "-d", made.postgres.url("postgres")]
    done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS)
    if done.returncode != 0:
        raise NotSearched(f"pg_dumpall ended with {done.returncode}")
    yield "dump", done.stdout
    yield "what it said", done.stderr


def _files(place: Path) -> Contents:
    """Every file at or below a path, in parts that overlap by more than a marker is long."""
    paths = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    if not paths:
        raise NotSearched(f"there is no file at {place.name}")
    for path in paths:
        with path.open("rb") as file:
            kept = b""
            while part := file.read(_LARGEST_PART):
                yield str(path.relative_to(place.parent)), kept + part
                kept = part[-_OVERLAP:]


def _log(made: Deployment, path: Path) -> Contents:
    """A log, with a last line of ours: not every program names the deployment."""
    if not path.is_file():
        raise NotSearched("there is no log")
    with path.open("a") as log:
        log.write(f"the scan was here: {made.markers(CONTROL)}\n")
    return _files(path)


def _processes(made: Deployment) -> Contents:
    """Command lines and environments of every process of the deployment."""
    servers = [*made.ours, made.postgres.process, made.temporal.process]
    for pid in sorted(_family(servers)):
        for name in ("cmdline", "environ"):
            try:
                yield f"{name} of {pid}", Path(f"/proc/{pid}/{name}").read_bytes()
            except ProcessLookupError:
                continue
            except OSError as error:
                raise NotSearched(f"a process's {name} can not be read") from error


def _family(servers: list[ChildProcess]) -> set[int]:
    """The processes of these servers and all that they have started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
    found = {server.pid for server in servers}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _metrics(port: int) -> Contents:
    return _fetched(f"http://127.0.0.1:{port}/metrics")


def _fetched(url: str, body: Any = None) -> Contents:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            yield url.rpartition("127.0.0.1")[2], answer.read()
    except OSError as error:
        raise NotSearched(f"an address did not answer: {error}") from error


def _temporal_ui(made: Deployment) -> Iterator[tuple[str, bytes]]:
    """Everything that the web UI asks of its server, for each execution and schedule."""
    origin = f"{made.addresses.temporal_ui}/api/v1/namespaces/default"
    executions: list[dict[str, str]] = []
    token = ""
    while True:
        page = f"{origin}/workflows?{urlencode({'nextPageToken': token, 'pageSize': 100})}"
        [(label, listed)] = _fetched(page)
        yield label, listed
        found = json.loads(listed)
        executions += [one["execution"] for one in found.get("executions", [])]
        token = found.get("nextPageToken") or ""
        if not token:
            break
    if not executions:
        raise NotSearched("the UI lists no execution")
    for execution in executions:
        yield from _of_execution(origin, execution)
    yield from _schedules(origin)


def _of_execution(origin: str, execution: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    workflow, run = quote(execution["workflowId"], safe=""), execution["runId"]
    at = f"{origin}/workflows/{workflow}"
    yield from _fetched(f"{at}?{urlencode({'execution.runId': run})}")
    token = ""
    while True:
        asked = {"execution.runId": run, "maximumPageSize": 500, "nextPageToken": token}
        [(label, history)] = _fetched(f"{at}/history?{urlencode(asked)}")
        yield label, history
        token = json.loads(history).get("nextPageToken") or ""
        if not token:
            break
    if workflow.startswith("coordinator"):
        return
    for query in _QUERIES:
        body = {"execution": execution, "query": {"queryType": query}}
        yield from _fetched(f"{at}/query/{query}", body)


def _schedules(origin: str) -> Iterator[tuple[str, bytes]]:
    [(label, listed)] = _fetched(f"{origin}/schedules")
    yield label, listed
    for schedule in json.loads(listed).get("schedules", []):
        yield from _fetched(f"{origin}/schedules/{quote(schedule['scheduleId'], safe='')}")
