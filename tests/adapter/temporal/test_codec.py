"""Every payload is sealed for one run, and opens nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    SerializationContext,
    WorkflowSerializationContext,
)
from temporalio.exceptions import ApplicationError

from activities.errors import LedgerUnavailable
from adapter.crypto import KeyRing
from adapter.temporal.codec import LARGEST_INLINE, SealingCodec
from adapter.temporal.payloads import sealed_converter
from adapter.temporal.stamps import ENCODING, Form, Stamp
from interpreter.contract.calls import PlainValue
from interpreter.contract.runs import StartRun
from interpreter.errors import CoordinatorError
from tests.fixtures.vault import MemoryVault

RUN, OTHER = "0b9d5a0e-0000-8000-8000-00000000000a", "0b9d5a0e-0000-8000-8000-00000000000b"
HERE = WorkflowSerializationContext("default", f"permit/{RUN}/1")
THERE = WorkflowSerializationContext("default", f"permit/{OTHER}/1")
IN_ACTIVITY = ActivitySerializationContext(
    "default", "main/a:1:1", "post.send/v1", "queue", f"permit/{RUN}/1", "permit", False
)
SECRET = {"name": "Ada Lovelace"}
AWAY = LedgerUnavailable("ledger.unavailable", "the database did not answer")


@pytest.fixture
def memory() -> MemoryVault:
    """Two admitted runs."""
    made = MemoryVault()
    made.admit(RUN)
    made.admit(OTHER)
    return made


def converter(memory: MemoryVault, where: SerializationContext | None = HERE) -> DataConverter:
    """The converter for the payloads of one place."""
    made = sealed_converter(SealingCodec(memory.vault()))
    return made if where is None else made.with_context(where)


async def sealed(
    memory: MemoryVault, value: Any = SECRET, where: SerializationContext | None = HERE
) -> Payload:
    """One sealed payload."""
    [payload] = await converter(memory, where).encode([value])
    return payload


async def opened(
    memory: MemoryVault, payload: Payload, where: SerializationContext | None = HERE
) -> Any:
    """What a payload holds."""
    [value] = await converter(memory, where).decode([payload])
    return value


async def refusal(
    memory: MemoryVault, payload: Payload, where: SerializationContext | None = HERE
) -> str:
    """The reason for which a payload is refused."""
    with pytest.raises(ApplicationError, match="not sealed for this run") as caught:
        await opened(memory, payload, where)
    assert caught.value.type == "payload.refused"
    return str(caught.value).partition("(")[2].partition(")")[0]


def clear(value: bytes = b'{"amount":1}') -> Payload:
    """A payload as Temporal's own tools send it."""
    return Payload(metadata={"encoding": b"json/plain"}, data=value)


def stamped(payload: Payload, form: Form = Form.RUN, owner: str = RUN) -> Payload:
    """The same envelope under another stamp."""
    found = Stamp.read(payload)
    assert found is not None
    return Stamp(form, owner).on(found[1])


def form_of(payload: Payload) -> Form:
    """How a payload says that it is sealed."""
    found = Stamp.read(payload)
    assert found is not None
    return found[0].form


@pytest.mark.parametrize("value", [SECRET, None, "", 0, [1, 2], "x" * 3_000])
async def test_what_is_sealed_comes_back_and_shows_nothing(memory: MemoryVault, value: Any) -> None:
    payload = await sealed(memory, value)
    assert await opened(memory, payload) == value
    assert payload.metadata["encoding"] == ENCODING
    assert b"Lovelace" not in payload.SerializeToString()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (HERE, IN_ACTIVITY),
        (IN_ACTIVITY, HERE),
        (HERE, replace(HERE, workflow_id=f"permit/{RUN}/2")),
        (
            WorkflowSerializationContext("default", "nightly"),
            WorkflowSerializationContext("default", "nightly-2027-01-31T02:30:00Z"),
        ),
        (None, None),
    ],
)
async def test_the_workflows_of_one_run_or_schedule_read_each_other(
    memory: MemoryVault, first: SerializationContext | None, second: SerializationContext | None
) -> None:
    assert await opened(memory, await sealed(memory, where=first), second) == SECRET


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (THERE, "elsewhere"),
        (replace(HERE, namespace="other"), "damaged"),
        (WorkflowSerializationContext("default", f"other/{RUN}/1"), "damaged"),
        (WorkflowSerializationContext("default", "nightly"), "elsewhere"),
        (None, "elsewhere"),
    ],
)
async def test_a_payload_of_another_place_is_refused(
    memory: MemoryVault, where: SerializationContext | None, reason: str
) -> None:
    assert await refusal(memory, await sealed(memory), where) == reason


async def test_a_payload_of_another_deployment_is_refused(memory: MemoryVault) -> None:
    other = replace(memory, deployment="other", wrapped={})
    other.admit(RUN)
    assert await refusal(memory, await sealed(other)) == "damaged"


async def test_a_stamp_that_was_rewritten_does_not_help(memory: MemoryVault) -> None:
    moved = stamped(await sealed(memory, where=THERE))
    assert await refusal(memory, moved) == "damaged"


@pytest.mark.parametrize("size", range(18))
async def test_a_payload_that_is_cut_short_is_refused(memory: MemoryVault, size: int) -> None:
    payload = await sealed(memory)
    cut = Payload(metadata=dict(payload.metadata), data=payload.data[:size])
    assert await refusal(memory, cut) == ("damaged" if size == 17 else "clear")


@pytest.mark.parametrize(("form", "owner"), [(Form.OWN, f"permit/{RUN}"), (Form.STORED, RUN)])
async def test_another_form_of_sealing_can_not_be_claimed(
    memory: MemoryVault, form: Form, owner: str
) -> None:
    assert await refusal(memory, stamped(await sealed(memory), form, owner)) == "damaged"


async def test_a_key_that_somebody_names_at_will_is_no_missing_one(memory: MemoryVault) -> None:
    forged = Stamp(Form.OWN, f"permit/{RUN}").on(b"\x01\x00\x00\x00\x00\x63" + bytes(60))
    assert await refusal(memory, forged) == "damaged"


@pytest.mark.parametrize(
    "payload",
    [clear(), Payload(), Payload(metadata={"encoding": ENCODING}, data=b"\x07" + bytes(60))],
)
async def test_a_payload_in_clear_text_is_refused(memory: MemoryVault, payload: Payload) -> None:
    assert await refusal(memory, payload) == "clear"


async def test_the_servers_own_words_on_a_cancelled_activity_are_not_foreign(
    memory: MemoryVault,
) -> None:
    words = clear(b'"ACTIVITY_ID_NOT_STARTED"')
    assert await opened(memory, words, IN_ACTIVITY) == "ACTIVITY_ID_NOT_STARTED"
    assert memory.notes == []
    assert await refusal(memory, words) == "clear"


async def test_only_who_asks_for_a_plain_value_gets_one(memory: MemoryVault) -> None:
    one = converter(memory)
    [value] = await one.decode([clear()], [PlainValue])
    assert value == {"amount": 1}
    elsewhere = await sealed(memory, where=THERE)
    for foreign in (elsewhere, stamped(elsewhere)):
        with pytest.raises(ApplicationError):
            await one.decode([foreign], [PlainValue])
    [own] = await one.decode([await sealed(memory)], [PlainValue])
    assert own == SECRET


async def test_what_is_foreign_is_noted_once_however_often_it_is_read(memory: MemoryVault) -> None:
    codec = SealingCodec(memory.vault())
    for _ in range(3):
        await codec.with_context(HERE).decode([clear()])
    await codec.with_context(IN_ACTIVITY).decode([await sealed(memory, where=THERE)])
    assert [reason for reason, _ in memory.notes] == ["clear", "elsewhere"]
    assert all("amount" not in digest for _, digest in memory.notes)


async def test_an_outage_keeps_nothing_from_being_refused(memory: MemoryVault) -> None:
    payload = await sealed(memory, where=THERE)
    memory.away = AWAY
    assert await refusal(memory, payload) == "elsewhere"
    assert memory.notes == []


async def test_an_outage_has_the_task_tried_again(memory: MemoryVault) -> None:
    payload = await sealed(memory)
    memory.away = AWAY
    with pytest.raises(LedgerUnavailable):
        await opened(memory, payload)
    with pytest.raises(LedgerUnavailable):
        await sealed(memory)


async def test_a_rotated_key_still_opens_what_the_old_one_sealed(memory: MemoryVault) -> None:
    places = (HERE, None)
    payloads = [await sealed(memory, where=place) for place in places]
    ring, fresh = memory.keys, KeyRing.generate()
    versions = {**ring.versions, 2: fresh.versions[1]}
    memory.keys = KeyRing(versions, 2, ring.admission, ring.admission_active)
    read = [await opened(memory, *both) for both in zip(payloads, places, strict=True)]
    assert read == [SECRET] * 2
    later = await sealed(memory, where=None)
    memory.keys = ring
    with pytest.raises(CoordinatorError, match=r"seal\.key-missing"):
        await opened(memory, later, None)


@pytest.mark.parametrize("where", [HERE, None])
async def test_a_missing_key_is_one_clear_refusal(
    memory: MemoryVault, where: SerializationContext | None
) -> None:
    payload = await sealed(memory, where=where)
    other = KeyRing.generate()
    memory.keys = KeyRing({2: other.versions[1]}, 2, other.admission, 1)
    with pytest.raises(CoordinatorError, match=r"seal\.key-missing"):
        await opened(memory, payload, where)


async def test_a_wrong_key_is_no_reason_to_refuse_what_a_run_holds(memory: MemoryVault) -> None:
    payload = await sealed(memory)
    memory.keys = KeyRing.generate()
    with pytest.raises(CoordinatorError, match=r"seal\.not-authentic"):
        await opened(memory, payload)


async def test_an_execution_without_a_run_still_says_why_it_failed(memory: MemoryVault) -> None:
    stranger = replace(HERE, workflow_id=f"permit/{RUN[:-1]}f/1")
    payload = await sealed(memory, where=stranger)
    assert form_of(payload) is Form.OWN
    assert await opened(memory, payload, stranger) == SECRET


async def test_a_run_that_a_restore_has_lost_is_tried_again(memory: MemoryVault) -> None:
    payload = await sealed(memory)
    del memory.wrapped[RUN]
    with pytest.raises(CoordinatorError, match=r"run\.unknown"):
        await opened(memory, payload)


async def test_an_erased_run_fails_its_execution_for_good(memory: MemoryVault) -> None:
    payload = await sealed(memory)
    memory.wrapped[RUN] = None
    with pytest.raises(ApplicationError) as caught:
        await opened(memory, payload)
    assert (caught.value.type, caught.value.non_retryable) == ("seal.erased", True)
    assert form_of(await sealed(memory)) is Form.OWN


def large(seed: int = 1) -> str:
    """A text that no compression makes small."""
    import random

    return random.Random(seed).randbytes(LARGEST_INLINE).hex()


async def test_a_large_payload_is_kept_in_the_ledger_once(memory: MemoryVault) -> None:
    first, second = await sealed(memory, large()), await sealed(memory, large())
    assert len(first.SerializeToString()) < 400
    assert [await opened(memory, payload) for payload in (first, second)] == [large()] * 2
    assert (len(memory.bodies), len(set(memory.stored))) == (1, 1)
    [body] = memory.bodies.values()
    assert large().encode() not in body


async def test_the_same_large_payload_of_two_runs_shows_no_likeness(memory: MemoryVault) -> None:
    await sealed(memory, large())
    await sealed(memory, large(), THERE)
    assert len(set(memory.stored)) == 2


async def test_a_large_payload_of_another_run_is_refused(memory: MemoryVault) -> None:
    payload = await sealed(memory, large(), THERE)
    assert await refusal(memory, payload) == "elsewhere"
    assert await refusal(memory, stamped(payload, Form.STORED)) == "damaged"


async def test_a_large_payload_that_the_ledger_lost_has_the_task_tried_again(
    memory: MemoryVault,
) -> None:
    payload = await sealed(memory, large())
    memory.bodies.clear()
    with pytest.raises(CoordinatorError, match=r"payload\.absent"):
        await opened(memory, payload)


@pytest.mark.parametrize("value", [{"version": "1"}, '{"coordinator":"start/v1"}'])
async def test_the_definition_is_fetched_for_a_marked_start_alone(
    memory: MemoryVault, value: Any
) -> None:
    asked: list[StartRun] = []

    async def prefetch(start: StartRun) -> None:
        asked.append(start)

    codec = SealingCodec(memory.vault(), prefetch)
    one = sealed_converter(codec).with_context(HERE)
    start = StartRun("", "", "1", "sha256:0", {}, "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z")
    await one.decode(await one.encode([value]))
    assert asked == []
    [back] = await one.decode(await one.encode([start]), [StartRun])
    assert asked == [start] == [back]
