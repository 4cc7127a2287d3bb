"""Names that lead somewhere: start, transitions, outcomes, connections and what nobody uses."""

from __future__ import annotations

from activities.catalogue.catalogue import Catalogue
from adapter.authoring.check.routes import Routes
from adapter.authoring.check.shapes import of_schema
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Draft
from interpreter.definition import nodes as n


def check_names(draft: Draft, catalogue: Catalogue, report: Report) -> None:
    """Report every name that leads nowhere."""
    _connections(draft, catalogue, report)
    declared = draft.declared("steps")
    if draft.start and draft.start not in declared:
        message = f"start names step `{draft.start}`, which is not declared"
        remedy = suggestion(draft.start, declared)
        report.add("coordinator.definition.shape", draft.origins.find("/start"), message, remedy)
    for name, node in draft.nodes.items():
        for outlet, target in node.outlets.items():
            if target not in declared:
                message = f"step `{target}` is not declared"
                spot = draft.origins.find(f"/nodes/{name}/outlets/{outlet}")
                remedy = suggestion(target, declared)
                report.add("coordinator.definition.target", spot, message, remedy)


def check_outcomes(draft: Draft, report: Report) -> None:
    """Report finishes without a declared outcome, and outcomes without a finish."""
    declared = draft.declared("outcomes")
    used = set()
    for name, node in draft.nodes.items():
        if not isinstance(node, n.FinishNode):
            continue
        used.add(node.outcome)
        spot = draft.origins.find(f"/nodes/{name}/outcome")
        if node.outcome not in declared:
            message = f"outcome `{node.outcome}` is not declared"
            remedy = suggestion(node.outcome, declared)
            report.add("coordinator.definition.outcome", spot, message, remedy)
        elif node.output is None and node.outcome in draft.outcomes:
            if not of_schema(draft.outcomes[node.outcome]).can_be("null"):
                message = f"this finish has no output, but outcome `{node.outcome}` needs one"
                remedy = "add an `output`, or let the outcome's schema accept null"
                report.add("coordinator.definition.outcome", spot, message, remedy)
    if not draft.whole:
        return
    for outcome in draft.outcomes:
        if outcome not in used:
            spot = draft.origins.find(f"/outcomes/{outcome}")
            message = f"no finish has the outcome `{outcome}`"
            remedy = "finish with it, or remove it"
            report.add("coordinator.definition.outcome", spot, message, remedy)


def check_routes(draft: Draft, routes: Routes, report: Report) -> None:
    """Report steps that no route reaches and steps that lead back to each other."""
    if not draft.whole:
        return
    for cycle in routes.cycles():
        shown = " → ".join(f"`{name}`" for name in [*cycle, cycle[0]])
        spot = draft.origins.find(f"/nodes/{cycle[0]}")
        report.add("coordinator.definition.cycle", spot, f"steps lead in a circle: {shown}")
    reached = routes.reached()
    targets = {target for node in draft.nodes.values() for target in node.outlets.values()}
    if not targets | {draft.start} <= set(draft.nodes):
        # A transition that leads nowhere may have been meant for any step.
        return
    for name in draft.nodes:
        if name not in reached:
            spot = draft.origins.find(f"/nodes/{name}")
            message = f"no route leads to step `{name}`"
            report.add("coordinator.definition.unreachable", spot, message)


def _connections(draft: Draft, catalogue: Catalogue, report: Report) -> None:
    products = {contract.product for contract in catalogue.contracts()}
    used = {operation.connection for operation in draft.operations.values()}
    complete = not any(one.startswith(("operations/", "steps/")) for one in draft.unread)
    for name, product in draft.connections.items():
        spot = draft.origins.find(f"/connections/{name}")
        if product not in products:
            message = f"no operation of the catalogue has the product of connection `{name}`"
            remedy = suggestion(product, products)
            report.add("coordinator.definition.connection", spot, message, remedy)
        elif draft.warn_unused and complete and name not in used:
            message = f"no operation uses connection `{name}`"
            report.add("coordinator.definition.unused-connection", spot, message)
    if not (draft.warn_unused and complete):
        return
    called = {node.operation for node in draft.nodes.values() if isinstance(node, n.CallNode)}
    for alias in draft.operations:
        if alias not in called:
            spot = draft.origins.find(f"/operations/{alias}")
            message = f"no step calls operation `{alias}`"
            report.add("coordinator.definition.unused-operation", spot, message)
