"""The side-ledger in PostgreSQL: the only folder that imports psycopg."""

from __future__ import annotations

from adapter.ledger.act_rows import Act, Wish
from adapter.ledger.act_rules import ActKind, ActState
from adapter.ledger.admission_rules import Admission
from adapter.ledger.admissions import Admitted, PendingStart
from adapter.ledger.ledger import Ledger
from adapter.ledger.migrations import Migrated, migrate
from adapter.ledger.packages import Activation, Package, Packages, Plan
from adapter.ledger.reads import Event, Inspection, RunFilter, RunPage, RunStatus, Standing
from adapter.ledger.roles import role_of
from adapter.ledger.signals import Signal, SignalState, SignalWish

__all__ = [
    "Act",
    "ActKind",
    "ActState",
    "Activation",
    "Admission",
    "Admitted",
    "Event",
    "Inspection",
    "Ledger",
    "Migrated",
    "Package",
    "Packages",
    "PendingStart",
    "Plan",
    "RunFilter",
    "RunPage",
    "RunStatus",
    "Signal",
    "SignalState",
    "SignalWish",
    "Standing",
    "Wish",
    "migrate",
    "role_of",
]
