"""Hints: a product's message that a wait's source is worth reading, remembered until it is read."""

from __future__ import annotations

from dataclasses import dataclass

from adapter.crypto import Keyed
from adapter.errors import Refused
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from interpreter.contract.runs import workflow_id
from interpreter.contract.values import JsonValue, canonical_bytes

_SQL = queries("waits")


@dataclass(frozen=True, slots=True)
class Message:
    """A message whose signature holds: ``signed_at`` in epoch seconds, ``content`` its digest.

    ``about`` is the input with which a wait reads the source that the message is about.
    """

    source: str
    id: str
    signed_at: int
    content: str
    about: JsonValue


@dataclass(frozen=True, slots=True)
class HintedWait:
    """An open wait whose execution is to be told of ``hints`` hints."""

    run_id: str
    reference: str
    workflow: str
    execution: int
    hints: int

    @property
    def workflow_id(self) -> str:
        """The Temporal workflow id of the run's latest execution."""
        return workflow_id(self.workflow, self.run_id, self.execution)


@dataclass(frozen=True, slots=True)
class _Notice:
    content: str
    signed_at: int


@dataclass(frozen=True, slots=True)
class _Told:
    hints_told: int


class Hints:
    """Counts hints per wait: between two readings an execution is told once.

    A hint brings nothing but time, so no run is locked for it.
    """

    def __init__(self, pool: Pool, keyed: Keyed) -> None:
        self._pool = pool
        self._keyed = keyed

    async def take(self, message: Message) -> bool:
        """Remember a message for the waits it is about, those to come included.

        Gives whether it was taken before, which changes nothing. Refused ``event.replayed`` for a
        signature that is not newer than the last one, and ``event.id-reused`` for another content
        under its id.
        """
        keys: dict[str, JsonValue] = {
            "source": message.source,
            "message": self._keyed.reference("message", message.id),
            "content": self._keyed.reference("message-content", message.content),
            "signed_at": message.signed_at,
            "source_digest": source_digest(self._keyed, message.about),
        }
        return await self._pool.run(lambda transaction: _take(transaction, keys))

    async def untold(self, about: JsonValue = None) -> list[HintedWait]:
        """Open waits whose execution was not told of a hint yet, at most 100.

        ``about`` narrows them to the waits on one source.
        """
        digest = None if about is None else source_digest(self._keyed, about)
        return await self._pool.ask(
            Question(_SQL["untold_waits"], {"source_digest": digest}, HintedWait)
        )

    async def told(self, wait: HintedWait) -> None:
        """Write that the execution was told, or has ended."""
        keys = {"run": wait.run_id, "visit": wait.reference, "hints": wait.hints}
        await self._pool.ask(Question(_SQL["told_wait"], keys, _Told))


def source_digest(keyed: Keyed, source: JsonValue) -> str:
    """What a wait's source is found by, without telling what it is."""
    return keyed.reference("source", canonical_bytes(source).decode())


async def _take(transaction: Transaction, keys: dict[str, JsonValue]) -> bool:
    await transaction.write(Write(_SQL["share_message"], keys), Write(_SQL["share_source"], keys))
    known = await transaction.one(Question(_SQL["notice"], keys, _Notice))
    if known is None:
        await transaction.commit(Write(_SQL["keep_notice"], keys), Write(_SQL["hint_waits"], keys))
        return False
    if known.content != keys["content"]:
        raise Refused(
            "event.id-reused",
            "an earlier message with this id had another content",
            place="webhook-id",
            remedy="give every message an id of its own",
        )
    if keys["signed_at"] <= known.signed_at:
        raise Refused(
            "event.replayed",
            "this very message was taken before",
            place="webhook-signature",
            remedy="sign anew to deliver again; a message that was taken needs no repetition",
        )
    await transaction.commit(Write(_SQL["keep_signature"], keys))
    return True
