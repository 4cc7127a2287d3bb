"""Scripted answers of external reads, held against what their connections let through."""

from __future__ import annotations

from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.runtimes.reading import RuntimeReading
from adapter.authoring.scenarios.suite import Suite
from interpreter.contract.schemas import escaped, first_misfit, validator
from interpreter.definition.document import Definition
from interpreter.definition.nodes import CallNode
from interpreter.scenario.cases import ReplyType

_CODE = "coordinator.scenario.response-schema"


def check_replies(
    reading: RuntimeReading, definition: Definition, suite: Suite, report: Report
) -> None:
    """Report every scripted answer that the worker would call malformed in this deployment."""
    schemas = {name: one.response_schema for name, one in (reading.connections or {}).items()}
    checks = {
        name: validator(schemas[definition.operations[node.operation].connection])
        for name, node in definition.nodes.items()
        if isinstance(node, CallNode)
        and definition.operations[node.operation].contract.product == "external"
        and definition.operations[node.operation].connection in schemas
    }
    for index, case in enumerate(suite.cases):
        for step, replies in case.replies.items():
            for number, reply in enumerate(replies):
                if step not in checks or reply.type is not ReplyType.SUCCESS:
                    continue
                misfit = first_misfit(checks[step], reply.value)
                if misfit is None:
                    continue
                message = (
                    f"case `{case.id}`: the reply of `{step}` does not fit the connection's"
                    f" responseSchema in {reading.file}: {misfit.rule}"
                )
                place = f"/replies/{escaped(step)}/{number}/value{misfit.pointer}"
                report.add(_CODE, suite.spot(index, place), message)
