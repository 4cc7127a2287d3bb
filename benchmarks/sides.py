"""The three sides as the measuring process sees them: how a run is prepared, started, awaited."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from temporalio.client import Client, WorkflowHandle

from adapter.ledger import Ledger
from adapter.temporal.runs import start_run
from benchmarks.cases import RUN_INPUT, Case
from benchmarks.deployment import admitted
from benchmarks.plain import Job
from interpreter.contract.runs import StartRun, workflow_id


class Side(Protocol):
    """One of the compared implementations."""

    @property
    def name(self) -> str:
        """``interpreter``, ``plain`` or ``ledgered``."""
        ...

    async def prepare(self, case: Case, count: int) -> Sequence[Any]:
        """Whatever ``count`` runs need before the clock starts: their admission, for instance."""
        ...

    async def start(self, case: Case, prepared: Any) -> WorkflowHandle[Any, Any]:
        """Start one prepared run."""
        ...

    def output(self, result: Any) -> str:
        """What the run published, from its result."""
        ...


@dataclass(frozen=True)
class Interpreted:
    """This project: definitions run by the interpreter."""

    client: Client
    queue: str
    ledger: Ledger
    name: str = "interpreter"

    async def prepare(self, case: Case, count: int) -> Sequence[StartRun]:
        """Admit the runs in the ledger."""
        return await admitted(self.ledger, case, count, uuid.uuid4().hex)

    async def start(self, case: Case, prepared: StartRun) -> WorkflowHandle[Any, Any]:
        """Start as the service does."""
        await start_run(self.client, prepared, self.queue)
        identity = workflow_id(prepared.workflow, prepared.run_id, prepared.execution)
        return self.client.get_workflow_handle(identity, result_type=dict)

    def output(self, result: Any) -> str:
        """The published output of a finished run."""
        assert result["state"] == "finished"
        return str(result["output"])


@dataclass(frozen=True)
class Plain:
    """Workflows by hand without a ledger."""

    client: Client
    queue: str
    name: str = "plain"

    async def prepare(self, case: Case, count: int) -> Sequence[str]:
        """Fresh workflow ids."""
        return [str(uuid.uuid4()) for _ in range(count)]

    async def start(self, case: Case, prepared: str) -> WorkflowHandle[Any, Any]:
        """Start by type and id."""
        return await self.client.start_workflow(
            f"{case.kind}s-by-hand",
            Job(RUN_INPUT, case.steps),
            id=prepared,
            task_queue=self.queue,
            result_type=str,
        )

    def output(self, result: Any) -> str:
        """The result itself."""
        return str(result)


@dataclass(frozen=True)
class Ledgered:
    """Workflows by hand that write the same ledger."""

    client: Client
    queue: str
    ledger: Ledger
    name: str = "ledgered"

    async def prepare(self, case: Case, count: int) -> Sequence[str]:
        """Admit the runs in the ledger; the run id is the workflow id."""
        starts = await admitted(self.ledger, case, count, uuid.uuid4().hex)
        return [start.run_id for start in starts]

    async def start(self, case: Case, prepared: str) -> WorkflowHandle[Any, Any]:
        """Start by type and id."""
        return await self.client.start_workflow(
            f"ledgered-{case.kind}s-by-hand",
            Job(RUN_INPUT, case.steps),
            id=prepared,
            task_queue=self.queue,
            result_type=str,
        )

    def output(self, result: Any) -> str:
        """The result itself."""
        return str(result)
