"""The process that runs workflows and activities."""

from __future__ import annotations

from adapter.worker.definitions import DefinitionBook, DefinitionSource
from adapter.worker.process import WorkerParts, new_worker, run_worker

__all__ = ["DefinitionBook", "DefinitionSource", "WorkerParts", "new_worker", "run_worker"]
