"""The deployment that is measured: its keys, its ledger and its connections, in every process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from activities.credentials import Anonymous
from activities.credentials.attempt import Authorization
from adapter.crypto import KeyRing, Sealer, new_secret
from adapter.embedded import SERVICE_ROLE
from adapter.ledger import Admission, Ledger, Package, Packages, migrate
from benchmarks.cases import CONNECTIONS, RUN_INPUT, Case, contract_of
from interpreter.contract.runs import StartRun
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Labels

LEDGER_CONNECTIONS = 16
"""Of each process. A transaction takes a few milliseconds, so these serve fifty runs at once."""

_DEPLOYMENT = "benchmark"
_CALLER = "benchmark"
_ENVIRONMENT = {
    "ledger_url": "COORDINATOR_BENCHMARK_LEDGER",
    "sealing_key": "COORDINATOR_BENCHMARK_SEALING_KEY",
    "admission_key": "COORDINATOR_BENCHMARK_ADMISSION_KEY",
}


@dataclass(frozen=True, slots=True, repr=False)
class Access:
    """How the processes of a benchmark reach the same ledger; it holds secrets."""

    ledger_url: str
    sealing_key: str
    admission_key: str

    @staticmethod
    def to(ledger_url: str) -> Access:
        """Access with fresh keys."""
        return Access(ledger_url, new_secret().decode(), new_secret().decode())

    @staticmethod
    def from_environment() -> Access:
        """What ``environment`` handed to this process; KeyError if it did not."""
        return Access(**{name: os.environ[variable] for name, variable in _ENVIRONMENT.items()})

    def environment(self) -> dict[str, str]:
        """The environment of a process that is to have this access."""
        return {variable: getattr(self, name) for name, variable in _ENVIRONMENT.items()}

    @property
    def keys(self) -> KeyRing:
        """The deployment's keys."""
        return KeyRing.from_secrets(
            {1: self.sealing_key.encode()}, {1: self.admission_key.encode()}
        )

    @asynccontextmanager
    async def ledger(self) -> AsyncIterator[Ledger]:
        """The ledger, connected."""
        keys, sealer = self.keys, Sealer(self.keys, _DEPLOYMENT)
        async with await Ledger.open(
            self.ledger_url, sealer, keys, pool_size=LEDGER_CONNECTIONS
        ) as ledger:
            yield ledger


async def prepare(access: Access, owner_url: str, cases: Sequence[Case]) -> None:
    """Bring the database to the schema, and activate the definition of every case."""
    await migrate(owner_url, SERVICE_ROLE)
    async with Packages.open(owner_url, access.keys, _DEPLOYMENT) as packages:
        for case in cases:
            definition = case.definition
            package = Package(definition.revision, definition, Labels(version="1"))
            await packages.apply(package, _CALLER)


async def admitted(ledger: Ledger, case: Case, count: int, keys: str) -> list[StartRun]:
    """Admit runs of a case under ``keys`` and a number; what Temporal is given to start them."""
    room = asyncio.Semaphore(LEDGER_CONNECTIONS)

    async def admit(number: int) -> StartRun:
        admission = Admission(
            _CALLER,
            "",
            case.definition.id,
            f"{keys}-{number}",
            case.definition.revision,
            RUN_INPUT,
        )
        async with room:
            start = (await ledger.admissions.admit(admission)).start
        assert start is not None, "a fresh key has a start to be made"
        return start

    return await asyncio.gather(*(admit(number) for number in range(count)))


class ProductConnections:
    """``ports.Connections`` to the one product, without credentials."""

    def __init__(self, base_url: str) -> None:
        self._settings: dict[str, JsonValue] = {
            CONNECTIONS["read"]: {
                "baseUrl": base_url,
                "product": contract_of("read").product,
                "profile": "caseworker",
            },
            CONNECTIONS["effect"]: {
                "baseUrl": base_url,
                "product": contract_of("effect").product,
            },
        }

    def settings(self, connection: str) -> JsonValue:
        """Base address and product settings."""
        return self._settings[connection]

    def authorization(self, connection: str, *, observing: bool = False) -> Authorization:
        """Anonymous: the product wants no credential."""
        return Anonymous()

    async def tls(self, connection: str) -> None:
        """None: the product speaks plain HTTP."""
        return
