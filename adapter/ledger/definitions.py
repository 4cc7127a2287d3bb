"""The store of execution forms: immutable, sealed, and cached in each process."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from activities.errors import ActivityError
from adapter.crypto import Sealer
from adapter.ledger.pool import Pool, Question
from adapter.ledger.queries import queries
from interpreter.definition.document import Definition
from interpreter.errors import DefinitionError

_SQL = queries("packages")
_MOST_CACHED: Final = 256
PURPOSE: Final = "definition"


@dataclass(frozen=True, slots=True)
class SealedDefinition:
    """A stored execution form."""

    sealed_definition: bytes


class Definitions:
    """Definitions by revision; a revision never changes, so what was read once is kept."""

    def __init__(self, pool: Pool, sealer: Sealer) -> None:
        self._pool = pool
        self._sealer = sealer
        self._cache: OrderedDict[str, Definition] = OrderedDict()

    async def get(self, revision: str) -> Definition:
        """The definition with this revision.

        Raises ActivityError ``revision.unknown``; DefinitionError ``definition.other-revision``
        for stored bytes whose digest is another one.
        """
        if revision in self._cache:
            self._cache.move_to_end(revision)
            return self._cache[revision]
        parameters = {"revision": revision}
        row = await self._pool.one(Question(_SQL["load_definition"], parameters, SealedDefinition))
        if row is None:
            raise ActivityError(
                "revision.unknown",
                "the ledger holds no definition with this revision",
                place=revision[:80],
                remedy="apply the package that it belongs to",
            )
        plain = self._sealer.open_bytes(row.sealed_definition, PURPOSE, revision)
        definition = Definition.read(json.loads(plain))
        if definition.revision != revision:
            raise DefinitionError(
                "definition.other-revision",
                "the stored definition is not the one that its revision names",
                place=revision,
                remedy="apply its package again, and find out who changed the row",
            )
        self._cache[revision] = definition
        if len(self._cache) > _MOST_CACHED:
            self._cache.popitem(last=False)
        return definition
