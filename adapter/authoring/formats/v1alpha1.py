"""The front end of the public ``project/v1alpha1`` format, which is read unmodified.

It differs from ``coordinator/v1`` in that a call names product and connection itself, mappings are
functions over whole values, and only four step types exist (contract 1.3).
"""

from __future__ import annotations

from collections.abc import Callable

from activities.catalogue.catalogue import Catalogue
from activities.yaml.tree import Table
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Draft, Origins
from adapter.authoring.formats.mappings import MappingReader
from adapter.authoring.formats.operations import OperationReader
from adapter.authoring.formats.project import read_header, read_steps
from adapter.authoring.formats.shape import LOCAL_ID, Section
from adapter.authoring.formats.steps import read_cases, read_finish
from interpreter.definition import nodes as n

_TYPES = ("wait-until", "call", "choose", "finish")

_PRODUCTS = {"external-http": "external", "decision": "evaluation"}
"""Product words of this format that the catalogue spells differently."""

_KINDS = ("breg", "messaging", "scheduling", "external-http", "decision")


def read_v1alpha1(tree: Table, catalogue: Catalogue, report: Report) -> Draft:
    """The draft of a ``v1alpha1`` project; every deviation goes to ``report``."""
    root = Section(tree, report, "the project")
    # Its own check warns of none of this, and denied warnings must refuse the same projects.
    draft = Draft(Origins(tree.spot), warn_unused=False, warn_labels=False, calls_only=True)
    root.has("apiVersion")
    root.has("kind")
    read_header(root, draft, titles=False)
    _products(root, draft)
    read_steps(root, draft, _StepReader(draft, catalogue).read)
    root.close()
    return draft


def _products(root: Section, draft: Draft) -> None:
    for name, kind in list(draft.connections.items()):
        if kind not in _KINDS:
            message = f"connection `{name}` has a product that this format does not know"
            spot = draft.origins.find(f"/connections/{name}")
            root.refuse("config.unknown-variant", spot, message, suggestion(kind, _KINDS))
            del draft.connections[name]
            draft.unread.add(f"connections/{name}")
        else:
            draft.connections[name] = _PRODUCTS.get(kind, kind)


class _StepReader:
    """Reads the steps of one project; its calls become the definition's operations."""

    def __init__(self, draft: Draft, catalogue: Catalogue) -> None:
        self.draft = draft
        self._names = catalogue.aliases
        self._mappings = MappingReader(draft.origins, whole_values=True)
        self._operations = OperationReader(draft, catalogue)

    def read(self, name: str, section: Section) -> n.AnyNode | None:
        """The node of a step, or None after a finding."""
        readers: dict[str, Callable[[str, Section], n.AnyNode | None]] = {
            "wait-until": self._wait_until,
            "call": self._call,
            "choose": self._choose,
            "finish": self._finish,
        }
        kind = section.word("type", _TYPES)
        if kind is None:
            return None
        node = readers[kind](f"/nodes/{name}", section)
        section.close()
        return None if section.broken else node

    def _next(self, at: str, section: Section, outlet: str) -> dict[str, str]:
        target = section.text("next", LOCAL_ID)
        self.draft.origins.put(f"{at}/outlets/{outlet}", section.place("next"))
        return {} if target is None else {outlet: target}

    def _wait_until(self, at: str, section: Section) -> n.AnyNode | None:
        instant = self._mappings.read(section, "waitUntil", f"{at}/wait/at")
        outlets = self._next(at, section, "elapsed")
        if instant is None:
            return None
        return n.WaitNode(wait=n.UntilInstant(at=instant), outlets=outlets)

    def _call(self, at: str, section: Section) -> n.AnyNode | None:
        alias = self._operation(section)
        self.draft.origins.put(f"{at}/operation", section.place("operation"))
        value = self._mappings.read(section, "input", f"{at}/input")
        outlets = self._next(at, section, "next")
        if alias is None or value is None:
            return None
        return n.CallNode(operation=alias, input=value, outlets=outlets)

    def _operation(self, section: Section) -> str | None:
        """The alias under which the definition holds this call's operation."""
        connection = section.text("connection", LOCAL_ID)
        name = section.word("operation", tuple(self._names))
        if connection is None or name is None:
            return None
        known = self.draft.declared("connections")
        if connection not in known:
            message = f"connection `{connection}` is not declared"
            place = section.place("connection")
            remedy = suggestion(connection, known)
            section.refuse("coordinator.definition.connection", place, message, remedy)
            return None
        contract = self._operations.contract(section, self._names[name])
        if contract is None:
            return None
        operation = self._operations.bind(section, contract, connection)
        if operation is None:
            return None
        alias = f"{connection}.{name}"
        self.draft.operations[alias] = operation
        return alias

    def _choose(self, at: str, section: Section) -> n.AnyNode | None:
        mapping = self._mappings.read(section, "choose", f"{at}/choose")
        outlets = read_cases(self.draft, at, section)
        if mapping is None or outlets is None:
            return None
        # Here every label is the author's, `failed` too.
        labelled = True if "failed" in outlets else None
        return n.ChooseNode(choose=mapping, outlets=outlets, failed_is_case=labelled)

    def _finish(self, at: str, section: Section) -> n.AnyNode | None:
        return read_finish(self.draft, self._mappings, at, section)
