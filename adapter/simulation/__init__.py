"""Products simulated from their contracts: one small HTTP server for a project's operations."""

from __future__ import annotations

from adapter.simulation.bindings import PREFIX, connection_documents
from adapter.simulation.plan import Failure, FailureKind, ScriptedReply, SimulationPlan

__all__ = [
    "PREFIX",
    "Failure",
    "FailureKind",
    "ScriptedReply",
    "SimulationPlan",
    "connection_documents",
]
