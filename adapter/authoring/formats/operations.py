"""Finds the operations of a project in the catalogue and pins their contracts."""

from __future__ import annotations

import re

from activities.catalogue.catalogue import Catalogue
from activities.errors import CatalogueError
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Draft
from adapter.authoring.formats.shape import EXTERNAL_ID, LOCAL_ID, Section
from interpreter.contract.operations import OperationContract
from interpreter.definition.document import Operation

_PROPOSAL = re.compile(r"breg\.(?:[a-z0-9-]+-)?proposals?(?:-[a-z0-9-]+)?/v[0-9]+\Z")


class OperationReader:
    """Resolves operation ids of one project."""

    def __init__(self, draft: Draft, catalogue: Catalogue) -> None:
        self._draft = draft
        self._catalogue = catalogue

    def read(self, section: Section) -> Operation | None:
        """The operation that a section's ``operation`` and ``connection`` name."""
        name = section.text("operation", EXTERNAL_ID)
        connection = section.text("connection", LOCAL_ID)
        contract = None if name is None else self.contract(section, name)
        if connection is None or not self._declared(section, connection):
            return None
        if contract is None:
            return None
        return self.bind(section, contract, connection)

    def bind(
        self, section: Section, contract: OperationContract, connection: str
    ) -> Operation | None:
        """Join a contract and a connection of its product; None after a finding."""
        product = self._draft.connections.get(connection)
        if product is not None and product != contract.product:
            message = f"`{contract.id}` belongs to another product than `{connection}`"
            fitting = [n for n, kind in self._draft.connections.items() if kind == contract.product]
            remedy = suggestion("", fitting) or f"declare a connection of `{contract.product}`"
            place = section.place("operation")
            section.refuse("coordinator.definition.operation", place, message, remedy)
            return None
        return Operation(connection=connection, contract=contract)

    def contract(self, section: Section, name: str) -> OperationContract | None:
        """The contract of an operation id; None after a finding."""
        place = section.place("operation")
        try:
            contract = self._catalogue.find(name).contract
        except CatalogueError as error:
            if _PROPOSAL.match(name):
                self._refuse_proposal(section)
                return None
            message = "the catalogue has no such operation"
            section.refuse("coordinator.definition.operation", place, message, error.remedy)
            return None
        if contract.proposal:
            self._refuse_proposal(section)
            return None
        return contract

    def _refuse_proposal(self, section: Section) -> None:
        message = "this operation acts on a proposal, which a workflow does not do"
        section.refuse("coordinator.operation.proposal-action", section.place("operation"), message)

    def _declared(self, section: Section, connection: str) -> bool:
        known = self._draft.declared("connections")
        if connection in known:
            return True
        message = f"connection `{connection}` is not declared"
        remedy = suggestion(connection, known)
        place = section.place("connection")
        section.refuse("coordinator.definition.connection", place, message, remedy)
        return False
