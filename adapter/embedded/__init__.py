"""The servers one machine starts for itself: real PostgreSQL and real Temporal, on loopback.

The room promises that nothing it starts outlives the process that started it, and that two
processes never work on the same data. `adapter.cli` and the tests use it; production does not.
"""

from __future__ import annotations

from adapter.embedded.errors import EmbeddedError
from adapter.embedded.folder import StateFolder
from adapter.embedded.ports import LOOPBACK, free_port, port_is_free, require_port
from adapter.embedded.postgres import (
    OWNER_ROLE,
    SERVICE_ROLE,
    EmbeddedPostgres,
    LedgerAddresses,
)
from adapter.embedded.process import ChildProcess, User
from adapter.embedded.programs import postgres_programs, temporal_program, time_skipping_program
from adapter.embedded.temporal import FAST_TIMERS, EmbeddedTemporal

__all__ = [
    "FAST_TIMERS",
    "LOOPBACK",
    "OWNER_ROLE",
    "SERVICE_ROLE",
    "ChildProcess",
    "EmbeddedError",
    "EmbeddedPostgres",
    "EmbeddedTemporal",
    "LedgerAddresses",
    "StateFolder",
    "User",
    "free_port",
    "port_is_free",
    "postgres_programs",
    "require_port",
    "temporal_program",
    "time_skipping_program",
]
