"""The audit journal after the trouble: every chain whole, every checkpoint signed, all sealed."""

from __future__ import annotations

import asyncio

from adapter.audit.proof import Fault, Proof, Proved
from adapter.config.loading import Runtime
from adapter.ledger import Ledger
from adapter.wiring.deployment import signing_keys
from tests.chaos.verdict import Verdict

_SEAL_SECONDS = 30.0


async def judge_journal(verdict: Verdict, ledger: Ledger, runtime: Runtime) -> None:
    """Complain of what can not be proved, and of records that nobody seals."""
    try:
        proved = await _sealed(ledger, runtime)
    except Fault as fault:
        verdict.complaints.append(f"journal: {fault}")
    except TimeoutError:
        verdict.complaints.append("journal: some records are under no checkpoint")
    else:
        if len(verdict.states) and proved.checkpoints < 2:
            verdict.complaints.append("journal: hardly a checkpoint was signed")


async def _sealed(ledger: Ledger, runtime: Runtime) -> Proved:
    keys = signing_keys(runtime)
    assert keys is not None
    async with asyncio.timeout(_SEAL_SECONDS):
        while True:
            async with ledger.journal.reading() as reading:
                proof = Proof(runtime.document.deployment, keys.public)
                proved = await reading.prove(proof)
            if not proved.unsealed:
                return proved
            await asyncio.sleep(1)
