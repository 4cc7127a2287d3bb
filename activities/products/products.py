"""Calls to products: prepare, send once and classify, read a receipt."""

from __future__ import annotations

import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from activities.catalogue import AdapterName, Catalogue, CatalogueEntry, Situation
from activities.credentials import (
    CredentialRefused,
    CredentialUnavailable,
    CredentialUnusable,
)
from activities.destinations import DestinationRefused
from activities.errors import ActivityError, CatalogueError, ConnectionFault
from activities.ports import Command, Connections
from activities.products.actions import ImmediateAction
from activities.products.breaker import Breaker
from activities.products.calls import Call, DirectCall, NotPrepared, Pinned, ProductAdapter
from activities.products.evaluation import Evaluation
from activities.products.external import ExternalRead
from activities.products.grants import task_grant
from activities.products.http_requests import CommandRefused, key_header, write_receipt_request
from activities.products.lines import Lines
from activities.products.outcomes import Malformed, Sent, in_situation, read_output
from activities.products.problem_documents import problem_code
from activities.products.transport import Failure
from activities.products.watching import CallWatch, Nobody
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.operations import OperationContract
from interpreter.contract.values import JsonValue, canonical_bytes
from interpreter.errors import DefinitionError

LARGEST_PREPARATION_BYTES = 65_536
PREPARE_SECONDS = 10.0
RECEIPT_SECONDS = 10.0
_MOST_PINNED = 1_024
# Everything that keeps an attempt from sending; the last two are a number or a text in the
# command that no JSON can carry.
_STOPS = (
    NotPrepared,
    DestinationRefused,
    ConnectionFault,
    CommandRefused,
    DefinitionError,
    UnicodeEncodeError,
)


class Products:
    """Every product behind the deployment's connections.

    Nothing is repeated inside an attempt, and nothing that a product does is raised: it comes
    back classified. A cancelled call may have been sent.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        connections: Connections,
        *,
        trust: ssl.SSLContext | None = None,
        breaker: Breaker | None = None,
        watch: CallWatch | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._breaker = breaker or Breaker()
        self._watch = watch or Nobody()
        self._lines = Lines(connections, self._breaker, trust)
        self._pinned: dict[int, tuple[OperationContract, Pinned]] = {}
        self._direct: ProductAdapter = DirectCall()
        self._adapters: dict[AdapterName, ProductAdapter] = {
            AdapterName.ACTION: ImmediateAction(),
            AdapterName.EVALUATION: Evaluation(),
            AdapterName.EXTERNAL: ExternalRead(),
        }

    def allows_local(self, connection: str) -> bool:
        """Whether a local attempt may be made: the product was neither slow nor down lately."""
        return self._breaker.allows_local(connection)

    async def prepare(
        self,
        contract: OperationContract,
        connection: str,
        input: JsonValue,
        deadline: float | None = None,
    ) -> JsonValue:
        """What must be frozen with the command, None for an operation without preparation.

        ``deadline`` is monotonic, 10 s from now by default. Raises NotPrepared with the
        classified reply.
        """
        until = time.monotonic() + PREPARE_SECONDS if deadline is None else deadline
        command = Command(connection, contract.id, input)
        prepared: list[JsonValue] = []

        async def prepare(adapter: ProductAdapter, call: Call) -> Sent:
            preparation = await adapter.prepare(call)
            if len(canonical_bytes(preparation)) > LARGEST_PREPARATION_BYTES:
                return Sent(Reply(ReplyKind.REFUSED, code="preparation-too-large"))
            prepared.append(preparation)
            return Sent(Reply(ReplyKind.ACCEPTED))

        sent = await self._carried_out(command, contract, None, until, prepare)
        if not prepared:
            raise NotPrepared(sent)
        return prepared[0]

    async def send(
        self,
        command: Command,
        contract: OperationContract,
        idempotency_key: str | None,
        deadline: float,
    ) -> Sent:
        """Send a command once and classify what came back.

        ``deadline`` is the monotonic end of the send budget: nothing is written after it.
        """

        async def send(adapter: ProductAdapter, call: Call) -> Sent:
            if contract.key and call.key is None:
                raise CommandRefused("request header: idempotency key")
            return await adapter.send(call)

        key = idempotency_key if contract.key else None
        return await self._carried_out(command, contract, key, deadline, send)

    async def read_receipt(
        self,
        command: Command,
        contract: OperationContract,
        idempotency_key: str,
        deadline: float | None = None,
    ) -> Reply:
        """Ask the product for the receipt of a command that may have been sent.

        ``accepted`` with the receipt, or ``unknown`` with ``receipt-unresolved`` (nothing on
        record) or ``observation-unavailable``. Raises ActivityError ``receipt.not-declared`` for
        an operation without one.
        """
        if not contract.receipt:
            raise ActivityError(
                "receipt.not-declared",
                "the operation has no receipt to read",
                place=contract.id,
                remedy="repeat the same command, or settle the effect otherwise",
            )
        until = time.monotonic() + RECEIPT_SECONDS if deadline is None else deadline
        sent = await self._carried_out(
            command, contract, idempotency_key, until, _receipt, observing=True
        )
        if sent.reply.kind is ReplyKind.ACCEPTED or sent.reply.code == "receipt-unresolved":
            return sent.reply
        return Reply(ReplyKind.UNKNOWN, code="observation-unavailable")

    async def aclose(self) -> None:
        """Close every connection that is not in use."""
        await self._lines.aclose()

    async def _carried_out(
        self,
        command: Command,
        contract: OperationContract,
        key: str | None,
        deadline: float,
        act: Callable[[ProductAdapter, Call], Awaitable[Sent]],
        *,
        observing: bool = False,
    ) -> Sent:
        """Check the command, open its line and act; whatever fails on the way is classified."""
        try:
            pinned = self._pin(contract)
        except CatalogueError as error:
            return _refused("operation-unbound", error.place)
        name = pinned.entry.adapter
        adapter = self._direct if name is None else self._adapters[name]
        with self._watch.call(contract.id, command.connection) as watched:
            try:
                call = await self._call(pinned, command, key, deadline, observing)
                call.headers = watched.headers
                sent = await act(adapter, call)
            except _STOPS as stop:
                sent = _stopped(pinned.entry, stop)
            watched.ended(sent.reply.kind.value)
        return sent

    async def _call(
        self, pinned: Pinned, command: Command, key: str | None, deadline: float, observing: bool
    ) -> Call:
        """An attempt that may begin; one of the stops if it may not."""
        misfit = pinned.request_misfit(command.input)
        if misfit is not None:
            raise CommandRefused(f"request {misfit}")
        line = await self._lines.line(command.connection, deadline)
        if not line.settings.serves(pinned.entry.contract.product):
            raise ConnectionFault(
                "connection.product",
                "the connection leads to another product",
                place=command.connection,
                remedy="bind the operation to a connection of its product",
            )
        authorization = self._lines.authorization(command.connection, observing=observing)
        line.require_identity(authorization)
        # The grant says for which task a command is sent; its receipt is read for the deployment.
        member, for_tasks = pinned.entry.http.grant, authorization.for_tasks
        grant = None if observing else task_grant(member, command.input, for_tasks=for_tasks)
        if deadline <= time.monotonic():
            raise NotPrepared(Sent(Reply(ReplyKind.RETRYABLE, code="attempt-timeout")))
        return Call(
            pinned,
            line,
            command.input,
            deadline,
            lambda until: line.credential(authorization, grant, until),
            key,
            command.preparation,
        )

    def _pin(self, contract: OperationContract) -> Pinned:
        """The compiled form of a contract; a definition's contracts live as long as it does."""
        known = self._pinned.get(id(contract))
        if known is not None:
            return known[1]
        pinned = Pinned(self._catalogue.find(contract.id), contract)
        if len(self._pinned) >= _MOST_PINNED:
            self._pinned.clear()
        # The contract is kept beside its compiled form, so its identity is not given to another.
        self._pinned[id(contract)] = (contract, pinned)
        return pinned


async def _receipt(_adapter: ProductAdapter, call: Call) -> Sent:
    http = call.entry.http
    unavailable = Sent(Reply(ReplyKind.UNKNOWN, code="observation-unavailable"))
    if http.receipt is None or call.key is None:
        return unavailable
    key_header(http, call.key)
    request = write_receipt_request(http, http.receipt, call.input, call.line.settings, call.key)
    answer = await call.exchange(request)
    if isinstance(answer, Failure):
        return unavailable
    if answer.status in http.receipt.success:
        try:
            receipt = read_output(call.entry, answer, call.pinned.response_misfit)
        except Malformed as fault:
            return Sent(unavailable.reply, place=str(fault))
        return Sent(Reply(ReplyKind.ACCEPTED, receipt), receipt)
    if problem_code(answer, traced=http.traced) in http.receipt.unresolved:
        return Sent(Reply(ReplyKind.UNKNOWN, code="receipt-unresolved"))
    return unavailable


def _stopped(entry: CatalogueEntry, stop: Exception) -> Sent:
    """What a stop before sending is reported as."""
    match stop:
        case NotPrepared():
            return stop.sent
        case DestinationRefused():
            return in_situation(entry, Situation.DESTINATION_REFUSED)
        case CredentialRefused():
            return _refused("credential-refused", stop.place)
        case CredentialUnavailable():
            return _without_credential(entry, stop)
        case CredentialUnusable():
            return _refused("credential-configuration", stop.place)
        case ConnectionFault():
            return _refused("operation-unbound", stop.place)
        case CommandRefused():
            return in_situation(entry, Situation.INVALID_COMMAND, str(stop))
        case _:
            return in_situation(entry, Situation.INVALID_COMMAND, "request")


def _refused(code: str, place: str) -> Sent:
    return Sent(Reply(ReplyKind.REFUSED, code=code), place=place)


def _without_credential(entry: CatalogueEntry, stop: CredentialUnavailable) -> Sent:
    # Operations with codes of their own count the credential to what was not sent.
    if Situation.NOT_SENT in entry.http.outcomes:
        sent = in_situation(entry, Situation.NOT_SENT, stop.place)
    else:
        sent = Sent(Reply(ReplyKind.RETRYABLE, code="credential-unavailable"), place=stop.place)
    return replace(sent, retry_after=stop.retry_after)
