"""Ports of this machine: which are free, and what to say when one is not."""

from __future__ import annotations

import socket

from adapter.embedded.errors import EmbeddedError

__all__ = ["LOOPBACK", "free_port", "port_is_free", "require_port"]

LOOPBACK = "127.0.0.1"


def port_is_free(port: int) -> bool:
    """Say whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do, so that a port in TIME_WAIT counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except (OSError, OverflowError):
            return False
    return True


def free_port(preferred: int | None = None) -> int:
    """Give `preferred` if it is free, else a port the system picks. Nothing reserves it."""
    if preferred is not None and port_is_free(preferred):
        return preferred
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def require_port(port: int, purpose: str) -> int:
    """Give `port` back, or raise `embedded.port-taken` with its address and what it was for."""
    if not port_is_free(port):
        raise EmbeddedError(
            "embedded.port-taken",
            f"the port for {purpose} can not be used",
            "stop what listens there, name another port from 1024 to 65535, or name none",
            place=f"{LOOPBACK}:{port}",
        )
    return port
