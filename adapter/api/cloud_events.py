"""CloudEvents 1.0 in JSON's structured mode: the attributes that a trigger looks at."""

from __future__ import annotations

import re
from typing import Any

from adapter.api.messages import CloudEvent
from adapter.api.problems import refused
from adapter.errors import Refused
from interpreter.contract.schemas import validator
from interpreter.contract.values import JsonValue

_TEXT = {"type": "string", "minLength": 1, "maxLength": 512}
_ABSENT_OR_TEXT = {**_TEXT, "type": ["string", "null"]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"const": "1.0"},
        "id": _TEXT,
        "source": {**_TEXT, "format": "uri-reference"},
        "type": _TEXT,
        "subject": _ABSENT_OR_TEXT,
        "time": {**_ABSENT_OR_TEXT, "format": "date-time"},
        "dataschema": {**_ABSENT_OR_TEXT, "format": "uri"},
        "datacontenttype": _ABSENT_OR_TEXT,
        "data": {},
        "data_base64": {"type": "null"},
    },
    "propertyNames": {"pattern": "^([a-z0-9]+|data_base64)$"},
    "additionalProperties": {"type": ["string", "integer", "boolean", "null"]},
}
"""The form of an event, for the OpenAPI document too; extensions are allowed and not looked at."""

_JSON_TYPE = re.compile(r"[^/\s]+/(?:[^;\s]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
_CHECK = validator(SCHEMA)


def cloud_event(value: JsonValue) -> CloudEvent:
    """The event; Refused ``event.malformed`` with the pointer of what is no CloudEvent.

    A null attribute is an absent one (CloudEvents JSON format, section 2.2), and data has to be
    JSON: bytes in ``data_base64`` are refused.
    """
    error = next(_CHECK.iter_errors(value), None)
    if error is not None:
        # An extension's name is the sender's own: only attributes of the form are named.
        known = [part for part in error.absolute_path if part in SCHEMA["properties"]]
        raise _malformed("".join(f"/{part}" for part in known))
    content = value.get("datacontenttype")
    if content is not None and _JSON_TYPE.fullmatch(content) is None:
        raise _malformed("/datacontenttype")
    return CloudEvent(
        id=value["id"],
        source=value["source"],
        type=value["type"],
        subject=value.get("subject") or "",
        data=value.get("data"),
    )


def _malformed(place: str) -> Refused:
    return refused(
        "event.malformed",
        "the body is no CloudEvent 1.0 with JSON data",
        place=place or "/",
        remedy="send specversion 1.0 with id, source, type and data, in the structured JSON form",
    )
