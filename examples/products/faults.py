"""Faults on demand: what is asked for, and when one strikes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from examples.products.operations import operation_named
from examples.products.problems import Problem
from examples.products.wire import refuse_unknown

#: Every kind of fault, and whether the request is applied before it strikes unless told otherwise.
FAULT_KINDS: Mapping[str, bool] = {
    "lost-response": True,
    "drop-before": False,
    "refuse": False,
    "status-5xx": False,
    "slow": False,
    "rate-limited": False,
    "expired-receipt": False,
    "malformed": True,
    "oversized": True,
    "redirect": False,
    "missing-headers": True,
}
_INVALID = "fault-invalid"
_SETTINGS = {
    "operation": (str, None),
    "fault": (str, None),
    "count": (int, None),
    "probability": (int | float, None),
    "seed": (int, 0),
    "seconds": (int | float, 1),
    "status": (int, None),
    "code": (str, None),
    "retryAfter": (int | float, 1),
    "bytes": (int, 70_000),
    "location": (str, "/health"),
    "apply": (bool, None),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault on one operation (``*`` for all).

    Without ``probability`` it strikes the next ``count`` requests (1 by default); with it, each
    request is struck by chance, drawn from a generator of its own with ``seed``, at most ``count``
    times when that is given. ``apply`` says whether the request is carried out as well; ``seconds``
    is the delay of ``slow`` (before the work, or after it with ``apply``), ``status`` and ``code``
    the answer of ``refuse`` and ``status-5xx``, ``retry_after`` seconds of ``rate-limited``,
    ``bytes`` the size of ``oversized``, ``location`` where ``redirect`` points.
    """

    number: int
    operation: str
    kind: str
    count: int | None
    probability: float | None
    seed: int
    seconds: float
    status: int | None
    code: str | None
    retry_after: float
    bytes: int
    location: str
    apply: bool


class FaultPlan:
    """The faults in force, in the order in which they were asked for. A restart forgets them."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._faults: dict[int, Fault] = {}
        self._left: dict[int, int | None] = {}
        self._chance: dict[int, random.Random] = {}

    def add(self, asked: dict[str, Any]) -> Fault:
        """Put a fault into force; raises ``Problem`` 422 with the member that is wrong."""
        fault = _read(next(self._numbers), asked)
        self._faults[fault.number] = fault
        self._left[fault.number] = fault.count
        self._chance[fault.number] = random.Random(fault.seed)
        return fault

    def draw(self, operation: str) -> Fault | None:
        """The fault that strikes this request, if any; a counted one is used up by it."""
        for number, fault in self._faults.items():
            if fault.operation not in ("*", operation) or self._left[number] == 0:
                continue
            certain = fault.probability is None
            if certain or self._chance[number].random() < (fault.probability or 0):
                left = self._left[number]
                self._left[number] = None if left is None else left - 1
                return fault
        return None

    def clear(self, operation: str | None = None) -> int:
        """Lift every fault, or those of one operation; the number lifted."""
        lifted = [n for n, f in self._faults.items() if operation in (None, f.operation)]
        for number in lifted:
            del self._faults[number], self._left[number], self._chance[number]
        return len(lifted)

    def documents(self) -> list[dict[str, Any]]:
        """The faults in force with how often each may still strike (null: without end)."""
        return [
            {**asdict(fault), "left": self._left[number]} for number, fault in self._faults.items()
        ]


def _read(number: int, asked: dict[str, Any]) -> Fault:
    refuse_unknown(asked, _SETTINGS, _INVALID)
    values: dict[str, Any] = {}
    for name, (kind, default) in _SETTINGS.items():
        value = asked.get(name, default)
        boolean = isinstance(value, bool) and kind is not bool
        if value is not None and (boolean or not isinstance(value, kind)):
            raise Problem(422, _INVALID, f"{name} has the wrong type.")
        values[name] = value
    if values["fault"] not in FAULT_KINDS:
        raise Problem(422, _INVALID, f"fault must be one of: {', '.join(FAULT_KINDS)}.")
    probability = values["probability"]
    if probability is not None and not 0 <= probability <= 1:
        raise Problem(422, _INVALID, "probability must be from 0 to 1.")
    if values["count"] is None and probability is None:
        values["count"] = 1
    if values["count"] is not None and values["count"] < 1:
        raise Problem(422, _INVALID, "count must be 1 or more.")
    if values["status"] is not None and not 400 <= values["status"] <= 599:
        raise Problem(422, _INVALID, "status must be from 400 to 599.")
    if not 0 <= values["seconds"] <= 600 or not 0 <= values["bytes"] <= 10_000_000:
        raise Problem(422, _INVALID, "seconds goes to 600 and bytes to 10000000.")
    apply, kind = values.pop("apply"), values.pop("fault")
    return Fault(
        number=number,
        operation=operation_named(values.pop("operation") or ""),
        kind=kind,
        retry_after=values.pop("retryAfter"),
        apply=FAULT_KINDS[kind] if apply is None else apply,
        **values,
    )
