"""One entry of the catalogue: the contract of an operation and the facts to carry it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from activities.catalogue.http_call import (
    HttpCall,
    Outcome,
    Rule,
    Situation,
    default_outcomes,
    default_rules,
)
from interpreter.contract.operations import OperationContract


class AdapterName(StrEnum):
    """The small pieces of code that some standard operations need beside their data."""

    ACTION = "action"
    """Metadata and target conditions before an action is invoked."""
    EVALUATION = "evaluation"
    """Two request protocols and the mathematics of their answers."""
    EXTERNAL = "external"
    """Exact paths and a response schema from the connection."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An operation: what it promises, its HTTP facts and the adapter it needs, if any.

    ``alias`` is the name of the same operation in projects of format v1alpha1.
    """

    contract: OperationContract
    http: HttpCall
    adapter: AdapterName | None = None
    alias: str | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The classification table: the document's own rows, then the defaults."""
        return self.http.classification + default_rules(self.contract.effect, self.contract.key)

    def outcome(self, situation: Situation) -> Outcome:
        """How a situation of this operation is reported."""
        return (
            self.http.outcomes.get(situation) or default_outcomes(self.contract.effect)[situation]
        )
