"""Definitions at hand before a run needs them: from the ledger's store into the process's cache."""

from __future__ import annotations

from typing import Protocol

from activities.errors import ActivityError
from adapter.temporal.codec import Prefetch
from interpreter.contract.runs import StartRun
from interpreter.definition.document import Definition
from interpreter.workflow.programs import PROGRAMS, Programs


class DefinitionSource(Protocol):
    """Where definitions come from: the ledger's insert-only store."""

    async def get(self, revision: str) -> Definition:
        """The verified definition; ActivityError ``revision.unknown`` for an unknown revision."""
        ...


def prefetch_from(source: DefinitionSource, programs: Programs = PROGRAMS) -> Prefetch:
    """What a worker's payload codec awaits before a workflow is made.

    A revision that the ledger does not hold is left out, so that its workflow fails as not
    admitted. A ledger that does not answer raises, so that the task is tried again.
    """

    async def prefetch(start: StartRun) -> None:
        if programs.get(start.revision) is not None:
            return
        try:
            definition = await source.get(start.revision)
        except ActivityError as error:
            if error.code == "revision.unknown":
                return
            raise
        programs.put(definition, len(definition.to_bytes()))

    return prefetch
