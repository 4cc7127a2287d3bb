"""The settings of a deployment: runtime.yaml, secret references, the environment, logs.

The only room that reads the environment. Every program of the adapter is built from the frozen
`Runtime` that `load_runtime` gives; what is wrong with a file is reported whole, never value by
value, because a value may be a secret.
"""

from __future__ import annotations

from adapter.config.connections import ConfiguredConnections
from adapter.config.document import Caller, Connection, RuntimeDocument
from adapter.config.findings import ConfigurationError, Finding
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.config.secrets import SecretStore

__all__ = [
    "Caller",
    "ConfigurationError",
    "ConfiguredConnections",
    "Connection",
    "Finding",
    "Runtime",
    "RuntimeDocument",
    "SecretStore",
    "find_runtime",
    "load_runtime",
]
