"""The definition itself: header, operations, nodes, and the labels that change nothing."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import Field, PrivateAttr, StringConstraints

from interpreter.contract.operations import OperationContract
from interpreter.contract.values import Document, JsonValue, canonical_bytes, digest
from interpreter.definition.mappings import Mapping
from interpreter.definition.nodes import AnyNode
from interpreter.errors import DefinitionError

FORMAT = "coordinator-definition/v1"
LARGEST_DEFINITION_BYTES = 393_216

WorkflowId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]


class Functions(Document):
    """The functions' source text and the profile of the language it is written in."""

    profile: str
    source: str


class Operation(Document):
    """An alias of the project: a pinned contract and the logical connection it is called on."""

    connection: str
    contract: OperationContract


class Trigger(Document):
    """An event that admits a run: its type, schema, and the mapping to the workflow's input.

    The mapping's ``input`` is the event's data.
    """

    event: str
    source: str | None = None
    event_schema: JsonValue = Field(alias="schema")
    input: Mapping


class Definition(Document):
    """What changes execution, and nothing else; its digest is the revision."""

    format: str = FORMAT
    id: WorkflowId
    input_schema: JsonValue
    outcomes: dict[str, JsonValue]
    deadline_seconds: int = Field(gt=0)
    functions: Functions | None = None
    connections: dict[str, str] = Field(default_factory=dict)
    operations: dict[str, Operation] = Field(default_factory=dict)
    triggers: dict[str, Trigger] = Field(default_factory=dict)
    start: str
    nodes: dict[str, AnyNode]
    _written: JsonValue = PrivateAttr(default=None)

    @classmethod
    def read(cls, value: JsonValue) -> Definition:
        """A definition from its stored JSON, which stays its form and so gives its revision.

        A later version of this project may know members that the stored form lacks; writing the
        form anew would then give it another revision. pydantic's ValidationError for what is none.
        """
        definition = cls.model_validate(value)
        definition._written = value
        return definition

    def to_json(self) -> dict[str, JsonValue]:
        """The stored form where there is one, else the form that this version writes."""
        written: dict[str, JsonValue] | None = self._written
        return super().to_json() if written is None else written

    @cached_property
    def revision(self) -> str:
        """``sha256:`` over the canonical execution form (design section 4)."""
        return digest(self.to_json())

    def to_bytes(self) -> bytes:
        """Canonical bytes; DefinitionError ``definition.too-large`` above 393,216 bytes."""
        data = canonical_bytes(self.to_json())
        if len(data) > LARGEST_DEFINITION_BYTES:
            raise DefinitionError(
                "definition.too-large",
                f"the definition has {len(data)} bytes, the limit is {LARGEST_DEFINITION_BYTES}",
                remedy="split the workflow, or shorten schemas and functions",
            )
        return data


class Labels(Document):
    """Words for people: they never enter the revision."""

    title: str = ""
    description: str = ""
    version: str = ""
    nodes: dict[str, str] = Field(default_factory=dict)


class PackagedDefinition(Document):
    """``definition.json`` of a package: the definition and its labels side by side."""

    definition: Definition
    labels: Labels = Labels()
