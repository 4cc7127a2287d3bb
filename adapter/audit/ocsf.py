"""Records of the journal as events of the Open Cybersecurity Schema Framework, class API Activity.

The attributes are those of class 6003 and of the objects in it, version 1.3.0. What has no place
there (hashes, keyed references, details) stands under ``unmapped``, whole.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from adapter.audit.export import Included, Sealed, record_json
from adapter.audit.records import Record
from interpreter.contract.values import JsonValue

VERSION: Final = "1.3.0"
_CLASS: Final = 6003
_CATEGORY: Final = 6
_INFORMATIONAL: Final = 1
_PRODUCT: Final = "coordinator"
_ACTIVITIES: Final = {"Create": 1, "Read": 2, "Update": 3, "Delete": 4, "Other": 99}
# By what happened, the last word of a record's kind.
_WORDS: Final = {
    "admitted": "Create",
    "recorded": "Create",
    "activated": "Create",
    "stored": "Create",
    "read": "Read",
    "decoded": "Read",
    "erased": "Delete",
    "withdrawn": "Delete",
}
_FAILED: Final = frozenset({"refused", "failed", "start-failed", "not-applied", "dropped"})
_UNCLEAR: Final = frozenset({"unknown", "asked", "recovery-required"})


def event(deployment: str, item: Record | Sealed | Included) -> dict[str, JsonValue]:
    """A record, or a checkpoint, as one event."""
    if isinstance(item, Record):
        return _record_event(deployment, item)
    return _checkpoint_event(deployment, item)


def _record_event(deployment: str, record: Record) -> dict[str, JsonValue]:
    word = record.kind.rpartition(".")[2]
    run = record.chain if record.chain != "deployment" else None
    resource: dict[str, JsonValue] = {"type": "run", "uid": run}
    if run is None:
        resource = {"type": "deployment", "uid": deployment}
    members = record_json(record)
    unmapped: dict[str, JsonValue] = {
        name: members[name] for name in ("chain", "previous", "hash", "refs", "detail")
    }
    return {
        **_frame(deployment, record.kind, _WORDS.get(word, "Update"), record.recorded_at),
        **_status(word),
        "actor": _actor(record.refs),
        "metadata": {
            **_metadata(deployment, record.kind),
            "uid": f"{record.chain}/{record.sequence}",
            "sequence": record.sequence,
        },
        "resources": [resource],
        "unmapped": unmapped,
    }


def _checkpoint_event(deployment: str, item: Sealed | Included) -> dict[str, JsonValue]:
    kind, checkpoint = "journal.checkpoint", item.checkpoint
    heads = item.heads if isinstance(item, Sealed) else [item.head]
    leaves: list[JsonValue] = [[head.chain, head.sequence, head.head.hex()] for head in heads]
    return {
        **_frame(deployment, kind, "Other", checkpoint.signed_at),
        **_status("signed"),
        "actor": {"app_name": _PRODUCT},
        "metadata": {
            **_metadata(deployment, kind),
            "uid": f"checkpoint/{checkpoint.number}",
            "sequence": checkpoint.number,
        },
        "resources": [{"type": "deployment", "uid": deployment}],
        "unmapped": {"checkpoint": checkpoint.to_json(), "heads": leaves},
    }


def _frame(deployment: str, kind: str, activity: str, at: datetime) -> dict[str, JsonValue]:
    number = _ACTIVITIES[activity]
    return {
        "activity_id": number,
        "activity_name": activity if number != _ACTIVITIES["Other"] else kind,
        "category_uid": _CATEGORY,
        "category_name": "Application Activity",
        "class_uid": _CLASS,
        "class_name": "API Activity",
        "type_uid": _CLASS * 100 + number,
        "severity_id": _INFORMATIONAL,
        "severity": "Informational",
        "time": int(at.timestamp() * 1000),
        "api": {"operation": kind, "service": {"name": _PRODUCT, "uid": deployment}},
        "src_endpoint": {"name": deployment, "svc_name": _PRODUCT},
    }


def _metadata(deployment: str, kind: str) -> dict[str, JsonValue]:
    return {
        "version": VERSION,
        "product": {"name": _PRODUCT, "vendor_name": _PRODUCT},
        "event_code": kind,
        "log_name": "audit journal",
        "log_provider": deployment,
    }


def _status(word: str) -> dict[str, JsonValue]:
    if word in _FAILED:
        return {"status_id": 2, "status": "Failure"}
    if word in _UNCLEAR:
        return {"status_id": 0, "status": "Unknown"}
    return {"status_id": 1, "status": "Success"}


def _actor(refs: JsonValue) -> dict[str, JsonValue]:
    """The keyed reference of who acted; the program itself where nobody asked it to."""
    known = refs if isinstance(refs, dict) else {}
    reference = known.get("actor", known.get("owner"))
    return {"app_name": _PRODUCT} if reference is None else {"user": {"uid": reference}}
