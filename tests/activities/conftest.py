"""Products over the pretend products, and a way to send one command with few words."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest_asyncio

from activities.catalogue import Catalogue
from activities.ports import Command
from activities.products import Products, Sent
from examples.products.client import PretendProducts
from interpreter.contract.operations import OperationContract
from tests.activities.connections import FixedConnections

EXTERNAL_SCHEMA = {"type": "object", "required": ["status", "body"]}


@dataclass
class Caller:
    """Sends commands of one catalogue; the connection of a product has the product's name."""

    products: Products
    connections: FixedConnections
    catalogue: Catalogue

    def contract(self, operation: str) -> OperationContract:
        """The contract of an operation."""
        return self.catalogue.find(operation).contract

    async def command(self, operation: str, input: Any) -> Command:
        """A prepared command."""
        contract = self.contract(operation)
        preparation = None
        if contract.preparation:
            preparation = await self.products.prepare(contract, contract.product, input)
        return Command(contract.product, operation, input, preparation)

    async def send(
        self, operation: str, input: Any, key: str | None = "key-1", seconds: float = 5
    ) -> Sent:
        """Prepare and send a command once."""
        return await self.resend(await self.command(operation, input), key, seconds)

    async def resend(self, command: Command, key: str | None = "key-1", seconds: float = 5) -> Sent:
        """Send a prepared command once."""
        contract = self.contract(command.operation)
        return await self.products.send(command, contract, key, time.monotonic() + seconds)


def caller_of(connections: FixedConnections, catalogue: Catalogue | None = None) -> Caller:
    """A caller over connections and a catalogue, the standard one by default."""
    catalogue = catalogue or Catalogue.standard()
    return Caller(Products(catalogue, connections), connections, catalogue)


@pytest_asyncio.fixture
async def caller(products: PretendProducts) -> AsyncIterator[Caller]:
    """A caller of the pretend products, which are fresh."""
    names = ("breg", "casework", "messaging", "scheduling", "evaluation", "external")
    settings: dict[str, dict[str, Any]] = {
        name: {"product": name, "baseUrl": products.url(name)} for name in names
    }
    settings["breg"]["profile"] = "reviewer"
    settings["evaluation"] |= {"protocol": "system-one", "model": "small"}
    settings["external"] |= {
        "paths": ["offices", "offices/licensing", "closed", "absent"],
        "queryParameters": ["city"],
        "responseSchema": EXTERNAL_SCHEMA,
    }
    caller = caller_of(FixedConnections(settings))
    yield caller
    await caller.products.aclose()
