"""Tests of the service's book over a real ledger: admission, hiding, filters and refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from activities.catalogue import Catalogue
from adapter.api import AdmissionRequest, Owner, RunFilter, Scope
from adapter.authoring import load_project
from adapter.crypto import KeyRing, Sealer
from adapter.errors import Refused
from adapter.ledger import Ledger, Package
from adapter.wiring.book import LedgerBook
from interpreter.contract.records import RunState, StartState
from interpreter.contract.runs import Binding

_EXAMPLE = Path(__file__).parents[3] / "examples" / "reviewed-notice"
_OWNER = Owner("https://issuer.example", "desk")
_DESK = Scope(_OWNER, None)


@pytest.fixture(scope="module")
def package() -> Package:
    """The example, packaged."""
    packaged = load_project(_EXAMPLE, Catalogue.standard()).definition
    assert packaged is not None
    return Package("sha256:" + "d" * 64, packaged.definition, packaged.labels)


@pytest.fixture
async def book(database_url: str, package: Package) -> AsyncIterator[LedgerBook]:
    """A book over a fresh ledger in which the example is active."""
    keys = KeyRing.generate()
    async with await Ledger.open(database_url, Sealer(keys, "test"), keys, pool_size=4) as ledger:
        await ledger.packages.apply(package, "test")
        yield LedgerBook(ledger, Binding())


def wish(
    package: Package, key: str = "k", owner: Owner = _OWNER, **other: object
) -> AdmissionRequest:
    """A start that is right where nothing else is said."""
    facts: dict[str, object] = {
        "workflow": "reviewed-notice",
        "revision": package.definition.revision,
        "input": {"applicationId": "APP-1"},
    }
    return AdmissionRequest(owner=owner, key=key, **(facts | other))  # type: ignore[arg-type]


async def code(book: LedgerBook, request: AdmissionRequest) -> tuple[str, int, str]:
    """How an admission is refused: code, HTTP status and place."""
    with pytest.raises(Refused) as raised:
        await book.admit(request)
    return raised.value.code, raised.value.status, raised.value.place


async def test_equal_starts_at_the_same_time_are_one_run(
    book: LedgerBook, package: Package
) -> None:
    admitted = await asyncio.gather(*(book.admit(wish(package)) for _ in range(8)))
    assert len({one.run.run_id for one in admitted}) == 1
    assert sum(one.created for one in admitted) == 1
    assert admitted[0].run.start is StartState.PENDING


async def test_an_input_is_judged_by_the_schema_and_named_by_pointer(
    book: LedgerBook, package: Package
) -> None:
    refused = await code(book, wish(package, input={"applicationId": ""}))
    assert refused == ("input.invalid", 422, "/input/applicationId")
    refused = await code(book, wish(package, input={"applicationId": "a", "x": 1}))
    assert refused == ("input.invalid", 422, "/input")
    assert (await book.runs(_DESK, RunFilter(), None, 10)).runs == []


async def test_a_refused_input_names_the_rule_and_never_the_value(
    book: LedgerBook, package: Package
) -> None:
    with pytest.raises(Refused) as raised:
        await book.admit(wish(package, input={"applicationId": "", "canary": "canary"}))
    told = raised.value.message + raised.value.remedy + raised.value.place
    assert "canary" not in told
    assert raised.value.message.endswith(("minLength 1", "additionalProperties"))


async def test_conflicts_are_told_apart(book: LedgerBook, package: Package) -> None:
    await book.admit(wish(package))
    reused = await code(book, wish(package, input={"applicationId": "APP-2"}))
    other = await code(book, wish(package, "k2", revision="sha256:" + "0" * 64))
    unknown = await code(book, wish(package, "k3", workflow="nothing"))
    assert [one[:2] for one in (reused, other, unknown)] == [
        ("idempotency.key-reused", 409),
        ("revision.not-active", 409),
        ("workflow.unknown", 404),
    ]


async def test_a_run_is_hidden_from_others_and_from_other_workflows(
    book: LedgerBook, package: Package
) -> None:
    run = (await book.admit(wish(package))).run.run_id
    assert await book.run(run, _DESK) is not None
    assert await book.run(run, Scope(None, None)) is not None
    for scope in (
        Scope(replace(_OWNER, subject="other"), None),
        Scope(_OWNER, frozenset({"letters"})),
    ):
        assert await book.run(run, scope) is None
        assert await book.inspect(run, scope) is None
        assert await book.events(run, scope, 0, 10) is None
        assert (await book.runs(scope, RunFilter(), None, 10)).runs == []


async def test_a_list_is_filtered_and_paged(book: LedgerBook, package: Package) -> None:
    runs = [(await book.admit(wish(package, str(n)))).run.run_id for n in range(3)]
    first = await book.runs(_DESK, RunFilter(), None, 2)
    rest = await book.runs(_DESK, RunFilter(), first.cursor, 2)
    assert [run.run_id for run in [*first.runs, *rest.runs]] == runs[::-1]
    assert rest.cursor is None
    assert (await book.runs(_DESK, RunFilter(state=RunState.FAILED), None, 2)).runs == []
    assert (await book.runs(_DESK, RunFilter(workflow="other"), None, 2)).runs == []


async def test_an_admission_is_the_first_event(book: LedgerBook, package: Package) -> None:
    run = (await book.admit(wish(package))).run.run_id
    events = await book.events(run, _DESK, 0, 10)
    assert events is not None
    assert [(event.sequence, event.type) for event in events] == [(1, "run.admitted")]
