"""Carrying out what was planned for unfinished runs; every write judges again under the lock."""

from __future__ import annotations

import structlog

from adapter.ledger import Ledger
from adapter.ledger.unfinished import Unfinished
from adapter.reconcile.plan import Bind, Finish, Leave, RequireRecovery, Resume, Step
from interpreter.contract.records import Closing, RunState

_log = structlog.get_logger(__name__)
_AFTER_EVERY_STEP = 2**53


async def repair(ledger: Ledger, unfinished: Unfinished, step: Step) -> str:
    """Do one step; gives the name it is counted under, empty when nothing changed."""
    run_id, execution = unfinished.run_id, unfinished.execution
    match step:
        case Leave():
            return ""
        case Bind(temporal_run_id):
            await ledger.admissions.bind_started(run_id, execution, temporal_run_id)
            return "bound"
        case Resume(temporal_run_id):
            return "resumed" if await ledger.unfinished.resume(unfinished, temporal_run_id) else ""
        case Finish(outcome, output):
            closing = Closing(
                RunState.FINISHED, _AFTER_EVERY_STEP, outcome, output, despite_cancel=True
            )
            await ledger.runs.close(run_id, execution, closing)
            _log.warning("run.finished-elsewhere", run=run_id)
            return "finished"
        case RequireRecovery(code):
            if not await ledger.unfinished.require_recovery(unfinished, code):
                return ""
            _log.error("run.recovery-required", run=run_id, code=code)
            return "flagged"
