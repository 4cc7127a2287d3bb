"""What contracts allow: refusals to route, completions to wait for, and for how long."""

from __future__ import annotations

from activities.catalogue import ANY_REFUSAL
from adapter.authoring.check.outputs import Outputs
from adapter.authoring.check.routes import Routes
from adapter.authoring.diagnostics.diagnostic import Report
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Draft
from interpreter.contract.operations import EffectClass
from interpreter.definition import nodes as n


def check_effects(draft: Draft, routes: Routes, report: Report) -> None:
    """Report routed refusals and waits that the contracts do not know."""
    outputs = Outputs(draft)
    for name, node in draft.nodes.items():
        match node:
            case n.CallNode():
                _refusals(draft, name, node, outputs, report)
            case n.WaitNode(wait=n.ForCompletion() as wait):
                _timeout(draft, name, wait.timeout_seconds, report)
                _completion(draft, name, wait, outputs, routes, report)
            case n.WaitNode(wait=n.ForSignal() | n.ForApproval() as wait):
                _timeout(draft, name, wait.timeout_seconds, report)
            case _:
                pass


def _refusals(draft: Draft, name: str, node: n.CallNode, outputs: Outputs, report: Report) -> None:
    contract = outputs.contract_of(name)
    routed = [one for one in node.outlets if one.startswith(n.REFUSAL_OUTLET)]
    if contract is None or not routed:
        return
    at = f"/nodes/{name}/refusals"
    if contract.effect is not EffectClass.MUTATION:
        message = f"`{contract.id}` changes nothing, so it has no refusal to route"
        report.add("coordinator.refusal.not-an-action", draft.origins.find(at), message)
        return
    if ANY_REFUSAL in contract.refusals:
        return
    for outlet in routed:
        code = outlet.removeprefix(n.REFUSAL_OUTLET)
        if code not in contract.refusals:
            spot = draft.origins.find(f"{at}/{code}")
            message = f"`{contract.id}` does not declare this refusal"
            remedy = suggestion(code, contract.refusals) or "the contract declares none"
            report.add("coordinator.refusal.undeclared", spot, message, remedy)


def _timeout(draft: Draft, name: str, seconds: int, report: Report) -> None:
    if seconds >= draft.deadline_seconds:
        spot = draft.origins.find(f"/nodes/{name}/wait/timeoutSeconds")
        message = "the wait may last as long as the whole run"
        report.add("coordinator.wait.timeout", spot, message)


def _completion(
    draft: Draft,
    name: str,
    wait: n.ForCompletion,
    outputs: Outputs,
    routes: Routes,
    report: Report,
) -> None:
    spot = draft.origins.find(f"/nodes/{name}/wait/call")
    declared = draft.declared("steps")
    if wait.call not in declared:
        message = f"step `{wait.call}` is not declared"
        report.add("coordinator.wait.call", spot, message, suggestion(wait.call, declared))
        return
    call = draft.nodes.get(wait.call)
    if call is None:
        return
    if not isinstance(call, n.CallNode):
        message = f"step `{wait.call}` is no call"
        report.add("coordinator.wait.call", spot, message, "name a call step")
        return
    contract = outputs.contract_of(wait.call)
    if contract is not None and wait.completion not in contract.completions:
        place = draft.origins.find(f"/nodes/{name}/wait/completion")
        message = f"`{contract.id}` has no such completion"
        remedy = suggestion(wait.completion, contract.completions) or "it has none"
        report.add("coordinator.wait.completion", place, message, remedy)
    before = routes.before(name)
    if before is None or not draft.whole:
        return
    if before.get(wait.call) != frozenset({"next"}):
        message = f"call `{wait.call}` was not accepted on every route that leads here"
        report.add("coordinator.wait.call", spot, message)
