"""The first two keys of every authored file: which format it is in, and what it is."""

from __future__ import annotations

from dataclasses import dataclass

from activities.yaml.problems import Sink
from activities.yaml.tree import Scalar, Table, Tree, name_of
from adapter.authoring.diagnostics.nearest import nearest

PROJECT_KIND = "CoordinatorProject"
CURRENT = "coordinator/v1"
V1ALPHA1 = "id.registrystack.org/formats/coordinator/project/v1alpha1"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a file may claim to be: its kind, the versions that are read and those that were."""

    kind: str
    versions: tuple[str, ...]
    retired: tuple[str, ...] = ()


PROJECT = Envelope(
    PROJECT_KIND, (CURRENT, V1ALPHA1), ("registry.registrystack.org/coordinator/v1alpha1",)
)


def read_envelope(tree: Tree, expected: Envelope, report: Sink) -> str | None:
    """The file's ``apiVersion`` if it is one that is read and the kind is right, else None."""
    if not isinstance(tree, Table):
        message = f"the file must be a mapping, not {name_of(tree)}"
        report.add("config.missing-envelope", tree.spot, message)
        return None
    version = _text(tree, "apiVersion", report)
    kind = _text(tree, "kind", report)
    if kind is not None and kind != expected.kind:
        remedy = f"write `kind: {expected.kind}`, or check the file's name"
        message = "the file is of another kind"
        report.add("config.wrong-kind", tree.entries["kind"].value.spot, message, remedy)
        return None
    if version is None or kind is None:
        return None
    spot = tree.entries["apiVersion"].value.spot
    if version in expected.retired:
        report.add("config.retired-api-version", spot, "this version is no longer read")
        return None
    if version not in expected.versions:
        meant = nearest(version, expected.versions) or expected.versions[0]
        remedy = f"use `apiVersion: {meant}`"
        report.add("config.unsupported-api-version", spot, "this version is not known", remedy)
        return None
    return version


def _text(tree: Table, key: str, report: Sink) -> str | None:
    entry = tree.entries.get(key)
    if entry is None:
        report.add("config.missing-envelope", tree.spot, f"the file has no `{key}`")
        return None
    value = entry.value
    if not isinstance(value, Scalar) or not isinstance(value.value, str):
        message = f"`{key}` needs text, not {name_of(value)}"
        report.add("config.expected-string", value.spot, message)
        return None
    return value.value
