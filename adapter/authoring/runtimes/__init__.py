"""Runtime files beside a project: the public format's whole, our own as its deployment reads it."""

from adapter.authoring.runtimes.reading import (
    RuntimeReading,
    check_bindings,
    public_document,
    read_runtime,
)

__all__ = ["RuntimeReading", "check_bindings", "public_document", "read_runtime"]
