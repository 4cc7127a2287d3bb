"""The codec of a deployment, over its ledger's keys, store and journal."""

from __future__ import annotations

from adapter.ledger import Ledger
from adapter.temporal.codec import Prefetch, SealingCodec
from adapter.temporal.seals import Vault


def codec_of(ledger: Ledger, prefetch: Prefetch | None = None) -> SealingCodec:
    """What every client and worker of the deployment seals with; workers fetch definitions."""
    vault = Vault(
        ledger.sealer,
        ledger.run_keys,
        ledger.payloads,
        ledger.foreign,
    )
    return SealingCodec(vault, prefetch)
