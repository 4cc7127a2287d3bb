"""The process of a simulation, ``python -m adapter.simulation``: a plan is played on a port."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from adapter.errors import exit_code_of, told
from adapter.listening import listen_on_loopback
from adapter.simulation.plan import SimulationPlan
from adapter.simulation.playing import Playing
from adapter.simulation.server import server_for
from adapter.simulation.store import Store
from interpreter.errors import CoordinatorError


def main() -> int:
    """Serve until a signal; gives the exit code."""
    parser = argparse.ArgumentParser(prog="adapter.simulation", description=__doc__)
    parser.add_argument("--plan", type=Path, required=True, help="what to play")
    parser.add_argument("--state", type=Path, required=True, help="folder of the memory")
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    try:
        plan = SimulationPlan.read(given.plan)
        with closing(Store(given.state / "state.db")) as store:
            listener = listen_on_loopback(given.port, code="simulation.port-taken")
            server_for(Playing(plan, store)).run(sockets=[listener])
    except CoordinatorError as error:
        sys.stderr.write(told(error))
        return exit_code_of(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
