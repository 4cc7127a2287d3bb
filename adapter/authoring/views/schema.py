"""The JSON Schema of workflow.yaml (``coordinator/v1``) that editors complete and check with."""

from __future__ import annotations

from adapter.authoring.formats.envelope import CURRENT, PROJECT_KIND
from adapter.authoring.formats.mappings import CONTEXT_PATHS, MOST_ARGUMENTS
from adapter.authoring.formats.project import (
    LONGEST_DEADLINE_SECONDS,
    MOST_CONNECTIONS,
    MOST_OPERATIONS,
    MOST_OUTCOMES,
    MOST_STEPS,
    MOST_TRIGGERS,
)
from adapter.authoring.formats.shape import LOCAL_ID, VERSION
from adapter.authoring.formats.steps import LONGEST_WAIT_SECONDS, MOST_CASES, MOST_REFUSALS
from interpreter.contract.values import JsonValue

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ID: JsonValue = {"$ref": "#/$defs/id"}
_MAPPING: JsonValue = {"$ref": "#/$defs/mapping"}
_SCHEMA: JsonValue = {"$ref": _DRAFT}
_TIMEOUT: JsonValue = {
    "type": "integer",
    "minimum": 1,
    "maximum": LONGEST_WAIT_SECONDS,
    "description": "Seconds, less than deadlineSeconds.",
}


def project_schema() -> dict[str, JsonValue]:
    """A JSON Schema of draft 2020-12; ``check`` refuses more than a schema can say."""
    return {
        "$schema": _DRAFT,
        "title": "A coordinator project",
        **_closed(
            {
                "apiVersion": {"const": CURRENT},
                "kind": {"const": PROJECT_KIND},
                "project": _project(),
                "input": _described(_SCHEMA, "What a run is started with."),
                "connections": _names(
                    {"type": "string"}, MOST_CONNECTIONS, "Logical connection -> product."
                ),
                "operations": _names(
                    _closed({"operation": _operation_id(), "connection": _ID}),
                    MOST_OPERATIONS,
                    "Alias -> an exact operation and the connection it is called on.",
                ),
                "functionsFile": {"const": "functions.rhai"},
                "deadlineSeconds": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": LONGEST_DEADLINE_SECONDS,
                },
                "triggers": _names(_trigger(), MOST_TRIGGERS, "Events that start a run."),
                "start": _described(_ID, "The first step."),
                "steps": _names(_steps(), MOST_STEPS, "Step -> what it does.", least=1),
                "outcomes": _names(
                    _SCHEMA, MOST_OUTCOMES, "Outcome -> what it publishes.", least=1
                ),
            },
            optional=("connections", "operations", "functionsFile", "triggers"),
        ),
        "$defs": {
            "id": {"type": "string", "pattern": _pattern(LOCAL_ID.pattern.pattern)},
            "pointer": {"type": "string", "pattern": "^(/([^~/]|~[01])*)*$"},
            "mapping": {"oneOf": _mappings()},
            "policy": _policy(),
        },
    }


def _pattern(text: str) -> str:
    return "^" + text.replace("\\Z", "$")


def _closed(
    properties: dict[str, JsonValue], optional: tuple[str, ...] = ()
) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _described(schema: JsonValue, description: str) -> JsonValue:
    return {**schema, "description": description}


def _names(value: JsonValue, most: int, description: str, least: int = 0) -> JsonValue:
    return {
        "type": "object",
        "propertyNames": _ID,
        "additionalProperties": value,
        "minProperties": least,
        "maxProperties": most,
        "description": description,
    }


def _operation_id() -> JsonValue:
    return {
        "type": "string",
        "pattern": "^[a-z][a-z0-9-]*\\.[a-z][a-z0-9-]*/v[1-9][0-9]*$",
        "examples": ["breg.read-record/v1"],
    }


def _project() -> JsonValue:
    return _closed(
        {
            "id": _ID,
            "version": {"type": "string", "pattern": _pattern(VERSION.pattern.pattern)},
            "title": {"type": "string", "maxLength": 200},
            "description": {"type": "string", "maxLength": 16_384},
        },
        optional=("title", "description"),
    )


def _trigger() -> JsonValue:
    return _closed(
        {
            "event": {"type": "string", "minLength": 1, "maxLength": 512},
            "source": {"type": "string", "minLength": 1, "maxLength": 512},
            "schema": _described(_SCHEMA, "The event's data."),
            "input": _described(_MAPPING, "The event's data to the workflow's input."),
        },
        optional=("source",),
    )


def _step(
    type_name: str, members: dict[str, JsonValue], optional: tuple[str, ...] = ()
) -> JsonValue:
    words: dict[str, JsonValue] = {
        "title": {"type": "string", "maxLength": 200},
        "description": {"type": "string", "maxLength": 16_384},
    }
    return _closed({"type": {"const": type_name}, **words, **members}, (*words, *optional))


def _steps() -> JsonValue:
    late = ("onTimeout", "onCancel")
    waited: dict[str, JsonValue] = {
        "timeoutSeconds": _TIMEOUT,
        "next": _ID,
        "onTimeout": _ID,
        "onCancel": _ID,
    }
    signal = _closed({"name": _ID, "schema": _SCHEMA})
    return {
        "oneOf": [
            _step(
                "call",
                {
                    "operation": _described(_ID, "An alias of `operations`."),
                    "input": _MAPPING,
                    "next": _ID,
                    "onDeclaredRefusal": {
                        "type": "object",
                        "additionalProperties": _ID,
                        "minProperties": 1,
                        "maxProperties": MOST_REFUSALS,
                        "description": "Declared refusal code -> step.",
                    },
                    "onFailed": _ID,
                    "policy": {"$ref": "#/$defs/policy"},
                },
                ("onDeclaredRefusal", "onFailed", "policy"),
            ),
            _step(
                "choose",
                {
                    "choose": _MAPPING,
                    "cases": _names(_ID, MOST_CASES, "Label -> step.", least=1),
                },
            ),
            _step("wait-until", {"waitUntil": _MAPPING, "next": _ID}),
            _step("wait-for", {"call": _ID, "completion": {"type": "string"}, **waited}, late),
            _step("wait-for", {"signal": signal, **waited}, late),
            _step("approve", {"plan": _MAPPING, **waited, "onRejected": _ID}, late),
            _step("finish", {"outcome": _ID, "output": _MAPPING}, ("output",)),
        ]
    }


def _policy() -> JsonValue:
    members: dict[str, JsonValue] = {
        "attempts": {"type": "integer", "minimum": 1, "maximum": 100},
        "attemptTimeoutSeconds": {"type": "number", "minimum": 0.1, "maximum": 3600},
        "retryDelaySeconds": {"type": "number", "minimum": 0.1, "maximum": 86_400},
        "retryGrowth": {"type": "number", "minimum": 1, "maximum": 10},
    }
    return _closed(members, tuple(members))


def _mappings() -> list[JsonValue]:
    pointer: JsonValue = {"$ref": "#/$defs/pointer"}
    several: JsonValue = {"type": "array", "items": _MAPPING}
    return [
        _closed({"input": pointer}),
        _closed({"step": _ID, "path": pointer}, ("path",)),
        _closed({"literal": True}),
        _closed({"object": {"type": "object", "additionalProperties": _MAPPING}}),
        _closed({"list": several}),
        _closed(
            {
                "function": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"},
                "arguments": {**several, "maxItems": MOST_ARGUMENTS},
            },
            ("arguments",),
        ),
        _closed({"context": {"enum": list(CONTEXT_PATHS)}}),
        _closed({"first": {**several, "minItems": 1}}),
        _closed({"type": {"const": "input"}}),
        _closed({"type": {"const": "step"}, "step": _ID}),
    ]
