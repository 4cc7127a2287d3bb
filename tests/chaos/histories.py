"""Whom the faults have met: local and remote activities, counted from histories and last words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from interpreter.contract.runs import workflow_id
from tests.chaos.deployment import WORKERS
from tests.chaos.verdict import RunRow

_LOCAL = "core_local_activity"


@dataclass(slots=True)
class Met:
    """Counts of one ordeal.

    ``local_left`` are local activities that ended without an answer and left the work to a remote
    one, ``remote_again`` remote ones that had to be tried again, ``tasks`` workflow tasks that a
    worker took along, with every local activity in them. ``local_deaths`` and ``remote_deaths`` are
    workers that died at a chosen point of an activity.
    """

    local: int = 0
    local_left: int = 0
    remote: int = 0
    remote_again: int = 0
    tasks: int = 0
    local_deaths: int = 0
    remote_deaths: int = 0

    @property
    def lines(self) -> list[str]:
        """The same in words."""
        answers = f"{self.local_left} of {self.local} local activities gave no answer"
        again = f"{self.remote_again} of {self.remote} remote ones were tried again"
        deaths = f"{self.local_deaths} in local activities, {self.remote_deaths} in remote ones"
        return [
            f"met: {answers}, {again}, {self.tasks} workflow tasks were lost",
            f"deaths at a point: {deaths}",
        ]

    @property
    def both(self) -> bool:
        """True when faults have met activities of either kind."""
        local, remote = self.local_left + self.local_deaths, self.remote_again + self.remote_deaths
        return bool(local and remote)


async def count_met(rows: list[RunRow], client: Client, logs: Path) -> Met:
    """Read every execution's history, and what workers said before they died."""
    met = Met()
    for row in rows:
        identity = workflow_id(row.workflow, row.run, row.execution)
        async for event in _events(client, identity):
            match event.WhichOneof("attributes"):
                case "marker_recorded_event_attributes":
                    marker = event.marker_recorded_event_attributes
                    if marker.marker_name == _LOCAL:
                        met.local += 1
                        met.local_left += marker.HasField("failure")
                case "activity_task_started_event_attributes":
                    met.remote += 1
                    met.remote_again += event.activity_task_started_event_attributes.attempt > 1
                case "workflow_task_timed_out_event_attributes":
                    met.tasks += 1
    for name in WORKERS:
        _count_deaths(met, (logs / f"{name}.log").read_text(errors="replace"))
    return met


async def _events(client: Client, identity: str) -> AsyncIterator[HistoryEvent]:
    """Every event of an execution, those from before it continued as new included."""
    run_id: str | None = None
    while True:
        handle = client.get_workflow_handle(identity, run_id=run_id)
        async for event in handle.fetch_history_events():
            if event.HasField("workflow_execution_started_event_attributes"):
                started = event.workflow_execution_started_event_attributes
                run_id = started.continued_execution_run_id
            yield event
        if not run_id:
            return


def _count_deaths(met: Met, log: str) -> None:
    for line in log.splitlines():
        if '"fault.reached"' not in line:
            continue
        if json.loads(line)["local"]:
            met.local_deaths += 1
        else:
            met.remote_deaths += 1
