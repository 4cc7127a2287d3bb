"""The service's `PayloadDesk` over the deployment's codec and the ledger's journal."""

from __future__ import annotations

from temporalio.api.common.v1 import Payload

from adapter import api
from adapter.config.loading import Runtime
from adapter.ledger import Ledger
from adapter.temporal.codec import NotAuthentic, SealingCodec
from adapter.temporal.stamps import NOWHERE, Form, Scope, Stamp
from interpreter.errors import CoordinatorError

_UNREADABLE = frozenset({"seal.erased", "run.unknown", "payload.absent"})


def codec_server(runtime: Runtime, ledger: Ledger, codec: SealingCodec) -> api.Codec | None:
    """What the service's codec routes need, or None where the runtime file asks for none."""
    wanted = runtime.document.codec
    if wanted is None:
        return None
    desk = DeploymentPayloads(ledger, codec, runtime.document.temporal.namespace)
    return api.Codec(desk, frozenset(wanted.ui_origins), wanted.key_in_path)


class DeploymentPayloads:
    """Opens what the deployment has sealed in one namespace."""

    def __init__(self, ledger: Ledger, codec: SealingCodec, namespace: str) -> None:
        self._ledger = ledger
        self._codec = codec
        self.namespace = namespace

    def run_of(self, payload: api.WirePayload) -> str | None:
        """The run that a payload is stamped for; empty for a workflow that is no run."""
        stamped = Stamp.read(_sealed(payload))
        if stamped is None:
            return None
        stamp, _ = stamped
        return "" if stamp.form is Form.OWN else stamp.owner

    async def note(self, actor: str, run_id: str, payloads: int) -> None:
        """Journal ``payload.read`` in the run's chain, or in the deployment's."""
        refs = {"actor": actor}
        await self._ledger.audit.note(
            "payload.read", refs, run_id=run_id or None, payloads=payloads
        )

    async def open(self, payload: api.WirePayload) -> api.WirePayload | None:
        """What a payload holds, or None."""
        stamped = Stamp.read(_sealed(payload))
        if stamped is None:
            return None
        stamp, envelope = stamped
        try:
            found = await self._codec.reveal(stamp, envelope, await self._scope_of(stamp))
        except NotAuthentic:
            return None
        except CoordinatorError as error:
            if error.code in _UNREADABLE:
                return None
            raise
        return api.WirePayload(dict(found.metadata), found.data)

    async def _scope_of(self, stamp: Stamp) -> Scope:
        """The whole of what the seal covers: Temporal's tools tell the namespace and no more."""
        if stamp.form is not Form.OWN:
            workflow = (await self._ledger.book.definition(stamp.owner)).id
            return Scope(self.namespace, f"{workflow}/{stamp.owner}")
        return Scope(self.namespace, stamp.owner) if stamp.owner else NOWHERE


def _sealed(payload: api.WirePayload) -> Payload:
    return Payload(metadata=dict(payload.metadata), data=payload.data)
