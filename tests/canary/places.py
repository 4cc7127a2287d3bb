"""Where a value must not stand: each place of a deployment, read whole."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from adapter.embedded import ChildProcess
from adapter.embedded.programs import postgres_programs
from tests.canary.deployment import Deployment
from tests.canary.markers import CONTROL
from tests.canary.people import Callers, Commander
from tests.canary.reading import Contents, NotSearched, fetched
from tests.canary.temporal_ui import temporal_ui

_SECONDS = 120
_LARGEST_PART = 64 << 20
_OVERLAP = 4_096


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
        Place("Temporal UI", lambda: temporal_ui(made.addresses.temporal_ui)),
        Place("API answers", lambda: list(callers.heard)),
        Place("OpenAPI", lambda: fetched(f"{made.addresses.api}/openapi.json"), named=False),
        Place("commands", lambda: list(commands.said)),
        *(
            Place(f"metrics of {process.name}", lambda one=process: _metrics(one))  # type: ignore[misc]
            for process in made.ours
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
    address = urlsplit(made.postgres.url("postgres"))
    at = f"host={address.hostname} port={address.port} user={address.username} dbname=postgres"
    done = subprocess.run(
        [str(postgres_programs() / "pg_dumpall"), "-d", at],
        capture_output=True,
        check=False,
        timeout=_SECONDS,
        env={**os.environ, "PGPASSWORD": unquote(address.password or "")},
    )
    if done.returncode != 0:
        raise NotSearched(done.stderr.decode(errors="replace"))
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


def _metrics(process: ChildProcess) -> Contents:
    """The metrics page of a process, which says itself where it is: workers share a host."""
    for line in process.log_file.read_text().splitlines():
        if "metrics.listening" in line:
            return fetched(f"http://{json.loads(line)['address']}/metrics")
    raise NotSearched("the process tells of no metrics")
