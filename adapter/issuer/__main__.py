"""The process of the development issuer, ``python -m adapter.issuer``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adapter.errors import exit_code_of, told
from adapter.issuer.application import server_for
from adapter.issuer.folder import IssuerFolder
from adapter.listening import listen_on_loopback
from interpreter.errors import CoordinatorError


def main() -> int:
    """Serve until a signal, or rotate the signing key of a running one; gives the exit code."""
    parser = argparse.ArgumentParser(prog="adapter.issuer", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="keys and clients")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free port")
    parser.add_argument("--rotate", action="store_true", help="sign with a new key from now on")
    given = parser.parse_args()
    try:
        if given.rotate:
            sys.stdout.write(f"{IssuerFolder(given.folder).rotate()}\n")
            return 0
        listener = listen_on_loopback(given.port, code="issuer.port-taken")
        server_for(given.folder, listener).run(sockets=[listener])
    except CoordinatorError as error:
        sys.stderr.write(told(error))
        return exit_code_of(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
