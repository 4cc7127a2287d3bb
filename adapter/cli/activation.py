"""The commands `plan` and `apply`: what a deployment admits, and how that changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adapter import package as packages
from adapter.authoring.runtimes.tasks import task_misfit
from adapter.cli.loops import run_to_end
from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.project import compile_project
from adapter.cli.terminal import Format, Terminal
from adapter.config.catalogue import catalogue_of
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.errors import Refused
from adapter.ledger import Migrated, Package, Packages, Plan, migrate
from adapter.package.digests import SUMS_FILE, digest_of
from adapter.wiring.deployment import key_ring, open_ledger, service_role
from interpreter.definition.document import Definition, PackagedDefinition

_ACTOR = "coordinatorctl"

PackageOption = Annotated[
    Path, typer.Option("--package", metavar="DIR", help="the package's folder")
]
DigestOption = Annotated[
    str | None, typer.Option("--digest", help="the package digest that is expected")
]


def plan(
    package: PackageOption,
    digest: DigestOption = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what `apply` would change; changes nothing."""
    loaded = load_runtime(find_runtime(runtime))
    found = _bound_package(loaded, package, digest)
    _show(Terminal(format), run_to_end(_planned(loaded, found)), applied=False)


def apply(
    package: PackageOption,
    digest: DigestOption = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Migrate the ledger, grant the service its rights, and make a package the active one."""
    loaded = load_runtime(find_runtime(runtime))
    found = _bound_package(loaded, package, digest)
    _show(Terminal(format), run_to_end(apply_package(loaded, found)), applied=True)


async def apply_package(runtime: Runtime, package: Package) -> dict[str, Any]:
    """Migrate and activate; gives what was done as the commands report it."""
    url = runtime.secrets.secret(runtime.document.database.migration_url).reveal()
    migrated = await migrate(url, service_role(runtime))
    return _report(await _activated(runtime, package), migrated)


async def _planned(runtime: Runtime, package: Package) -> dict[str, Any]:
    try:
        async with open_ledger(runtime, pool_size=2) as ledger:
            return _report(await ledger.packages.plan(package), Migrated([], False))
    except Refused as error:
        if error.code != "ledger.not-migrated":
            raise
    definition = package.definition
    everything = ("definition", "package", "activation")
    version = package.labels.version
    fresh = Plan(definition.id, definition.revision, package.digest, version, everything, None)
    return _report(fresh, Migrated(["every migration"], True))


def _bound_package(runtime: Runtime, folder: Path, digest: str | None) -> Package:
    """A package that was read whole and whose connections the deployment has."""
    found = packages.read_package(folder, digest)
    return bound(runtime, found)


def bound(runtime: Runtime, found: packages.Package) -> Package:
    """A package for this deployment; Refused ``connection.unbound`` names what is missing."""
    definition = found.definition.definition
    _require_connections(runtime, definition)
    return Package(found.digest, definition, found.definition.labels)


def _require_connections(runtime: Runtime, definition: Definition) -> None:
    for name, product in sorted(definition.connections.items()):
        connection = runtime.document.connections.get(name)
        if connection is None or connection.product != product:
            raise Refused(
                "connection.unbound",
                f"the deployment has no {product} connection of this name",
                place=f"/connections/{name}",
                remedy="add it to runtime.yaml, then apply again",
            )
        if connection.for_tasks is None:
            continue
        misfit = task_misfit(definition, name, for_tasks=connection.for_tasks)
        if misfit is not None:
            raise Refused(
                "connection.unbound",
                f"the connection {misfit.message}",
                place=f"/connections/{name}",
                remedy=misfit.remedy,
            )


def _report(plan: Plan, migrated: Migrated) -> dict[str, Any]:
    return {
        "workflow": plan.workflow,
        "version": plan.version,
        "revision": plan.revision,
        "package": plan.package,
        "migrations": migrated.names,
        "rights": migrated.granted,
        "changes": list(plan.changes),
        "replaces": _replaced(plan),
    }


def _replaced(plan: Plan) -> str | None:
    # A package that is active already replaces nothing.
    if plan.active is None or plan.active.package == plan.package:
        return None
    return plan.active.package


def _show(terminal: Terminal, report: dict[str, Any], *, applied: bool) -> None:
    if terminal.format is Format.JSON:
        terminal.object(report)
        return
    terminal.facts(
        [
            ("workflow", f"{report['workflow']} {report['version']}".strip()),
            ("revision", report["revision"]),
            ("package", report["package"]),
            ("replaces", report["replaces"]),
            ("migrations", ", ".join(report["migrations"])),
            ("rights", "granted" if report["rights"] else ""),
            ("changes", ", ".join(report["changes"])),
        ]
    )
    if not (report["changes"] or report["migrations"] or report["rights"]):
        terminal.line("nothing to change")
    elif applied:
        terminal.line("applied")


async def activate_project(runtime_file: Path, folder: Path) -> Plan:
    """Package a project in memory and make it the active one, as `apply` does with a folder."""
    runtime = load_runtime(runtime_file)
    return await activate_packaged(runtime, compile_project(folder, catalogue_of(runtime)))


async def activate_packaged(runtime: Runtime, packaged: PackagedDefinition) -> Plan:
    """Make a compiled project the active one; the plan tells what that changed."""
    digest = digest_of(packages.package_files(packaged)[SUMS_FILE])
    return await _activated(runtime, bound(runtime, packages.Package(packaged, digest)))


async def _activated(runtime: Runtime, package: Package) -> Plan:
    """Activate as the owner of the schema, once the service's own role is known to be right."""
    async with open_ledger(runtime, pool_size=2) as ledger:
        actor = ledger.keyed.reference("actor", _ACTOR)
    url = runtime.secrets.secret(runtime.document.database.migration_url).reveal()
    async with Packages.open(url, key_ring(runtime), runtime.document.deployment) as owned:
        return await owned.apply(package, actor)
