"""Calls for a task, over a real issuer and pretend products: a grant is asserted each time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from activities.credentials import TaskAuthority, TaskBound
from activities.ports import Command
from examples.products.settings import CASEWORK
from interpreter.contract.effects import Reply, ReplyKind
from tests.activities.conftest import Caller, caller_of
from tests.activities.connections import FixedConnections
from tests.activities.inputs import APPOINTMENT
from tests.fixtures.town import Town, opened_town

_BOOK = "scheduling.create-appointment/v1"
_READ = "scheduling.read-scheduling/v1"
_REFUSED = Reply(ReplyKind.REFUSED, code="credential-refused")
_INVALID = Reply(ReplyKind.REFUSED, code="invalid-command")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with opened_town(tmp_path_factory.mktemp("issuer")) as town:
        yield town


@pytest_asyncio.fixture
async def caller(town: Town) -> AsyncIterator[Caller]:
    """A caller whose scheduling connection is bound to tasks."""
    town.products.reset()
    authority = TaskAuthority(
        town.products.url("casework"), CASEWORK, "coordinator", town.issuer, "urn:pretend:casework"
    )
    connections = FixedConnections(
        {"scheduling": {"product": "scheduling", "baseUrl": town.products.url("scheduling")}}
    )
    connections.others["scheduling"] = TaskBound(town.client(), authority)
    connections.observers["scheduling"] = town.client(scope="read")
    caller = caller_of(connections)
    yield caller
    await caller.products.aclose()


async def test_an_appointment_is_made_with_a_grant(town: Town, caller: Caller) -> None:
    sent = await caller.send(_BOOK, APPOINTMENT | {"grant": town.grant()})
    assert sent.reply.kind is ReplyKind.ACCEPTED
    assert [effect.applied for effect in town.products.effects()] == [1]


async def test_a_repeated_attempt_has_the_grant_asserted_again(town: Town, caller: Caller) -> None:
    command = APPOINTMENT | {"grant": town.grant()}
    replies = [(await caller.send(_BOOK, command)).reply.kind for _ in range(2)]
    assert replies == [ReplyKind.ACCEPTED] * 2
    assert town.asserted == 2
    assert [effect.applied for effect in town.products.effects()] == [1]


async def test_a_read_is_done_for_the_task_too(town: Town, caller: Caller) -> None:
    sent = await caller.send(_READ, {"grant": town.grant()})
    assert sent.reply.kind is ReplyKind.ACCEPTED
    assert town.asserted == 1


async def test_a_grant_taken_back_between_attempts_is_refused(town: Town, caller: Caller) -> None:
    grant = town.grant()
    command = APPOINTMENT | {"grant": grant}
    assert (await caller.send(_BOOK, command)).reply.kind is ReplyKind.ACCEPTED
    town.products.revoke_grant(grant["id"])
    assert (await caller.send(_BOOK, command)).reply == _REFUSED


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "somebody"},
        {"resource": "urn:pretend:registry"},
        {"scopes": ["book", "cancel"]},
        {"subject": "somebody"},
    ],
)
async def test_a_grant_of_other_bounds_is_refused_before_the_call(
    town: Town, caller: Caller, changes: dict[str, Any]
) -> None:
    sent = await caller.send(_BOOK, APPOINTMENT | {"grant": town.grant(**changes)})
    assert sent.reply == _REFUSED
    assert town.products.requests("scheduling.create-appointment") == []


async def test_a_grant_with_another_end_than_it_has_is_refused(town: Town, caller: Caller) -> None:
    grant = town.grant()
    later = grant | {"expiresAt": grant["expiresAt"] + 1}
    assert (await caller.send(_BOOK, APPOINTMENT | {"grant": later})).reply == _REFUSED


async def test_a_grant_that_is_over_asks_nobody(town: Town, caller: Caller) -> None:
    over = town.grant() | {"expiresAt": 1_000_000}
    assert (await caller.send(_BOOK, APPOINTMENT | {"grant": over})).reply == _REFUSED
    assert town.asserted == 0


@pytest.mark.parametrize("input", [{}, {"grant": {"id": "6f1c2a34-0b5d-4e6f-8a9b-0c1d2e3f4a5b"}}])
async def test_a_grant_that_is_missing_or_malformed_is_no_command(
    town: Town, caller: Caller, input: dict[str, Any]
) -> None:
    assert (await caller.send(_BOOK, APPOINTMENT | input)).reply == _INVALID
    assert town.products.requests() == []


async def test_a_superfluous_grant_is_no_command(town: Town, caller: Caller) -> None:
    caller.connections.others["scheduling"] = town.client()
    command = APPOINTMENT | {"grant": town.grant()}
    assert (await caller.send(_BOOK, command)).reply == _INVALID


async def test_the_standing_identity_never_stands_in(town: Town, caller: Caller) -> None:
    caller.connections.others["scheduling"] = town.client()
    sent = await caller.send(_BOOK, APPOINTMENT)
    assert sent.reply == Reply(ReplyKind.REFUSED, code="product-forbidden")


async def test_a_receipt_is_read_after_the_grant_is_gone(town: Town, caller: Caller) -> None:
    grant = town.grant()
    command = Command("scheduling", _BOOK, APPOINTMENT | {"grant": grant})
    accepted = (await caller.resend(command)).reply
    town.products.revoke_grant(grant["id"])
    asked = town.asserted
    receipt = await caller.products.read_receipt(command, caller.contract(_BOOK), "key-1")
    assert receipt == accepted
    assert town.asserted == asked


async def test_an_authority_that_is_down_is_asked_at_the_next_attempt(
    town: Town, caller: Caller
) -> None:
    town.products.fault("casework.assert-grant", "status-5xx")
    command = APPOINTMENT | {"grant": town.grant()}
    unavailable = Reply(ReplyKind.RETRYABLE, code="credential-unavailable")
    assert (await caller.send(_BOOK, command)).reply == unavailable
    assert (await caller.send(_BOOK, command)).reply.kind is ReplyKind.ACCEPTED


async def test_a_key_that_was_rotated_at_the_issuer_goes_on_working(
    town: Town, caller: Caller
) -> None:
    town.folder.rotate("EdDSA")
    sent = await caller.send(_READ, {"grant": town.grant()})
    assert sent.reply.kind is ReplyKind.ACCEPTED
