"""The control routes of a simulation, as the commands use them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from adapter.cli.service_client import ask_open
from adapter.config.document import RuntimeDocument
from adapter.config.loading import load_runtime
from adapter.config.location import find_runtime
from adapter.errors import Usage
from adapter.simulation import PREFIX
from interpreter.contract.values import JsonValue


@dataclass(frozen=True, slots=True)
class SimulationClient:
    """The author's side of the simulation at ``origin``."""

    origin: str

    @staticmethod
    def find(runtime: Path | None) -> SimulationClient:
        """The simulation of a development deployment; Usage ``simulation.absent``."""
        origin = simulation_of(load_runtime(find_runtime(runtime)).document)
        if origin is None:
            raise Usage(
                "simulation.absent",
                "the products of this deployment are not simulated",
                place="--runtime",
                remedy="run `coordinatorctl dev PROJECT`, and name its runtime file",
            )
        return SimulationClient(origin)

    def complete(self, **asked: JsonValue) -> dict[str, Any]:
        """Complete a pending result: ``name``, and ``value``, ``members`` or ``gone``."""
        done: dict[str, Any] = self._ask("POST", "/control/completions", asked)
        return done

    def fail(self, failure: str) -> dict[str, Any]:
        """Let a step fail; gives everything that is set."""
        state: dict[str, Any] = self._ask("POST", "/control/failures", {"set": failure})
        return state

    def clear(self, step: str = "") -> dict[str, Any]:
        """Let a step, or every step, work again."""
        state: dict[str, Any] = self._ask("POST", "/control/failures", {"clear": step})
        return state

    def state(self) -> dict[str, Any]:
        """Awaited results, failures and latest requests."""
        state: dict[str, Any] = self._ask("GET", "/control/state")
        return state

    def _ask(self, method: str, path: str, body: JsonValue = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        return ask_open(self.origin, method, path, data)


def simulation_of(document: RuntimeDocument) -> str | None:
    """The origin of the simulation that a deployment's connections lead to, None without one."""
    for connection in document.connections.values():
        parts = urlsplit(connection.base_url)
        if document.mode == "development" and parts.path.startswith(f"{PREFIX}/"):
            return f"{parts.scheme}://{parts.netloc}"
    return None
