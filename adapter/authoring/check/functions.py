"""The functions of a project: whether they compile, what they take and which labels they give."""

from __future__ import annotations

from activities.yaml.sources import Spot
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Draft
from interpreter import language
from interpreter.definition.mappings import FunctionCall

LARGEST_SOURCE_BYTES = 65_536
MOST_FUNCTIONS = 128
FILE = "functions.rhai"

_ARITY = "coordinator.function.arity"


class Functions:
    """The compiled functions, or nothing when they do not compile."""

    def __init__(
        self, program: language.Program | None, missing: bool, arity_code: str = _ARITY
    ) -> None:
        self._program = program
        self._arity_code = arity_code
        self._missing = missing
        self._signatures = {} if program is None else {one.name: one for one in program.functions}

    def check_call(self, call: FunctionCall, spot: Spot, report: Report) -> None:
        """Report a function that is not there, is private or takes other arguments."""
        if self._missing:
            message = f"function `{call.function}` is needed, but the project has no functions file"
            remedy = "add `functionsFile: functions.rhai` and the file"
            report.add("coordinator.function.definition", spot, message, remedy)
            return
        if self._program is None:
            return
        signature = self._signatures.get(call.function)
        if signature is None:
            public = [one.name for one in self._signatures.values() if one.public]
            message = f"functions.rhai has no function `{call.function}`"
            remedy = suggestion(call.function, public)
            report.add("coordinator.function.definition", spot, message, remedy)
        elif not signature.public:
            message = f"function `{call.function}` is private"
            remedy = "remove `private` from it"
            report.add("coordinator.function.definition", spot, message, remedy)
        elif signature.arity != len(call.arguments):
            message = (
                f"function `{call.function}` takes {signature.arity} arguments, "
                f"not {len(call.arguments)}"
            )
            report.add(self._arity_code, spot, message)

    def check_use(self, called: set[str], report: Report) -> None:
        """Report functions that no mapping needs."""
        if self._program is None:
            return
        for name in sorted(self._program.unreferenced(called)):
            spot = Spot(FILE, self._signatures[name].line, self._signatures[name].column)
            message = f"no mapping needs function `{name}`"
            report.add("coordinator.function.unused", spot, message)

    def labels(self, name: str) -> frozenset[str] | None:
        """Every text that the function can return, if that is all it returns; else None."""
        if self._program is None or name not in self._signatures:
            return None
        return self._program.returned_strings(name)


def compile_functions(draft: Draft, report: Report) -> Functions:
    """Compile the functions of a draft; what is wrong with the source goes to ``report``."""
    source = draft.functions_source
    if source is None:
        return Functions(None, missing=draft.functions_file is None)
    if len(source.encode()) > LARGEST_SOURCE_BYTES:
        message = f"the functions have more than {LARGEST_SOURCE_BYTES} bytes"
        report.add("coordinator.function.source-limit", Spot(FILE), message)
        return Functions(None, missing=False)
    try:
        program = language.compile_source(source)
    except language.CompileError as error:
        spot = Spot(FILE, error.line or 1, error.column or 1)
        report.add("coordinator.function.definition", spot, error.message)
        return Functions(None, missing=False)
    _check_names(program, report)
    # The public format calls a function with other parameters undefined (contract 3.2).
    code = "coordinator.function.definition" if draft.calls_only else _ARITY
    return Functions(program, missing=False, arity_code=code)


def _check_names(program: language.Program, report: Report) -> None:
    seen: set[str] = set()
    for one in program.functions:
        if one.name in seen:
            spot = Spot(FILE, one.line, one.column)
            message = f"there are two functions `{one.name}`"
            remedy = "give each function its own name, also when they take other arguments"
            report.add("coordinator.function.definition", spot, message, remedy)
        seen.add(one.name)
    if len(program.functions) > MOST_FUNCTIONS:
        message = f"there are more than {MOST_FUNCTIONS} functions"
        report.add("coordinator.function.definition", Spot(FILE), message, "split the workflow")
