"""The catalogue: every operation that a definition may call, by id."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from activities.catalogue.entries import CatalogueEntry
from activities.catalogue.problems import CatalogueRefused
from activities.catalogue.reading import read_document
from activities.errors import CatalogueError
from interpreter.contract.operations import EffectClass, OperationContract

STANDARD_DOCUMENTS = ("breg", "casework", "messaging", "scheduling", "evaluation", "external")


class Catalogue:
    """Operations by id, and the names that v1alpha1 projects call them by; immutable."""

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._entries = {entry.contract.id: entry for entry in entries}
        self._aliases = MappingProxyType(
            {entry.alias: id for id, entry in self._entries.items() if entry.alias is not None}
        )

    @staticmethod
    def standard() -> Catalogue:
        """The project's own operations; read once per process."""
        return _standard()

    @staticmethod
    def with_documents(documents: Mapping[str, str | bytes]) -> Catalogue:
        """The standard catalogue and a deployer's documents (path -> content).

        Raises CatalogueRefused with every mistake of every document, in their order.
        """
        entries = {entry.contract.id: entry for entry in _standard().entries()}
        mistakes: list[CatalogueError] = []
        for path, text in documents.items():
            try:
                read = read_document(text, path)
            except CatalogueRefused as refused:
                mistakes += refused.mistakes
                continue
            for entry in read:
                if entry.contract.id in entries:
                    mistakes.append(_duplicate(path, entry.contract.id))
                entries[entry.contract.id] = entry
        if not mistakes:
            mistakes += _completion_mistakes(entries)
        if mistakes:
            raise CatalogueRefused(mistakes)
        return Catalogue(entries.values())

    @property
    def aliases(self) -> Mapping[str, str]:
        """v1alpha1 operation name -> operation id."""
        return self._aliases

    def entries(self) -> tuple[CatalogueEntry, ...]:
        """Every entry."""
        return tuple(self._entries.values())

    def contracts(self) -> tuple[OperationContract, ...]:
        """The contract of every operation, sorted by id."""
        return tuple(self._entries[id].contract for id in sorted(self._entries))

    def find(self, operation_id: str) -> CatalogueEntry:
        """The entry of an id; CatalogueError ``catalogue.operation-unknown`` names the nearest."""
        entry = self._entries.get(operation_id)
        if entry is not None:
            return entry
        raise CatalogueError(
            "catalogue.operation-unknown",
            "the catalogue has no such operation",
            place=operation_id[:128],
            remedy=self._suggestion(operation_id),
        )

    def _suggestion(self, operation_id: str) -> str:
        if operation_id in self._aliases:
            return f"in this format it is called {self._aliases[operation_id]}"
        names = {id: id for id in self._entries}
        names |= {id.rpartition("/")[0]: id for id in self._entries}
        names |= {id.partition(".")[2].rpartition("/")[0]: id for id in self._entries}
        near = difflib.get_close_matches(operation_id, names, 1, 0.5)
        return f"did you mean {names[near[0]]}" if near else "use the id of a catalogue operation"


@cache
def _standard() -> Catalogue:
    folder = resources.files("activities.catalogue") / "documents"
    entries: list[CatalogueEntry] = []
    for product in STANDARD_DOCUMENTS:
        text = (folder / f"{product}.yaml").read_text(encoding="utf-8")
        entries += read_document(text, f"{product}.yaml", standard=True)
    mistakes = _completion_mistakes({entry.contract.id: entry for entry in entries})
    if mistakes:
        raise CatalogueRefused(mistakes)
    return Catalogue(entries)


def _duplicate(path: str, operation_id: str) -> CatalogueError:
    return CatalogueError(
        "catalogue.duplicate-operation",
        "another document has an operation of this id",
        place=f"{path} {operation_id}",
        remedy="give it a further version, or remove one of the two",
    )


def _completion_mistakes(entries: Mapping[str, CatalogueEntry]) -> list[CatalogueError]:
    """Completions whose source is not a read of this catalogue."""
    mistakes = []
    for id, entry in entries.items():
        for name, completion in entry.contract.completions.items():
            source = entries.get(completion.read)
            if source is None or source.contract.effect is not EffectClass.READ:
                mistakes.append(
                    CatalogueError(
                        "catalogue.completion",
                        "the completion is read by an operation that is no read here",
                        place=f"{id} /completions/{name}/read",
                        remedy="name an operation of effect read",
                    )
                )
    return mistakes
