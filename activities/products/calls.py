"""One attempt of one command, as the adapters of operations see it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from activities.catalogue import CatalogueEntry, Situation
from activities.catalogue.schemas import Check, compile_check
from activities.credentials import Secret
from activities.errors import ActivityError
from activities.products.http_requests import write_request
from activities.products.lines import Line
from activities.products.outcomes import Sent, after_failure, classify, in_situation
from activities.products.transport import Failure, HttpAnswer, HttpRequest, remaining
from interpreter.contract.operations import OperationContract
from interpreter.contract.values import JsonValue


class NotPrepared(ActivityError):
    """A preparation that failed, definitely before anything was sent that has an effect.

    ``sent`` holds the classified reply (retryable or refused) and a product's own delay.
    """

    def __init__(self, sent: Sent) -> None:
        super().__init__(
            f"product.{sent.reply.code}",
            "the command could not be prepared",
            place=sent.place,
            remedy="see the code of the reply",
        )
        self.sent = sent


class Pinned:
    """An operation as a definition pinned it: its contract over the catalogue's HTTP facts."""

    def __init__(self, entry: CatalogueEntry, contract: OperationContract) -> None:
        self.entry = CatalogueEntry(contract, entry.http, entry.adapter, entry.alias)
        self.request_misfit: Check = compile_check(contract.request)
        self.response_misfit: Check = compile_check(contract.response)


@dataclass(slots=True)
class Call:
    """One attempt: what to send, on which line, with which key, until when (monotonic).

    ``headers`` go along with every request.
    """

    pinned: Pinned
    line: Line
    input: JsonValue = field(repr=False)
    deadline: float
    authorise: Callable[[float], Awaitable[Secret | None]] = field(repr=False)
    key: str | None = None
    preparation: JsonValue = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = ()
    _credential: list[Secret | None] = field(default_factory=list, repr=False)

    @property
    def entry(self) -> CatalogueEntry:
        """The operation's catalogue entry under the pinned contract."""
        return self.pinned.entry

    async def exchange(self, request: HttpRequest) -> HttpAnswer | Failure:
        """Send one request within what is left of the attempt.

        The credential is fetched for the attempt's first request and serves this attempt only.
        """
        http, own = self.entry.http, self.line.settings.attempt_timeout_milliseconds
        if self.headers:
            request = replace(request, headers=(*request.headers, *self.headers))
        # A connection's own limit is one of the attempt, and getting a credential is part of it.
        until = self.deadline if own is None else min(self.deadline, time.monotonic() + own / 1000)
        if not self._credential:
            self._credential.append(await self.authorise(until))
        credential = self._credential[0]
        seconds = remaining(until, http.timeout_milliseconds / 1000 if own is None else own / 1000)
        return await self.line.exchange(request, credential, seconds, http.maximum_response_bytes)

    def situation(self, situation: Situation, place: str = "") -> Sent:
        """What the operation reports for a situation."""
        return in_situation(self.entry, situation, place)


class ProductAdapter(Protocol):
    """How one kind of operation is prepared and sent.

    Both may raise CommandRefused (before any network) and the faults of credentials.
    """

    async def prepare(self, call: Call) -> JsonValue:
        """What is frozen with the command; NotPrepared if it can not be had."""
        ...

    async def send(self, call: Call) -> Sent:
        """Send once and classify."""
        ...


class DirectCall:
    """An operation that is data alone."""

    async def prepare(self, call: Call) -> JsonValue:
        """Nothing: the mapped input is the whole command."""
        return None

    async def send(self, call: Call) -> Sent:
        """One request by the operation's HTTP facts."""
        request = write_request(call.entry.http, call.input, call.line.settings, call.key)
        answer = await call.exchange(request)
        if isinstance(answer, Failure):
            return after_failure(call.entry, answer)
        return classify(call.entry, answer, call.pinned.response_misfit)
