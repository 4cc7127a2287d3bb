"""The callers of a running service: policies follow the runtime file, keys follow their issuers."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from adapter.access.addresses import Network, counted_address, networks_of
from adapter.access.buckets import Buckets
from adapter.access.callers import Caller
from adapter.access.gate import Credentials, Gate
from adapter.access.key_sets import Fetch, KeyLoader
from adapter.access.refusals import too_many
from adapter.config.caller_rules import nobody_calls
from adapter.config.callers import CallLimits
from adapter.config.loading import Runtime, load_runtime
from adapter.errors import AdapterError

LOOK_SECONDS = 1.0
EXPIRES_SOON = timedelta(days=14)
_MINUTE = 60.0
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something about callers that needs a person: how many, since when, and what helps."""

    code: str
    count: int
    since: datetime | None
    remedy: str


class LiveAccess:
    """Tells who calls, and counts how often.

    The runtime file is looked at every second. What it says about callers counts at once; a file
    that can not be used changes nothing until it is corrected.
    """

    def __init__(
        self,
        runtime: Runtime,
        fetch: Fetch,
        *,
        now: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = runtime.path
        self._fetch = fetch
        self._now, self._ticks = now, ticks
        # Of no file: what was loaded may have changed before anybody looked.
        self._seen: object = object()
        self._stale_since: datetime | None = None
        self._gate = self._gate_of(runtime, None)
        self._set_limits(self._gate.policies.limits)
        self._tell_if_nobody_calls(runtime)

    async def identify(self, given: Credentials) -> Caller:
        """The caller, counted; what `Gate.identify` raises, or 429 ``access.too-many-requests``."""
        caller = await self._gate.identify(given)
        wait = self._calls.take(caller.owner)
        if wait:
            raise too_many(wait, "the caller has asked more than it may in a while")
        return caller

    def count_failure(self, peer: str, forwarded: list[str]) -> float:
        """Count a call that failed to say who it is of.

        Gives 0.0, or the seconds until its address may fail again. Whoever says well who calls
        is not kept out by others behind the same address.
        """
        return self._failures.take(counted_address(peer, forwarded, self._proxies))

    async def keep_fresh(self, stop: asyncio.Event) -> None:
        """Follow the runtime file and the issuers' keys until ``stop``."""
        while not stop.is_set():
            try:
                await self.look()
                await asyncio.gather(*(keys.keep_fresh() for keys in self._gate.key_sets))
            except Exception as error:
                # What is known still serves: a fault here must not end the service.
                _log.error("access.not-followed", error=type(error).__qualname__)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_SECONDS)

    async def look(self) -> None:
        """Take over what the runtime file says about callers, if it has changed."""
        mark = await asyncio.to_thread(_mark, self._path)
        if mark == self._seen:
            return
        self._seen = mark
        try:
            runtime = await asyncio.to_thread(load_runtime, self._path)
        except AdapterError as error:
            self._stale_since = self._stale_since or datetime.fromtimestamp(self._now(), UTC)
            _log.error("access.callers-kept", code=error.code, place=error.place)
            return
        self._stale_since = None
        former = self._gate.policies
        policies = runtime.document.authentication
        self._gate = self._gate_of(runtime, self._gate)
        if policies.limits != former.limits:
            self._set_limits(policies.limits)
        if policies != former:
            _log.info("access.callers-changed")
            self._tell_if_nobody_calls(runtime)

    def troubles(self) -> list[Trouble]:
        """What needs a person, the gravest first."""
        found = []
        if self._stale_since is not None:
            remedy = "correct the runtime file: what it says about callers does not count yet"
            found.append(Trouble("doctor.callers-stale", 1, self._stale_since, remedy))
        if away := sum(keys.failing_since is not None for keys in self._gate.key_sets):
            remedy = "look at the issuers of access tokens: their keys can not be had"
            found.append(Trouble("doctor.issuer-away", away, None, remedy))
        if ending := self._gate.expiring_keys(EXPIRES_SOON):
            remedy = "API keys end within two weeks: make new ones, or remove them"
            found.append(Trouble("doctor.api-key-expiring", ending, None, remedy))
        return found

    def _tell_if_nobody_calls(self, runtime: Runtime) -> None:
        now = datetime.fromtimestamp(self._now(), UTC)
        if found := nobody_calls(runtime.document, now):
            _log.warning(found.code, place=found.pointer, remedy=found.remedy)

    def _gate_of(self, runtime: Runtime, former: Gate | None) -> Gate:
        loader = KeyLoader(self._fetch, runtime.secrets.read)
        policies = runtime.document.authentication
        return Gate(policies, loader, former, now=self._now, ticks=self._ticks)

    def _set_limits(self, limits: CallLimits) -> None:
        self._calls = Buckets(limits.per_second, limits.burst, self._ticks)
        per_minute = limits.failures_per_minute
        self._failures = Buckets(per_minute / _MINUTE, per_minute, self._ticks)
        self._proxies: tuple[Network, ...] = networks_of(limits.trusted_proxies)


def _mark(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written or replaced, also behind a link; None for no file."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino
