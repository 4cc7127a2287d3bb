"""Definitions at hand in this process: fetched by revision from the ledger, once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Protocol

from activities import ports
from activities.errors import ActivityError
from interpreter.contract.operations import OperationContract
from interpreter.contract.runs import StartRun
from interpreter.definition import nodes as n
from interpreter.definition.document import Definition, Operation
from interpreter.workflow.programs import PROGRAMS, Programs

_MOST_RUNS = 50_000


class DefinitionSource(Protocol):
    """Where definitions come from: the ledger's insert-only store."""

    async def fetch(self, revision: str) -> tuple[Definition, int] | None:
        """The verified definition and its size in bytes, or None for an unknown revision."""
        ...

    async def revision_of(self, run_id: str) -> str | None:
        """The revision that a run was admitted with, or None for an unknown run."""
        ...


class DefinitionBook:
    """Fills the process's programs and answers what a run's nodes pin (``ports.CallBook``)."""

    def __init__(self, source: DefinitionSource, programs: Programs = PROGRAMS) -> None:
        self._source = source
        self._programs = programs
        self._revisions: OrderedDict[str, str] = OrderedDict()
        self._fetching = asyncio.Lock()

    async def prefetch(self, start: StartRun) -> None:
        """Have a run's definition at hand before its workflow is made.

        A revision that the ledger does not hold is left out: the workflow then fails as not
        admitted. A ledger that does not answer raises, so that the task is tried again.
        """
        self._remember(start.run_id, start.revision)
        await self._definition(start.revision)

    async def call(self, run_id: str, node: str) -> ports.CallFacts:
        """Facts of a call node; ActivityError ``run.unknown`` or ``step.unknown``."""
        definition = await self._of_run(run_id)
        found = definition.nodes.get(node)
        if not isinstance(found, n.CallNode):
            raise _unknown_step(node)
        operation = definition.operations[found.operation]
        limits = _limits(operation.contract, found.policy)
        return ports.CallFacts(operation.contract, operation.connection, limits)

    async def observation(self, run_id: str, node: str) -> ports.ObservationFacts:
        """Facts of a completion wait; ActivityError ``run.unknown`` or ``step.unknown``."""
        definition = await self._of_run(run_id)
        found = definition.nodes.get(node)
        if not isinstance(found, n.WaitNode) or not isinstance(found.wait, n.ForCompletion):
            raise _unknown_step(node)
        call = definition.nodes[found.wait.call]
        if not isinstance(call, n.CallNode):
            raise _unknown_step(found.wait.call)
        operation = definition.operations[call.operation]
        completion = operation.contract.completions[found.wait.completion]
        read = _reader(definition, completion.read, operation.connection)
        return ports.ObservationFacts(completion, read.contract, read.connection)

    async def _of_run(self, run_id: str) -> Definition:
        revision = self._revisions.get(run_id)
        if revision is None:
            revision = await self._source.revision_of(run_id)
            if revision is None:
                raise ActivityError(
                    "run.unknown",
                    "the ledger did not admit this run",
                    remedy="start runs through the coordinator's API",
                )
            self._remember(run_id, revision)
        definition = await self._definition(revision)
        if definition is None:
            raise ActivityError("revision.unknown", "the ledger holds no such revision")
        return definition

    async def _definition(self, revision: str) -> Definition | None:
        program = self._programs.get(revision)
        if program is not None:
            return program.definition
        async with self._fetching:
            program = self._programs.get(revision)
            if program is not None:
                return program.definition
            fetched = await self._source.fetch(revision)
            if fetched is None:
                return None
            return self._programs.put(*fetched).definition

    def _remember(self, run_id: str, revision: str) -> None:
        self._revisions[run_id] = revision
        if len(self._revisions) > _MOST_RUNS:
            self._revisions.popitem(last=False)


def _reader(definition: Definition, operation_id: str, connection: str) -> Operation:
    """The pinned operation that reads a completion, on the call's own connection if it can."""
    found = [o for o in definition.operations.values() if o.contract.id == operation_id]
    if not found:
        raise _unknown_step(operation_id)
    return next((o for o in found if o.connection == connection), found[0])


def _limits(contract: OperationContract, policy: n.Policy) -> ports.Limits:
    attempts = contract.attempts
    return ports.Limits(
        attempts=policy.attempts or attempts.limit,
        send_budget=policy.attempt_timeout_seconds or attempts.timeout_milliseconds / 1000,
        delay=policy.retry_delay_seconds or attempts.delay_seconds,
        growth=policy.retry_growth or attempts.growth,
        longest_delay=attempts.longest_delay_seconds,
    )


def _unknown_step(name: str) -> ActivityError:
    return ActivityError(
        "step.unknown",
        "the run's definition has no such step of this kind",
        place=f"steps.{name}",
        remedy="this activity was not scheduled by the run's definition",
    )
