"""One good input for each standard operation."""

from __future__ import annotations

from typing import Any

MESSAGE: dict[str, Any] = {
    "senderProfile": "notices",
    "to": {"email": "maya.lindqvist@example.org"},
    "template": {"id": "decision", "version": "1"},
    "locale": "en",
    "data": {"name": "Maya"},
}
APPOINTMENT: dict[str, Any] = {
    "appointment": {
        "hold": None,
        "admission": {
            "offering": "counter",
            "start": "2030-01-07T09:00:00Z",
            "party": {"recipients": 1, "attendees": 1},
            "duplicateKey": "APP-1001",
        },
    }
}
QUESTIONS: dict[str, Any] = {
    "state": {"purpose": "bakery"},
    "questions": {
        "harmless": {"type": "predicate", "instructions": "Is it harmless?"},
        "kind": {
            "type": "choice",
            "instructions": "What is it?",
            "criteria": {"shop": "sells things", "market": "many sell things"},
        },
        "effort": {
            "type": "score",
            "instructions": "How much work is it?",
            "criteria": ["little", "some", "much"],
        },
    },
}
OUTCOME: dict[str, Any] = {
    "action": "record-outcome",
    "input": {"applicationId": "APP-1001", "outcome": "approved"},
}
INPUTS: dict[str, Any] = {
    "breg.read-record/v1": {"collection": "applications", "recordId": "APP-1001"},
    "breg.invoke-action/v1": OUTCOME,
    "casework.submit-review-request/v1": {"subject": {"applicationId": "APP-1001"}},
    "casework.read-review-request/v1": {"reviewRequestId": "r-1"},
    "casework.withdraw-review-request/v1": {"reviewRequestId": "r-1", "reason": "late"},
    "messaging.submit-message/v1": MESSAGE,
    "scheduling.read-scheduling/v1": {},
    "scheduling.read-availability/v1": {
        "offering": "counter",
        "start": "2030-01-07T00:00:00Z",
        "end": "2030-01-09T00:00:00Z",
        "limit": 5,
    },
    "scheduling.create-appointment/v1": APPOINTMENT,
    "evaluation.evaluate/v1": QUESTIONS,
    "external.get/v1": {"path": "offices"},
}
