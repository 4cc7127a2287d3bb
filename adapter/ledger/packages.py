"""Packages and their activation: what a deployment admits, and what applying one would change."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from adapter.crypto import Keyed, KeyRing, Sealer
from adapter.errors import Refused
from adapter.ledger.audit import lock_deployment_chain, recorded
from adapter.ledger.belonging import require_ours
from adapter.ledger.definitions import PURPOSE
from adapter.ledger.pool import Pool, Question, Transaction, Write
from adapter.ledger.queries import queries
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition, Labels

_SQL = queries("packages")


@dataclass(frozen=True, slots=True)
class Package:
    """A frozen folder as the deployment keeps it; ``digest`` is of the whole folder."""

    digest: str
    definition: Definition
    labels: Labels


@dataclass(frozen=True, slots=True)
class Activation:
    """The active package of a workflow."""

    workflow: str
    revision: str
    package: str
    version: str
    labels: dict[str, JsonValue]
    activated_at: datetime


@dataclass(frozen=True, slots=True)
class Plan:
    """What applying a package changes; nothing when ``changes`` is empty.

    ``changes`` are short words: ``definition`` and ``package`` are stored, ``activation`` makes it
    the active one. ``active`` is the activation that would be replaced.
    """

    workflow: str
    revision: str
    package: str
    version: str
    changes: tuple[str, ...]
    active: Activation | None


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """What the ledger knows of a package and its version."""

    now: datetime
    definition_stored: bool
    package_stored: bool
    other_revision: str | None


@dataclass(frozen=True, slots=True)
class _Locked:
    single: bool


class Packages:
    """The store of packages and the append-only record of their activations.

    The service reads them. ``apply`` and ``withdraw`` are for the role that owns the schema, which
    ``open`` connects as: a process that serves runs can not change what is admitted.
    """

    def __init__(self, pool: Pool, sealer: Sealer) -> None:
        self._pool = pool
        self._sealer = sealer

    @staticmethod
    @asynccontextmanager
    async def open(url: str, keys: KeyRing, deployment: str) -> AsyncIterator[Packages]:
        """Connect as the role that owns the schema; raises LedgerAway, Refused."""
        sealer = Sealer(keys, deployment)
        pool = Pool(url, 2)
        try:
            await pool.open()
            await require_ours(pool, Keyed(keys, deployment), sealer)
            yield Packages(pool, sealer)
        finally:
            await pool.close()

    async def plan(self, package: Package) -> Plan:
        """What ``apply`` would change; raises what ``apply`` would."""

        async def work(transaction: Transaction) -> Plan:
            return (await _planned(transaction, package))[0]

        return await self._pool.run(work)

    async def apply(self, package: Package, actor: str) -> Plan:
        """Store and activate a package in one transaction; gives what changed.

        ``actor`` is a keyed reference. Raises Refused ``version.conflict`` when the workflow's
        version is bound to another revision.
        """

        async def work(transaction: Transaction) -> Plan:
            await transaction.ask(Question(_SQL["lock_control"], {}, _Locked))
            plan, facts = await _planned(transaction, package)
            if plan.changes:
                detail = {"changes": list(plan.changes)}
                writes = [*self._stored(package, facts), _act(package, "activate", actor, facts)]
                head = await lock_deployment_chain(transaction)
                told = {**_named(package), **detail}
                record = recorded(head, "package.activated", {"actor": actor}, told)
                await transaction.commit(*writes, record)
            return plan

        return await self._pool.run(work)

    async def withdraw(self, workflow: str, actor: str) -> Activation:
        """Withdraw the active package of a workflow: no run of its revision dispatches any more.

        Raises Refused ``workflow.unknown`` when the workflow has no active package.
        """

        async def work(transaction: Transaction) -> Activation:
            await transaction.ask(Question(_SQL["lock_control"], {}, _Locked))
            active = await transaction.one(_active_question(workflow))
            if active is None:
                raise Refused(
                    "workflow.unknown",
                    "the workflow has no active package",
                    place=workflow[:64],
                    remedy="list the active packages",
                    status=404,
                )
            facts = await _facts(
                transaction, active.workflow, active.version, active.revision, active.package
            )
            keys = {"workflow": workflow, "revision": active.revision, "package": active.package}
            act = {**keys, "act": "withdraw", "actor": actor, "now": facts.now}
            head = await lock_deployment_chain(transaction)
            record = recorded(head, "package.withdrawn", {"actor": actor}, {**keys})
            await transaction.commit(Write(_SQL["append_activation"], act), record)
            return active

        return await self._pool.run(work)

    async def active(self, workflow: str) -> Activation | None:
        """The active package of a workflow, or None."""
        return await self._pool.one(_active_question(workflow))

    async def every_active(self) -> list[Activation]:
        """The active package of every workflow that has one, by workflow id."""
        return await self._pool.ask(_active_question(None))

    def _stored(self, package: Package, facts: PackageFacts) -> list[Write]:
        definition = package.definition
        sealed = self._sealer.seal_bytes(definition.to_bytes(), PURPOSE, definition.revision)
        keys = {"workflow": definition.id, "revision": definition.revision, "now": facts.now}
        form = {
            **keys,
            "deadline_seconds": definition.deadline_seconds,
            "sealed_definition": sealed,
        }
        stored = {
            **keys,
            "digest": package.digest,
            "version": package.labels.version,
            "labels": json.dumps(package.labels.to_json()),
        }
        return [Write(_SQL["store_definition"], form), Write(_SQL["store_package"], stored)]


async def _planned(transaction: Transaction, package: Package) -> tuple[Plan, PackageFacts]:
    definition, version = package.definition, package.labels.version
    facts = await _facts(transaction, definition.id, version, definition.revision, package.digest)
    if facts.other_revision is not None and version:
        raise Refused(
            "version.conflict",
            "this version of the workflow is bound to another revision",
            place=f"{definition.id} {version}",
            remedy="give the changed project a new version",
        )
    active = await transaction.one(_active_question(definition.id))
    changes = []
    if not facts.definition_stored:
        changes.append("definition")
    if not facts.package_stored:
        changes.append("package")
    if active is None or active.package != package.digest:
        changes.append("activation")
    plan = Plan(definition.id, definition.revision, package.digest, version, tuple(changes), active)
    return plan, facts


async def _facts(
    transaction: Transaction, workflow: str, version: str, revision: str, digest: str
) -> PackageFacts:
    keys = {"workflow": workflow, "version": version, "revision": revision, "digest": digest}
    (facts,) = await transaction.ask(Question(_SQL["package_facts"], keys, PackageFacts))
    return facts


def _active_question(workflow: str | None) -> Question[Activation]:
    return Question(_SQL["active_packages"], {"workflow": workflow}, Activation)


def _act(package: Package, act: str, actor: str, facts: PackageFacts) -> Write:
    keys = {**_named(package), "act": act, "actor": actor, "now": facts.now}
    return Write(_SQL["append_activation"], keys)


def _named(package: Package) -> dict[str, JsonValue]:
    return {
        "workflow": package.definition.id,
        "revision": package.definition.revision,
        "package": package.digest,
    }
