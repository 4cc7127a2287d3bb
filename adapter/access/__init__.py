"""Who may call: tokens and API keys told apart, verified, counted, and turned into callers.

Nothing here knows of HTTP routes; `adapter.api` asks for the caller of a request.
"""

from __future__ import annotations

from adapter.access.callers import API_KEYS, Caller, Owner, Scope
from adapter.access.gate import KEY_HEADER, TOKEN_HEADER, Credentials
from adapter.access.key_sets import ABSENT, Fetch
from adapter.access.live import LiveAccess, Trouble
from adapter.access.refusals import RETRY_SECONDS, CallRefused, too_many

__all__ = [
    "ABSENT",
    "API_KEYS",
    "KEY_HEADER",
    "RETRY_SECONDS",
    "TOKEN_HEADER",
    "CallRefused",
    "Caller",
    "Credentials",
    "Fetch",
    "LiveAccess",
    "Owner",
    "Scope",
    "Trouble",
    "too_many",
]
