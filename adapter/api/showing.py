"""What a run carries is shown by these answers alone, each after its record in the journal."""

from __future__ import annotations

from adapter.access import Caller
from adapter.api.answers import act_answer, inspection, run_status
from adapter.api.bodies import Act, RunInspection, RunStatus
from adapter.api.ports import ActView, Inspection, RunBook, RunView


class Showing:
    """Answers that may hold an output, reasons or receipts; what else a run has is no secret.

    Each raises Unavailable when it can not be noted who is shown what: then nothing is shown.
    """

    def __init__(self, book: RunBook) -> None:
        self._book = book

    async def status(self, run: RunView, caller: Caller) -> RunStatus:
        """How a run stands, with what it published."""
        if run.output is not None:
            await self._book.note_read(run.run_id, caller.actor, "output")
        return run_status(run, caller)

    async def act(self, act: ActView, run_id: str, caller: Caller) -> Act:
        """An act, with its reason."""
        if act.reason:
            await self._book.note_read(run_id, caller.actor, "reasons")
        return act_answer(act, run_id)

    async def inspection(self, found: Inspection, caller: Caller) -> RunInspection:
        """A run in detail."""
        run_id = found.run.run_id
        status = await self.status(found.run, caller)
        if any(act.reason for act in found.acts):
            await self._book.note_read(run_id, caller.actor, "reasons")
        acts = [act_answer(act, run_id) for act in found.acts]
        if any(effect.receipt for effect in found.effects):
            await self._book.note_read(run_id, caller.actor, "receipts")
        return inspection(found, status, acts)
