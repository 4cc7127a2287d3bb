"""What goes wrong, and when: processes die or freeze, and products spoil their answers."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from activities.faults import POINTS
from adapter.wiring.api_process import AFTER_ADMISSION
from examples.products.client import PretendProducts
from tests.chaos.deployment import POSTGRES, SERVICE, TEMPORAL, WORKERS, Deployment

_SPOILED = [
    ("breg.read-record", "lost-response", 0.06, {}),
    ("breg.read-record", "status-5xx", 0.06, {}),
    ("breg.read-record", "slow", 0.04, {"seconds": 1.5}),
    ("evaluation.evaluate", "lost-response", 0.02, {}),
    ("evaluation.evaluate", "drop-before", 0.02, {}),
    ("casework.submit-review-request", "lost-response", 0.06, {}),
    ("casework.submit-review-request", "drop-before", 0.03, {}),
    ("casework.submit-review-request", "malformed", 0.02, {}),
    ("casework.submit-review-request", "rate-limited", 0.04, {}),
    ("casework.submit-review-request", "slow", 0.04, {"seconds": 2.5, "apply": True}),
    ("casework.read-review-request", "drop-before", 0.05, {}),
    ("casework.read-review-request", "status-5xx", 0.05, {}),
    ("casework.withdraw-review-request", "lost-response", 0.08, {}),
    ("messaging.submit-message", "lost-response", 0.08, {}),
    ("messaging.submit-message", "drop-before", 0.03, {}),
    ("messaging.submit-message", "status-5xx", 0.05, {}),
    ("messaging.submit-message", "slow", 0.05, {"seconds": 1.5, "apply": True}),
    ("messaging.read-receipt", "status-5xx", 0.1, {}),
]
"""Operation, fault, probability and settings; a spoiled answer may or may not have been applied."""

_KINDS = {
    "kill-worker": 30,
    "worker-at-point": 25,
    "freeze-worker": 10,
    "kill-service": 8,
    "service-after-admission": 7,
    "kill-postgres": 10,
    "kill-temporal": 10,
}


def spoil(products: PretendProducts, seed: int) -> None:
    """Put every product fault into force, with chances drawn from this seed."""
    for number, (operation, fault, probability, settings) in enumerate(_SPOILED):
        chance = {"probability": probability, "seed": seed * 1_000 + number}
        products.fault(operation, fault, **chance, **settings)


@dataclass
class Trouble:
    """Brings seeded trouble upon the processes of a deployment, one after another."""

    deployment: Deployment
    seed: int
    say: Callable[[str], None]
    done: Counter[str] = field(default_factory=Counter)
    _frozen: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def cause(self, times: int, gap: tuple[float, float]) -> None:
        """So many strokes, each some seconds (within ``gap``) after the one before."""
        chance = random.Random(f"{self.seed}:trouble")
        # Every kind has its turn before one comes again, so that a short run is no lucky one.
        kinds: list[str] = []
        for number in range(1, times + 1):
            await asyncio.sleep(chance.uniform(*gap))
            if not kinds:
                kinds = _shuffled(chance)
            kind = kinds.pop()
            self.say(f"fault {number} of {times}: {kind}")
            self.done[kind] += 1
            await self._strike(kind, chance)
        await asyncio.gather(*self._frozen.values())

    async def _strike(self, kind: str, chance: random.Random) -> None:
        down = chance.uniform(0.0, 2.5)
        name = chance.choice(WORKERS)
        point = chance.choice(POINTS)
        match kind:
            case "freeze-worker":
                self._freeze(name, chance.uniform(3.0, 14.0))
            case "kill-worker":
                await self._outage(name, down)
            case "worker-at-point":
                await self._outage(name, 0.0, point)
            case "kill-service":
                await self._outage(SERVICE, down)
            case "service-after-admission":
                await self._outage(SERVICE, 0.0, AFTER_ADMISSION)
            case "kill-postgres":
                await self._outage(POSTGRES, down)
            case "kill-temporal":
                await self._outage(TEMPORAL, down)

    async def _outage(self, name: str, seconds: float, fault: str = "") -> None:
        self.deployment.kill(name)
        await asyncio.sleep(seconds)
        await self.deployment.revive(name, fault)

    def _freeze(self, name: str, seconds: float) -> None:
        known = self._frozen.get(name)
        if known is None or known.done():
            freezing = self.deployment.freeze(name, seconds)
            self._frozen[name] = asyncio.create_task(freezing)


def _shuffled(chance: random.Random) -> list[str]:
    """Kinds by weight in random order; the last ones are all different."""
    kinds, weights = list(_KINDS), list(_KINDS.values())
    more = chance.choices(kinds, weights, k=2 * len(kinds))
    chance.shuffle(kinds)
    return more + kinds
