"""A runtime file beside a project: in which format it is, whether it is sound and what it binds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from activities.yaml.problems import Problems
from activities.yaml.reader import read_yaml
from activities.yaml.sources import Spot, pointer_parts
from activities.yaml.tree import Scalar, Table, Tree, find, find_key, value_at
from adapter.authoring.diagnostics.codes import CODES
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.formats.envelope import Envelope, read_envelope
from adapter.authoring.runtimes.connections import Bound
from adapter.authoring.runtimes.public_format import read_public_runtime
from adapter.authoring.runtimes.substitution import Silence, substituted
from adapter.authoring.runtimes.tasks import task_misfit
from adapter.config.caller_rules import nobody_calls
from adapter.config.document import API_VERSION
from adapter.config.findings import Finding
from adapter.config.loading import PUBLIC, parse_runtime
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition

PUBLIC_KIND = "CoordinatorRuntimeConfig"
_PUBLIC = Envelope(PUBLIC_KIND, (PUBLIC,))
_MAPS = {"external": "externalHttpConnections", "evaluation": "decisionConnections"}


@dataclass(frozen=True, slots=True)
class RuntimeReading:
    """A runtime file as it was read; ``connections`` is None when nothing is known of them."""

    file: str
    format: str
    tree: Tree | None
    connections: Mapping[str, Bound] | None


def read_runtime(
    data: bytes,
    file: str,
    folder: Path,
    report: Report,
    environment: Mapping[str, str] | None = None,
) -> RuntimeReading:
    """Read a runtime file in either format; no secret is opened, findings name it ``file``.

    ``environment`` gives the values of ``${NAME}`` in the public format; without it they are
    unknown, and nothing is said about them. ``folder`` is where the file lies.
    """
    silent = Problems()
    tree, _ = read_yaml(data, file, silent, substitution=True)
    if tree is None or silent.found:
        for one in silent.found:
            report.add(one.code, one.spot, one.message, one.remedy)
        return RuntimeReading(file, "", tree, None)
    if not isinstance(tree, Table) or _is_public(tree):
        return _public(tree, file, report, environment)
    return RuntimeReading(file, API_VERSION, tree, _own(data, file, folder, tree, report))


def public_document(data: bytes, file: str, environment: Mapping[str, str]) -> JsonValue:
    """What a sound public runtime file holds, after substitution."""
    tree, _ = read_yaml(data, file, Problems(), substitution=True)
    assert tree is not None
    return substituted(tree, environment, Silence(Problems())).to_json()


def _public(
    tree: Tree, file: str, report: Report, environment: Mapping[str, str] | None
) -> RuntimeReading:
    version = read_envelope(tree, _PUBLIC, report)
    if version is None or not isinstance(tree, Table):
        return RuntimeReading(file, "", tree, None)
    silence = Silence(report)
    written = substituted(tree, environment, silence)
    assert isinstance(written, Table)
    return RuntimeReading(file, version, tree, read_public_runtime(written, silence))


def _is_public(tree: Tree) -> bool:
    version = value_at(tree, ["apiVersion"])
    kind = value_at(tree, ["kind"])
    return (isinstance(version, Scalar) and version.value == PUBLIC) or (
        isinstance(kind, Scalar) and kind.value == PUBLIC_KIND
    )


def _own(
    data: bytes, file: str, folder: Path, tree: Tree, report: Report
) -> Mapping[str, Bound] | None:
    found: list[Finding] = []
    document = parse_runtime(data, file, folder, found)
    silent = document and nobody_calls(document, datetime.now(UTC))
    for one in [*found, silent] if silent else found:
        parts = pointer_parts(one.pointer)
        key = find_key(tree, parts)
        spot = Spot(file, key.line, key.column, one.pointer, key.length)
        code = one.code if one.code in CODES else "config.invalid-value"
        report.add(code, spot, one.message, one.remedy)
    if document is None:
        return None
    return {
        name: Bound(
            find_key(tree, ["connections", name]),
            one.product,
            one.for_tasks,
            True if one.response_schema is None else one.response_schema,
        )
        for name, one in document.connections.items()
    }


def check_bindings(reading: RuntimeReading, definition: Definition, report: Report) -> None:
    """Report every connection of the workflow that the file does not bind as it is used.

    Rules (contract 1.4): it stands in the map of its product; an action of the registry is not
    invoked for a task, and an appointment is made for one.
    """
    if reading.connections is None or reading.tree is None:
        return
    for name, product in sorted(definition.connections.items()):
        bound = reading.connections.get(name)
        if bound is None:
            where = _MAPS.get(product, "connections") if reading.format == PUBLIC else "connections"
            message = f"the workflow needs connection `{name}`, which is not here"
            remedy = f"add `{name}` to `{where}`, for the product {product}"
            spot = find(reading.tree, [where])
            report.add("coordinator.runtime.workflow-binding", spot, message, remedy)
        elif bound.product is not None and bound.product != product:
            message = f"connection `{name}` has another product than in the workflow"
            remedy = f"bind it to {product}"
            report.add("coordinator.runtime.workflow-binding", bound.spot, message, remedy)
        elif bound.task_authority is not None:
            _check_authority(name, bound, definition, report)


def _check_authority(name: str, bound: Bound, definition: Definition, report: Report) -> None:
    misfit = task_misfit(definition, name, for_tasks=bool(bound.task_authority))
    if misfit is not None:
        code = "coordinator.runtime.workflow-binding"
        report.add(code, bound.spot, f"connection `{name}` {misfit.message}", misfit.remedy)
