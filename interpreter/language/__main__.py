"""A line protocol over standard input and output: one JSON case a line in, one answer a line out.

In: ``{"id": any, "source": text, "function": name, "arguments": [json, ...]}``. Out: ``id`` with
``value``, ``type`` and ``operations``, or with ``error`` (compile, input, resource, execution,
output), ``line``, ``column`` and ``text``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from interpreter.language import CompileError, EvaluationError, compile_source


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """The answer to one case."""
    reply: dict[str, Any] = {"id": case.get("id")}
    source = case.get("source")
    name = case.get("function")
    arguments = case.get("arguments")
    try:
        program = compile_source(source if isinstance(source, str) else "")
        found = program.evaluate(
            name if isinstance(name, str) else "main",
            arguments if isinstance(arguments, list) else [],
        )
    except CompileError as error:
        return {**reply, "error": "compile", **_place(error), "text": error.message}
    except EvaluationError as error:
        reply["error"] = error.kind
        if error.kind == "output":
            reply["type"] = error.type_name
        elif error.kind != "input":
            reply.update(_place(error))
        return {**reply, "text": error.message}
    return {**reply, "value": found.value, "type": found.type, "operations": found.operations}


def _place(error: CompileError | EvaluationError) -> dict[str, int | None]:
    return {"line": error.line, "column": error.column}


def _integer(text: str) -> float:
    # A minus zero is a float in the protocol.
    return -0.0 if text == "-0" else int(text)


def main() -> None:
    """Answer every line of standard input."""
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            reply = answer(json.loads(line, parse_int=_integer))
        except (ValueError, RecursionError):
            reply = {"error": "input", "text": "the line is no JSON"}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
