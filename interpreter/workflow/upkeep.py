"""The workflow around one pass of the reconciler: a schedule starts it, its activity works."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy, VersioningBehavior

from interpreter.contract import names
from interpreter.contract.values import JsonValue

_LIMIT = timedelta(minutes=2)
_ATTEMPTS = RetryPolicy(maximum_attempts=3)
"""A pass that fails is followed by the next one anyway; the doctor tells when none succeeds."""


@workflow.defn(name=names.RECONCILE_WORKFLOW)
class ReconcilePass:
    """One pass. Its input is the ledger's mark as Temporal keeps it, shown and never read here."""

    @workflow.run
    async def run(self, mark: RawValue) -> JsonValue:
        """Have one pass made, whatever somebody made of the mark; gives counts by name."""
        del mark
        return await workflow.execute_activity(
            names.RECONCILE_PASS,
            result_type=dict,
            start_to_close_timeout=_LIMIT,
            retry_policy=_ATTEMPTS,
        )


@workflow.defn(name=names.RECONCILE_WORKFLOW, versioning_behavior=VersioningBehavior.AUTO_UPGRADE)
class VersionedReconcilePass(ReconcilePass):
    """The same where builds are told apart: a pass always goes on under the current build.

    Pinned to a build whose workers were stopped, it would keep all later passes from starting. The
    server takes a behaviour from versioned workers only, so there are two classes.
    """

    @workflow.run
    async def run(self, mark: RawValue) -> JsonValue:
        """Have one pass made."""
        return await super().run(mark)
