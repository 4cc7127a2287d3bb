"""A definition made ready to run: its functions compiled once."""

from __future__ import annotations

from dataclasses import dataclass, field

from interpreter import language
from interpreter.definition.document import Definition
from interpreter.definition.nodes import CallNode, EachNode, JoinNode
from interpreter.errors import DefinitionError, MachineError
from interpreter.machine.schemas import Schemas


@dataclass(frozen=True, slots=True)
class Program:
    """A definition and its compiled functions; immutable, shared by all runs of a process."""

    definition: Definition
    functions: language.Program | None
    schemas: Schemas = field(default_factory=Schemas, compare=False, repr=False)

    def attempt_seconds(self, name: str) -> float:
        """How long one attempt of a call takes at most; MachineError for a node of another kind."""
        node = self.definition.nodes[name]
        if node.policy.attempt_timeout_seconds is not None:
            return node.policy.attempt_timeout_seconds
        if not isinstance(node, CallNode):
            raise MachineError("machine.no-call", "only a call is performed", place=name)
        contract = self.definition.operations[node.operation].contract
        return contract.attempts.timeout_milliseconds / 1000


def prepare(definition: Definition) -> Program:
    """Compile what a definition holds as text.

    Raises DefinitionError ``definition.functions`` for source that does not compile and
    ``node.kind-unsupported`` for a kind that this machine does not run.
    """
    for name, node in definition.nodes.items():
        if isinstance(node, EachNode | JoinNode):
            raise DefinitionError(
                "node.kind-unsupported",
                f"the machine does not run nodes of kind {node.kind}",
                place=f"nodes.{name}",
                remedy="use call, choose, map, wait and finish",
            )
    if definition.functions is None:
        return Program(definition, None)
    if definition.functions.profile != language.LANGUAGE_PROFILE:
        raise DefinitionError(
            "definition.language-profile",
            "the functions are written for another language profile",
            place="functions.profile",
            remedy=f"compile the project again for {language.LANGUAGE_PROFILE}",
        )
    try:
        return Program(definition, language.compile_source(definition.functions.source))
    except language.CompileError as error:
        raise DefinitionError(
            "definition.functions",
            "the functions do not compile",
            place=f"functions:{error.line}:{error.column}",
            remedy="check the project again with this version",
        ) from error
