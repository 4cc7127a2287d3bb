"""What a simulated registry says about its actions before one is invoked."""

from __future__ import annotations

from adapter.simulation.bindings import PROFILE
from adapter.simulation.source import calls_of, names_at, texts_at
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition
from interpreter.definition.nodes import REFUSAL_OUTLET

_OPERATION = "breg.invoke-action/v1"
_MOST_ACTIONS = 32


def description(definition: Definition, refusals: list[str]) -> JsonValue:
    """Every action that the project can name, open to every input that it can send.

    ``refusals`` are codes that the author wants to see; those that a step routes are declared
    anyhow.
    """
    actions: dict[str, JsonValue] = {}
    for node in calls_of(definition, _OPERATION).values():
        routed = [
            outlet.removeprefix(REFUSAL_OUTLET)
            for outlet in node.outlets
            if outlet.startswith(REFUSAL_OUTLET)
        ]
        fields: JsonValue = {name: {} for name in names_at(definition, node.input, "input")}
        for name in texts_at(definition, node.input, "action")[:_MOST_ACTIONS]:
            known = actions.get(name, {"fields": {}, "noEffectRefusals": refusals})
            declared = dict.fromkeys([*known["noEffectRefusals"], *routed])
            actions[name] = {
                "kind": "immediate",
                "accessProfile": PROFILE,
                "fields": known["fields"] | fields,
                "conditionKeys": [],
                "noEffectRefusals": list(declared),
            }
    return {"revision": 1, "fingerprint": "simulated", "actions": actions}
