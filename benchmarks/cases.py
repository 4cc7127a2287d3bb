"""What is measured: calls in a row, as a definition and as the requests that it makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from activities.catalogue import Catalogue
from interpreter.contract.operations import OperationContract
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition, Operation

CONNECTIONS = {"read": "registry", "effect": "notices"}
OPERATIONS = {"read": "breg.read-record/v1", "effect": "messaging.submit-message/v1"}
RECORD_ID = "a-1"
RUN_INPUT: dict[str, str] = {"recordId": RECORD_ID, "email": "ada@example.org"}
DEADLINE_SECONDS = 3_600

_INPUT_SCHEMA = {
    "type": "object",
    "required": ["recordId", "email"],
    "properties": {"recordId": {"type": "string"}, "email": {"type": "string"}},
}


def contract_of(kind: str) -> OperationContract:
    """The contract of a kind's operation, as the catalogue has it."""
    return Catalogue.standard().find(OPERATIONS[kind]).contract


def read_input(run: dict[str, str]) -> dict[str, Any]:
    """The input of a read in a run."""
    return {"collection": "applications", "recordId": run["recordId"]}


def message_input(run: dict[str, str]) -> dict[str, Any]:
    """The input of an effect in a run; it is also the body of its request."""
    return {
        "senderProfile": "notices",
        "to": {"email": run["email"]},
        "template": {"id": "decision", "version": "1"},
        "locale": "en",
        "data": {"reference": run["recordId"]},
    }


@dataclass(frozen=True)
class Case:
    """A workflow of ``steps`` calls of one kind in a row, and how many runs of it make a round.

    ``primary`` is the opponent that the aims name: reads are compared with hand-written
    workflows without a ledger, effects with those that write the same ledger. Against
    ``unsealed``, which is this project without its codec, it is what sealing costs.
    """

    name: str
    kind: Literal["read", "effect"]
    steps: int
    loaded_runs: int
    alone_runs: int
    primary: Literal["plain", "ledgered", "unsealed"]

    @property
    def opponents(self) -> tuple[str, ...]:
        """The other sides of this case."""
        return ("unsealed",) if self.primary == "unsealed" else ("plain", "ledgered")

    def of_size(self, loaded_runs: int) -> Case:
        """The same case with another number of runs in a round."""
        return replace(self, loaded_runs=loaded_runs, alone_runs=max(2, loaded_runs // 10))

    def step(self, number: int) -> str:
        """The name of a step, counted from 1."""
        return f"{self.kind}-{number}"

    @cached_property
    def definition(self) -> Definition:
        """The case as a definition; it publishes the id in the last answer."""
        nodes: dict[str, Any] = {
            self.step(number): {
                "kind": "call",
                "operation": self.kind,
                "input": _mapped(self.kind),
                "outlets": {"next": self.step(number + 1) if number < self.steps else "done"},
            }
            for number in range(1, self.steps + 1)
        }
        member = "/recordId" if self.kind == "read" else "/id"
        output = {"step": self.step(self.steps), "path": member}
        nodes["done"] = {"kind": "finish", "outcome": "done", "output": output}
        contract, connection = contract_of(self.kind), CONNECTIONS[self.kind]
        return Definition(
            id=f"benchmark-{self.name}",
            input_schema=_INPUT_SCHEMA,
            outcomes={"done": {"type": "string"}},
            deadline_seconds=DEADLINE_SECONDS,
            connections={connection: contract.product},
            operations={self.kind: Operation(connection=connection, contract=contract)},
            start=self.step(1),
            nodes=nodes,
        )


def _mapped(kind: str) -> JsonValue:
    """The input of a call as a mapping over the run's input."""
    run = {"recordId": {"input": "/recordId"}, "email": {"input": "/email"}}
    if kind == "read":
        return _written_out({"collection": "applications", "recordId": run["recordId"]})
    message = message_input(RUN_INPUT)
    message["to"] = {"email": run["email"]}
    message["data"] = {"reference": run["recordId"]}
    return _written_out(message)


def _written_out(value: Any) -> JsonValue:
    """Members as mappings: an input reference stays, an object is mapped, text is literal."""
    if not isinstance(value, dict):
        return {"literal": value}
    if set(value) == {"input"}:
        return value
    return {"object": {name: _written_out(member) for name, member in value.items()}}


CASES = {
    case.name: case
    for case in (
        Case("reads", "read", 3, 200, 20, "plain"),
        Case("effects", "effect", 3, 200, 20, "ledgered"),
        Case("reads16", "read", 16, 100, 10, "plain"),
        Case("reads64", "read", 64, 50, 5, "plain"),
        Case("sealed-reads", "read", 3, 200, 40, "unsealed"),
        Case("sealed-effects", "effect", 3, 200, 40, "unsealed"),
    )
}
