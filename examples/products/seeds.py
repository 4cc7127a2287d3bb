"""The records and directory entries that a fresh process of pretend products starts with."""

from __future__ import annotations

from typing import Any

from examples.products.directory import Directory
from examples.products.registry import Registry
from examples.products.store import Store


def _application(name: str, email: str | None, purpose: str, **fields: Any) -> dict[str, Any]:
    return {
        "status": "submitted",
        "complete": True,
        "missing": [],
        "applicant": {"name": name, "email": email, "phone": "+43 1 555 01 00", "locale": "en"},
        "purpose": purpose,
        "submittedAt": "2026-03-02T09:30:00Z",
        **fields,
    }


#: One record for each way an application can go; the README of this folder says which is which.
RECORDS: dict[str, dict[str, dict[str, Any]]] = {
    "applications": {
        "APP-1001": _application(
            "Maya Lindqvist", "maya.lindqvist@example.org", "Open a bakery on Mill Street"
        ),
        "APP-1002": _application(
            "Tomas Okafor",
            "tomas.okafor@example.org",
            "Extend the opening hours of a library café",
            complete=False,
            missing=["floor plan", "proof of address"],
        ),
        "APP-1003": _application(
            "Ines Haddad", "ines.haddad@suppressed.example", "Hold a weekly market"
        ),
        "APP-1004": _application(
            "Jonas Weber", "jonas.weber@example.org", "Put up a shop sign", status="approved"
        ),
        "APP-1005": _application("Aiko Tanaka", None, "Run a repair workshop"),
    },
    "people": {
        "PER-2001": {"name": "Ruth Adeyemi", "role": "reviewer", "office": "licensing"},
        "PER-2002": {"name": "Samuel Costa", "role": "reviewer", "office": "planning"},
    },
    "cases": {},
}

DIRECTORY: dict[str, tuple[int, Any]] = {
    "offices": (
        200,
        {
            "items": [
                {"id": "licensing", "name": "Licensing office", "city": "Linz"},
                {"id": "planning", "name": "Planning office", "city": "Graz"},
            ]
        },
    ),
    "offices/licensing": (200, {"id": "licensing", "name": "Licensing office", "city": "Linz"}),
    "closed": (410, {"error": "gone"}),
}


def plant(store: Store, registry: Registry, directory: Directory) -> None:
    """Write the seed data, unless this state has been planted before."""
    if store.run("INSERT OR IGNORE INTO marks VALUES ('planted', 1)") == 0:
        return
    with store.transaction():
        for collection, records in RECORDS.items():
            for record_id, fields in records.items():
                registry.put(collection, record_id, fields)
        for path, (status, body) in DIRECTORY.items():
            directory.put(path, status, body)
