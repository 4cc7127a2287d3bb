"""The proof: one question a file, asked of a draft of any format."""

from __future__ import annotations

from activities.catalogue.catalogue import Catalogue
from activities.yaml.tree import Tree
from adapter.authoring.check.effects import check_effects
from adapter.authoring.check.functions import compile_functions
from adapter.authoring.check.names import check_names, check_outcomes, check_routes
from adapter.authoring.check.routes import Routes
from adapter.authoring.check.schemas import check_schemas
from adapter.authoring.check.uses import Uses
from adapter.authoring.check.values import Values
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.draft import Draft

__all__ = ["check_draft"]


def check_draft(draft: Draft, tree: Tree, catalogue: Catalogue, report: Report) -> None:
    """Ask every question; findings go to ``report``, none hides another's."""
    check_schemas(draft, tree, report)
    check_names(draft, catalogue, report)
    check_outcomes(draft, report)
    functions = compile_functions(draft, report)
    routes = Routes(draft.nodes, draft.start)
    check_routes(draft, routes, report)
    check_effects(draft, routes, report)
    values = Values(draft, routes, functions, report)
    Uses(draft, values, functions, report).check()
    if draft.warn_unused and draft.whole:
        functions.check_use(values.called, report)
