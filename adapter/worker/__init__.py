"""The process that runs workflows and activities."""

from __future__ import annotations

from adapter.worker.definitions import DefinitionSource, prefetch_from
from adapter.worker.memory import spare_collections
from adapter.worker.process import WorkerParts, new_worker, run_worker

__all__ = [
    "DefinitionSource",
    "WorkerParts",
    "new_worker",
    "prefetch_from",
    "run_worker",
    "spare_collections",
]
