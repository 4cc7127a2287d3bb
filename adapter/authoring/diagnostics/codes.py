"""Every code that a check can report: its severity, its meaning and what to do about it."""

from __future__ import annotations

from activities.yaml.code import Code, Severity
from activities.yaml.codes import READER_CODES
from adapter.authoring.diagnostics.runtime_codes import RUNTIME_CODES
from adapter.authoring.diagnostics.scenario_codes import SCENARIO_CODES

__all__ = ["CODES", "Code", "Severity"]

_CONFIG = (
    Code("config.wrong-kind", "the file is of another kind", "correct `kind`, or the file's name"),
    Code(
        "config.unsupported-api-version",
        "this version of the format is not known",
        "use `apiVersion: coordinator/v1`",
    ),
    Code(
        "config.retired-api-version",
        "this version of the format is no longer read",
        "rewrite the project for `apiVersion: coordinator/v1`",
    ),
    Code("config.unknown-key", "the key is not known here", "remove the key, or correct its name"),
    Code("config.missing-key", "a required key is missing", "add the key"),
    Code("config.unknown-variant", "the word is none of those that fit here", "use one that fits"),
    Code(
        "config.invalid-type", "the value is of another kind", "write the kind of value it asks for"
    ),
    Code("config.invalid-value", "the value does not have the right form", "correct the value"),
    Code("config.invalid-length", "there are too few or too many items", "change their number"),
    Code("config.duplicate-item", "an item or a secret stands twice", "keep one of the two"),
    Code("config.duplicate-id", "two items have the same id", "give each its own id"),
    Code(
        "config.null-value",
        "null is not a value here",
        "leave the key out, or give it a value",
    ),
    Code(
        "config.expected-string",
        "text is needed here",
        "write text, quoted if it looks like a number",
    ),
    Code("config.expected-integer", "an integer is needed here", "write a whole number, unquoted"),
    Code("config.expected-number", "a number is needed here", "write a number, unquoted"),
    Code("config.expected-boolean", "`true` or `false` is needed here", "write `true` or `false`"),
    Code(
        "config.too-many-problems",
        "the file has more problems than are shown",
        "correct the ones above and check again",
    ),
)

_PROJECT = (
    Code("coordinator.definition.read", "a project file can not be read", "check that it is there"),
    Code(
        "coordinator.definition.file",
        "a project file is not a regular file",
        "put a regular file there, not a link or a folder",
    ),
    Code(
        "coordinator.definition.functions-file",
        "the functions file has another name",
        "name it `functions.rhai` and put it beside workflow.yaml",
    ),
    Code("coordinator.definition.shape", "a part of the project has the wrong form", "correct it"),
    Code(
        "coordinator.definition.connection",
        "a connection is not declared, or no operation has its product",
        "declare the connection under `connections` with the product of its operations",
    ),
    Code(
        "coordinator.definition.operation",
        "an operation is not known, or belongs to another product than its connection",
        "name an operation of the catalogue and a connection of its product",
    ),
    Code(
        "coordinator.definition.deadline",
        "the deadline lies outside what a run may have",
        "write a whole number of seconds from 1 to 31536000",
    ),
    Code("coordinator.definition.step", "a step has a name that is taken", "rename the step"),
    Code(
        "coordinator.definition.target",
        "a transition leads to no declared step",
        "name a declared step",
    ),
    Code("coordinator.definition.cases", "a choose has no usable cases", "give it 1 to 32 cases"),
    Code(
        "coordinator.definition.outcome",
        "outcomes and finish steps do not agree",
        "declare every outcome that a finish names, and finish with every one declared",
    ),
    Code(
        "coordinator.definition.unreachable",
        "no route leads to this step",
        "lead a transition to the step, or remove it",
    ),
    Code(
        "coordinator.definition.cycle",
        "steps lead back to each other",
        "let every route go forward to a finish",
    ),
    Code("coordinator.definition.schema", "a JSON Schema can not be used", "correct the schema"),
    Code(
        "coordinator.definition.snapshot-limit",
        "the compiled definition has more than 393216 bytes",
        "shorten schemas and functions, or split the workflow",
    ),
    Code(
        "coordinator.definition.unused-connection",
        "a connection is used by no operation",
        "remove the connection",
        Severity.WARNING,
    ),
    Code(
        "coordinator.definition.unused-operation",
        "an operation is called by no step",
        "remove the operation",
        Severity.WARNING,
    ),
)

_FOLDER = (
    Code(
        "coordinator.project.too-many-files",
        "the project folder has more than 1024 entries",
        "keep a project in a folder of its own",
    ),
    Code(
        "coordinator.project.not-a-regular-file",
        "something in the project folder is a link or no regular file",
        "put a regular file there, or move it out of the project",
    ),
    Code(
        "coordinator.project.misplaced-kind",
        "a file of the project has another name than its kind is read under",
        "rename it, or move it out of the project",
    ),
    Code(
        "coordinator.project.unread-directory",
        "a folder inside the project is not looked into",
        "move it out of the project if its files were meant to count",
        Severity.WARNING,
    ),
)

_OPERATIONS = (
    Code(
        "coordinator.operation.proposal-action",
        "a workflow does not apply proposals",
        "let the applicant drive the proposal in the registry, and follow it by a trigger or read",
    ),
    Code(
        "coordinator.refusal.undeclared",
        "the operation's contract does not declare this refusal",
        "route only refusals that the contract declares",
    ),
    Code(
        "coordinator.refusal.not-an-action",
        "only a call that changes something has refusals to route",
        "remove `onDeclaredRefusal` from this call",
    ),
    Code(
        "coordinator.wait.call",
        "the call behind this wait was not accepted on every route to it",
        "move the call before the wait on every route, and route its refusals elsewhere",
    ),
    Code(
        "coordinator.wait.completion",
        "the call's contract has no such completion",
        "name a completion of the call's contract",
    ),
    Code(
        "coordinator.wait.timeout",
        "the wait may last as long as the whole run",
        "make `timeoutSeconds` less than `deadlineSeconds`",
    ),
)

_MAPPINGS = (
    Code(
        "coordinator.mapping.reference",
        "a mapping names no step with an output",
        "name a declared step",
    ),
    Code(
        "coordinator.mapping.dominance",
        "the step has not run on every route that leads here",
        "move the step before the branch, or use `first` with one alternative for each route",
    ),
    Code("coordinator.mapping.pointer", "a JSON pointer is not well formed", "begin it with `/`"),
    Code(
        "coordinator.mapping.missing-member",
        "the value has no member at this pointer",
        "correct the pointer, or add the member to the schema",
    ),
    Code(
        "coordinator.mapping.optional-member",
        "the member at this pointer may be absent",
        "require the member in the schema, or pick it in a function that says what to use instead",
    ),
    Code(
        "coordinator.mapping.unproven-member",
        "the schema says nothing about the member at this pointer",
        "pick it in a function that says what to use when it is absent",
        Severity.WARNING,
    ),
    Code(
        "coordinator.mapping.type",
        "the value does not fit where it goes",
        "map a value of the right type, or correct the schema",
    ),
    Code(
        "coordinator.mapping.instant",
        "nothing says that this text is an instant",
        "give it `format: date-time` in its schema",
        Severity.WARNING,
    ),
    Code(
        "coordinator.mapping.context",
        "this fact of a run does not exist here",
        "map it from the event's data instead",
    ),
    Code(
        "coordinator.mapping.missing-case",
        "the mapping can give a label that has no case",
        "add a case for the label",
    ),
    Code(
        "coordinator.mapping.uncovered-label",
        "the function holds a label that has no case",
        "add a case for the label, or remove the branch that gives it",
        Severity.WARNING,
    ),
    Code(
        "coordinator.mapping.unused-case",
        "the mapping never gives this label",
        "remove the case, or let the mapping give its label",
        Severity.WARNING,
    ),
    Code(
        "coordinator.mapping.unused-alternative",
        "an earlier alternative always has a value",
        "remove the alternative",
        Severity.WARNING,
    ),
)

_FUNCTIONS = (
    Code(
        "coordinator.function.source-limit",
        "the functions file has more than 65536 bytes",
        "shorten it",
    ),
    Code(
        "coordinator.function.definition",
        "the functions do not compile, or a function that is needed is not there",
        "correct the function at this line",
    ),
    Code(
        "coordinator.function.arity",
        "a mapping gives a function another number of arguments than it takes",
        "give it as many arguments as it has parameters",
    ),
    Code(
        "coordinator.function.unused",
        "no mapping needs this function",
        "remove the function",
        Severity.WARNING,
    ),
    Code(
        "coordinator.function.value-limit",
        "a value is larger than functions and steps can pass on",
        "keep depth within 32, lists and objects within 256 members and texts within 16384 bytes",
    ),
)

CODES: dict[str, Code] = {
    one.code: one
    for one in (
        *READER_CODES,
        *_CONFIG,
        *_PROJECT,
        *_FOLDER,
        *_OPERATIONS,
        *_MAPPINGS,
        *_FUNCTIONS,
        *SCENARIO_CODES,
        *RUNTIME_CODES,
    )
}
"""Every code by its name."""
