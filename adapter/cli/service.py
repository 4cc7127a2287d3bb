"""The command `coordinator`: the processes of a deployment, the service and its workers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from adapter.cli.entries import Entry, run_program

_PROGRAM = "coordinator"
_HELP = "The processes of a deployment."

_ENTRIES = {
    "serve": Entry("adapter.cli.processes", "serve", "Serve the HTTP API"),
    "worker": Entry("adapter.cli.processes", "worker", "Run workflows and their calls"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `coordinator`; gives the exit code."""
    return run_program(_PROGRAM, _HELP, _ENTRIES, arguments)


if __name__ == "__main__":
    sys.exit(main())
