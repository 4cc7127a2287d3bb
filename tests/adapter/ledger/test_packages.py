"""Packages: what applying changes, and which revision a workflow admits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from activities.errors import ActivityError
from adapter.errors import Refused
from adapter.ledger import Ledger
from interpreter.definition.document import Labels
from interpreter.errors import DefinitionError
from tests.adapter.ledger.words import DEFINITION, PACKAGE

Sql = Callable[..., Awaitable[list[Any]]]
CHANGED = DEFINITION.model_copy(update={"deadline_seconds": 60})
NEXT = replace(PACKAGE, digest="sha256:p2", definition=CHANGED, labels=Labels(version="2.0.0"))


async def test_applying_the_active_package_again_changes_nothing(ledger: Ledger, sql: Sql) -> None:
    assert (await ledger.packages.apply(PACKAGE, "deployer")).changes == ()
    assert await sql("select count(*) from coordinator.activations") == [(1,)]


async def test_a_plan_says_what_apply_would_change_and_changes_nothing(ledger: Ledger) -> None:
    plan = await ledger.packages.plan(NEXT)
    assert plan.changes == ("definition", "package", "activation")
    assert plan.active is not None
    assert plan.active.version == "1.0.0"
    assert await ledger.packages.plan(NEXT) == plan


async def test_new_titles_alone_are_a_new_package_of_the_same_revision(ledger: Ledger) -> None:
    titled = replace(PACKAGE, digest="sha256:p3", labels=Labels(version="1.0.0", title="New"))
    assert (await ledger.packages.apply(titled, "deployer")).changes == ("package", "activation")
    active = await ledger.packages.active(DEFINITION.id)
    assert active is not None
    assert (active.package, active.labels["title"]) == ("sha256:p3", "New")


async def test_a_version_is_bound_to_one_revision_for_good(ledger: Ledger) -> None:
    conflicting = replace(NEXT, labels=PACKAGE.labels)
    for work in (ledger.packages.plan(conflicting), ledger.packages.apply(conflicting, "me")):
        with pytest.raises(Refused) as refusal:
            await work
        assert refusal.value.code == "version.conflict"


async def test_an_older_package_can_be_activated_again(ledger: Ledger) -> None:
    await ledger.packages.apply(NEXT, "deployer")
    assert (await ledger.packages.apply(PACKAGE, "deployer")).changes == ("activation",)
    active = await ledger.packages.active(DEFINITION.id)
    assert active is not None
    assert active.revision == DEFINITION.revision


async def test_a_withdrawn_package_is_active_no_more_until_it_is_applied(ledger: Ledger) -> None:
    await ledger.packages.withdraw(DEFINITION.id, "operator")
    assert await ledger.packages.active(DEFINITION.id) is None
    assert await ledger.packages.every_active() == []
    with pytest.raises(Refused, match="no active package"):
        await ledger.packages.withdraw(DEFINITION.id, "operator")
    await ledger.packages.apply(PACKAGE, "deployer")
    assert [one.workflow for one in await ledger.packages.every_active()] == [DEFINITION.id]


async def test_a_definition_is_stored_sealed_and_read_back_by_its_revision(
    ledger: Ledger, sql: Sql
) -> None:
    stored = await ledger.definitions.get(DEFINITION.revision)
    assert stored.to_json() == DEFINITION.to_json()
    ((sealed,),) = await sql("select sealed_definition from coordinator.definitions")
    assert b"inputSchema" not in sealed


async def test_an_unknown_revision_is_refused(ledger: Ledger) -> None:
    with pytest.raises(ActivityError) as refusal:
        await ledger.definitions.get("sha256:nothing")
    assert refusal.value.code == "revision.unknown"


async def test_a_definition_under_another_revision_does_not_open(ledger: Ledger, sql: Sql) -> None:
    await ledger.packages.apply(NEXT, "deployer")
    await sql(
        "update coordinator.definitions d set sealed_definition = o.sealed_definition"
        " from coordinator.definitions o where o.revision <> d.revision"
    )
    with pytest.raises(Exception, match="not-authentic"):
        await ledger.definitions.get(DEFINITION.revision)


async def test_a_definition_that_is_not_its_revision_is_refused(ledger: Ledger, sql: Sql) -> None:
    forged = ledger.packages._sealer.seal(CHANGED.to_json(), "definition", DEFINITION.revision)
    await sql("update coordinator.definitions set sealed_definition = %s", forged)
    with pytest.raises(DefinitionError, match="other-revision"):
        await ledger.definitions.get(DEFINITION.revision)
