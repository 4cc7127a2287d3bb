"""What a step leaves behind, by the outlet through which a route left it."""

from __future__ import annotations

from adapter.authoring.check.shapes import ANY, Shape, of_members, of_schema, of_type, of_value
from adapter.authoring.draft import Draft
from interpreter.contract.operations import OperationContract
from interpreter.definition import nodes as n


class Outputs:
    """The output shapes of one draft's steps."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._schemas: dict[tuple[str, str], Shape] = {}

    def contract_of(self, step: str) -> OperationContract | None:
        """The contract of a call step; None for other steps and unread operations."""
        node = self._draft.nodes.get(step)
        if not isinstance(node, n.CallNode):
            return None
        operation = self._draft.operations.get(node.operation)
        return None if operation is None else operation.contract

    def shape(self, step: str, outlet: str) -> Shape:
        """The output of ``step`` on the routes that left it through ``outlet``."""
        key = (step, outlet)
        if key not in self._schemas:
            self._schemas[key] = self._shape(step, outlet)
        return self._schemas[key]

    def known(self, step: str, outlet: str) -> bool:
        """False where a contract would say what is left behind, and was not found or read.

        That is a finding of its own, so nothing else is to be said about its members.
        """
        node = self._draft.nodes.get(step)
        match node, outlet:
            case n.CallNode(), "next":
                return self.contract_of(step) is not None
            case n.WaitNode(wait=n.ForCompletion() as wait), "completed":
                contract = self.contract_of(wait.call)
                return contract is not None and wait.completion in contract.completions
            case _:
                return True

    def _shape(self, step: str, outlet: str) -> Shape:
        match self._draft.nodes.get(step):
            case n.CallNode():
                return self._of_call(step, outlet)
            case n.ChooseNode():
                return of_value(outlet)
            case n.WaitNode(wait=wait):
                return self._of_wait(wait, outlet)
            case _:
                return ANY

    def _of_call(self, step: str, outlet: str) -> Shape:
        if outlet.startswith(n.REFUSAL_OUTLET):
            code = outlet.removeprefix(n.REFUSAL_OUTLET)
            return of_members({"refusalCode": lambda: of_value(code)})
        if outlet == "failed":
            return of_members({"failureCode": lambda: of_type("string")})
        contract = self.contract_of(step)
        return ANY if contract is None else of_schema(contract.response)

    def _of_wait(self, wait: n.WaitSource, outlet: str) -> Shape:
        match wait, outlet:
            case n.ForCompletion(), "completed":
                contract = self.contract_of(wait.call)
                completion = contract.completions.get(wait.completion) if contract else None
                return ANY if completion is None else of_schema(completion.value_schema)
            case n.ForSignal(), "resumed":
                return of_schema(wait.signal_schema)
            case n.ForApproval(), "approved" | "rejected":
                return of_members({"planDigest": lambda: of_type("string")})
            case _:
                return of_value(None)
