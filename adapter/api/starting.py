"""What follows every admission: its execution is started, or left to the reconciler."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from adapter.api.ports import Executions
from adapter.errors import Refused, Unavailable

_log = structlog.get_logger(__name__)


async def start_admitted(
    executions: Executions, run_id: str, after_commit: Callable[[], None]
) -> None:
    """Start an admitted run's execution; ``after_commit`` is called before that.

    Where Temporal does not answer nothing is lost: the run is admitted, and a worker starts it.
    """
    after_commit()
    try:
        await executions.start(run_id)
    except (Unavailable, Refused) as error:
        _log.warning("run.start-pending", run=run_id, code=error.code)
