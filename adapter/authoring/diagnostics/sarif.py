"""Findings as a SARIF 2.1.0 log, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote

from activities.yaml.sources import Spot
from adapter.authoring.diagnostics.codes import CODES
from adapter.authoring.diagnostics.diagnostic import Diagnostic
from adapter.authoring.diagnostics.text import file_path
from interpreter.contract.values import JsonValue

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_TOOL = "coordinatorctl"


def render_sarif(diagnostics: Iterable[Diagnostic], *, folder: str = "") -> str:
    """One run with a rule for each code that was found."""
    found = list(diagnostics)
    codes = sorted({one.code for one in found})
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": _TOOL, "rules": [_rule(code) for code in codes]}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, codes, folder) for one in found],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str) -> JsonValue:
    entry = CODES.get(code)
    if entry is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": entry.summary},
        "help": {"text": entry.remedy},
        "defaultConfiguration": {"level": entry.severity.value},
    }


def _result(one: Diagnostic, codes: list[str], folder: str) -> JsonValue:
    related = [
        {**_location(two.spot, folder), "message": {"text": two.message}} for two in one.related
    ]
    return {
        "ruleId": one.code,
        "ruleIndex": codes.index(one.code),
        "level": one.severity.value,
        "message": {"text": f"{one.message} ({one.remedy})"},
        "locations": [_location(one.spot, folder)],
        **({"relatedLocations": related} if related else {}),
    }


def _location(spot: Spot, folder: str) -> dict[str, JsonValue]:
    location: dict[str, JsonValue] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file_path(spot, folder))},
            "region": {
                "startLine": spot.line,
                "startColumn": spot.column,
                "endColumn": spot.column + spot.length,
            },
        }
    }
    if spot.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": spot.pointer}]
    return location
