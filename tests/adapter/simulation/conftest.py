"""A simulation on a real socket, called by the very code that calls products."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from activities.catalogue import Catalogue
from activities.ports import Command
from activities.products import Products
from activities.products.outcomes import Sent
from adapter.cli.authored import Authored, Wishes, read_authored
from adapter.cli.simulation_client import SimulationClient
from adapter.cli.terminal import Terminal
from adapter.config.connections import ConfiguredConnections
from adapter.config.document import Connection
from adapter.config.secrets import SecretStore
from adapter.listening import listen_on_loopback
from adapter.simulation import SimulationPlan, connection_documents
from adapter.simulation.playing import Playing
from adapter.simulation.server import server_for
from adapter.simulation.store import Store

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "reviewed-notice"


@dataclass
class Simulated:
    """A running simulation of a project."""

    authored: Authored
    playing: Playing
    origin: str
    products: Products

    async def send(self, alias: str, input: Any, key: str = "key") -> Sent:
        """Call an operation of the project by its alias, as a worker does."""
        operation = self.authored.packaged.definition.operations[alias]
        contract, prepared = operation.contract, None
        if contract.preparation:
            prepared = await self.products.prepare(contract, operation.connection, input)
        command = Command(operation.connection, contract.id, input, prepared)
        return await self.products.send(command, contract, key, time.monotonic() + 5)

    async def receipt(self, alias: str, input: Any, key: str) -> Any:
        """Read the receipt of an operation's command."""
        operation = self.authored.packaged.definition.operations[alias]
        command = Command(operation.connection, operation.contract.id, input)
        return await self.products.read_receipt(command, operation.contract, key)

    async def control(self, act: Callable[[SimulationClient], Any]) -> Any:
        """Do something as a command does it, over HTTP."""
        return await asyncio.to_thread(act, SimulationClient(self.origin))

    @property
    def steps(self) -> list[str]:
        """The steps that the requests so far were taken to come from."""
        return [one.step for one in self.playing.seen]


@asynccontextmanager
async def simulate(project: Path, folder: Path, **wishes: Any) -> AsyncIterator[Simulated]:
    """Run the simulation of a project with its memory in ``folder``."""
    authored = read_authored(project, Wishes(**wishes), Terminal())
    file = folder / "plan.json"
    authored.plan.write(file)
    async with AsyncExitStack() as stack:
        store = stack.enter_context(closing(Store(folder / "state.db")))
        playing = Playing(SimulationPlan.read(file), store)
        listener = listen_on_loopback(0, code="simulation.port-taken")
        server = server_for(playing)
        serving = asyncio.create_task(server.serve([listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        documents = connection_documents(authored.packaged.definition, origin)
        catalogue = Catalogue.with_documents(authored.plan.catalogue)
        read = {name: Connection.model_validate(one) for name, one in documents.items()}
        products = Products(catalogue, ConfiguredConnections(read, SecretStore(None, {})))
        yield Simulated(authored, playing, origin, products)
        await products.aclose()
        server.should_exit = True
        await serving


@pytest.fixture
async def example(tmp_path: Path) -> AsyncIterator[Simulated]:
    """The simulation of the example."""
    async with simulate(EXAMPLE, tmp_path) as simulated:
        yield simulated
