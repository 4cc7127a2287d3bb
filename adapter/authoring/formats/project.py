"""The front end of ``coordinator/v1``: the tree of workflow.yaml to a draft, except its steps."""

from __future__ import annotations

from collections.abc import Callable

from activities.catalogue.catalogue import Catalogue
from activities.yaml.tree import Broken, Table
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.draft import Draft, Origins
from adapter.authoring.formats.mappings import MappingReader
from adapter.authoring.formats.operations import OperationReader
from adapter.authoring.formats.shape import (
    EXTERNAL_ID,
    LOCAL_ID,
    PROSE,
    TITLE,
    VERSION,
    Rule,
    Section,
    local_names,
    read_text,
)
from adapter.authoring.formats.steps import StepReader
from interpreter.contract.values import JsonValue
from interpreter.definition import nodes as n
from interpreter.definition.document import Trigger

LONGEST_DEADLINE_SECONDS = 31_536_000
MOST_STEPS = 64
MOST_OUTCOMES = 64
MOST_CONNECTIONS = 16
MOST_OPERATIONS = 64
MOST_TRIGGERS = 16

_FUNCTIONS_FILE = "functions.rhai"


def read_project(tree: Table, catalogue: Catalogue, report: Report) -> Draft:
    """The draft of a ``coordinator/v1`` project; every deviation goes to ``report``."""
    root = Section(tree, report, "the project")
    draft = Draft(Origins(tree.spot))
    root.has("apiVersion")
    root.has("kind")
    read_header(root, draft, titles=True)
    _operations(root, draft, catalogue)
    mappings = MappingReader(draft.origins)
    _triggers(root, draft, mappings)
    read_steps(root, draft, StepReader(draft, mappings).read)
    root.close()
    return draft


def read_header(root: Section, draft: Draft, *, titles: bool) -> None:
    """What both project formats share: identity, schemas, deadline, functions and start."""
    project = root.section("project", "`project`")
    if project is not None:
        draft.id = project.text("id", LOCAL_ID) or ""
        draft.version = project.text("version", VERSION) or ""
        if titles:
            draft.title = project.text("title", TITLE, required=False) or ""
            draft.description = project.text("description", PROSE, required=False) or ""
        project.close()
        draft.origins.put("/id", project.place("id"))
    draft.input_schema = _schema(root, "input", draft, "/inputSchema")
    _deadline(root, draft)
    _functions_file(root, draft, required=not titles)
    draft.start = root.text("start", LOCAL_ID) or ""
    draft.origins.put("/start", root.place("start"))
    _connections(root, draft, required=not titles)
    _outcomes(root, draft)


def _schema(section: Section, key: str, draft: Draft, at: str) -> JsonValue:
    schema = section.foreign(key)
    draft.origins.put(at, section.place(key))
    return True if schema is None else schema


def _deadline(root: Section, draft: Draft) -> None:
    seconds = root.integer("deadlineSeconds", 1, LONGEST_DEADLINE_SECONDS)
    draft.origins.put("/deadlineSeconds", root.place("deadlineSeconds"))
    draft.deadline_seconds = seconds or LONGEST_DEADLINE_SECONDS


def _functions_file(root: Section, draft: Draft, *, required: bool) -> None:
    rule = Rule(EXTERNAL_ID.pattern, EXTERNAL_ID.sentence)
    name = root.text("functionsFile", rule, required=required)
    draft.origins.put("/functions", root.place("functionsFile"))
    if name is not None and name != _FUNCTIONS_FILE:
        message = "the functions file has another name"
        root.refuse("coordinator.definition.functions-file", root.place("functionsFile"), message)
        return
    draft.functions_file = name


def _connections(root: Section, draft: Draft, *, required: bool) -> None:
    table = root.table("connections", required=required)
    if table is None:
        return
    draft.origins.put("/connections", table.spot)
    for name in local_names(root, table, "connection", MOST_CONNECTIONS, 0):
        entry = table.entries[name]
        draft.origins.put(f"/connections/{name}", entry.value.spot)
        product = read_text(root, entry.value, "a connection's product", LOCAL_ID)
        if product is None:
            draft.unread.add(f"connections/{name}")
        else:
            draft.connections[name] = product


def _outcomes(root: Section, draft: Draft) -> None:
    table = root.table("outcomes")
    if table is None:
        return
    draft.origins.put("/outcomes", table.spot)
    for name in local_names(root, table, "outcome", MOST_OUTCOMES):
        entry = table.entries[name]
        draft.origins.put(f"/outcomes/{name}", entry.value.spot)
        if isinstance(entry.value, Broken):
            draft.unread.add(f"outcomes/{name}")
        else:
            draft.outcomes[name] = entry.value.to_json()


def _operations(root: Section, draft: Draft, catalogue: Catalogue) -> None:
    table = root.table("operations", required=False)
    if table is None:
        return
    draft.origins.put("/operations", table.spot)
    reader = OperationReader(draft, catalogue)
    for name in local_names(root, table, "operation", MOST_OPERATIONS, 0):
        tree = table.entries[name].value
        draft.origins.put(f"/operations/{name}", tree.spot)
        if not isinstance(tree, Table):
            root.table_needed(tree, "an operation")
            draft.unread.add(f"operations/{name}")
            continue
        section = Section(tree, root.report, "an operation")
        operation = reader.read(section)
        section.close()
        if operation is None:
            draft.unread.add(f"operations/{name}")
        else:
            draft.operations[name] = operation


def _triggers(root: Section, draft: Draft, mappings: MappingReader) -> None:
    table = root.table("triggers", required=False)
    if table is None:
        return
    for name in local_names(root, table, "trigger", MOST_TRIGGERS, 0):
        tree = table.entries[name].value
        at = f"/triggers/{name}"
        draft.origins.put(at, tree.spot)
        if not isinstance(tree, Table):
            root.table_needed(tree, "a trigger")
            continue
        section = Section(tree, root.report, "a trigger")
        event = section.text("event", EXTERNAL_ID)
        source = section.text("source", EXTERNAL_ID, required=False)
        schema = _schema(section, "schema", draft, f"{at}/schema")
        mapping = mappings.read(section, "input", f"{at}/input")
        section.close()
        if event is not None and mapping is not None and not section.broken:
            draft.triggers[name] = Trigger(
                event=event, source=source, event_schema=schema, input=mapping
            )


def read_steps(
    root: Section, draft: Draft, read: Callable[[str, Section], n.AnyNode | None]
) -> None:
    """What both project formats share: the table of steps, each one read by its format.

    ``read`` takes a step's name and its section, and gives None after a finding.
    """
    table = root.table("steps")
    if table is None:
        draft.unread.add("steps/")
        return
    draft.origins.put("/nodes", table.spot)
    for name in local_names(root, table, "step", MOST_STEPS):
        entry = table.entries[name]
        draft.origins.put(f"/nodes/{name}", entry.key)
        if name == "input":
            message = "a step may not be called `input`"
            root.refuse("coordinator.definition.step", entry.key, message)
        node = None
        if isinstance(entry.value, Table):
            node = read(name, Section(entry.value, root.report, "this step"))
        else:
            root.table_needed(entry.value, "a step")
        if node is None:
            draft.unread.add(f"steps/{name}")
        else:
            draft.nodes[name] = node
