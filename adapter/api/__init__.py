"""The HTTP service for applications and operators: the only room that imports FastAPI.

It is built from the ports in `ports.py`; `adapter.wiring` gives it the real ones.
"""

from __future__ import annotations

from adapter.access import Owner, Scope
from adapter.api.app import Service, create_app
from adapter.api.codec import Codec, PayloadDesk, WirePayload
from adapter.api.limits import malformed_request
from adapter.api.messages import (
    CloudEvent,
    EventRequest,
    EventSource,
    SignalDesk,
    SignalView,
    SignalWish,
    SignedMessage,
)
from adapter.api.ports import (
    ActDesk,
    ActView,
    ActWish,
    AdmissionRequest,
    Admitted,
    Attestation,
    Diagnosis,
    EffectView,
    EventView,
    Executions,
    Finding,
    HoldView,
    Inspection,
    Oversight,
    ReviewView,
    RunBook,
    RunFilter,
    RunPage,
    RunView,
    StepView,
    WaitView,
    WorkflowView,
)
from adapter.api.signatures import webhook_key, webhook_of

__all__ = [
    "ActDesk",
    "ActView",
    "ActWish",
    "AdmissionRequest",
    "Admitted",
    "Attestation",
    "CloudEvent",
    "Codec",
    "Diagnosis",
    "EffectView",
    "EventRequest",
    "EventSource",
    "EventView",
    "Executions",
    "Finding",
    "HoldView",
    "Inspection",
    "Oversight",
    "Owner",
    "PayloadDesk",
    "ReviewView",
    "RunBook",
    "RunFilter",
    "RunPage",
    "RunView",
    "Scope",
    "Service",
    "SignalDesk",
    "SignalView",
    "SignalWish",
    "SignedMessage",
    "StepView",
    "WaitView",
    "WirePayload",
    "WorkflowView",
    "create_app",
    "malformed_request",
    "webhook_key",
    "webhook_of",
]
