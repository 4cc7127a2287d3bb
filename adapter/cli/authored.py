"""A project as `dev` runs it: compiled, with the plan of its simulation and a sample input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from activities.catalogue import Catalogue
from adapter.authoring import load_project
from adapter.authoring.diagnostics.text import render_text
from adapter.authoring.samples import NoSample, generate
from adapter.authoring.scenarios import SCENARIOS_FILE, Suite, load_suite
from adapter.cli.project import refuse_project
from adapter.cli.terminal import Format, Terminal
from adapter.config.catalogue import read_documents
from adapter.errors import Refused, Usage
from adapter.simulation import Failure, ScriptedReply, SimulationPlan
from adapter.simulation.failing import require_step, steps_that_can_fail
from interpreter.contract.values import JsonValue
from interpreter.definition.document import Definition, PackagedDefinition
from interpreter.scenario import Case, ReplyType


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an author asks of the simulation: a case, failures, when results come by themselves."""

    case: str | None = None
    failures: Sequence[str] = ()
    complete_after: float | None = None
    catalogue: Sequence[Path] = ()

    @property
    def none(self) -> bool:
        """Whether nothing is asked for."""
        return (self.case, self.complete_after) == (None, None) and not (
            self.failures or self.catalogue
        )


@dataclass(frozen=True, slots=True)
class Authored:
    """A compiled project, its simulation's plan, and what fits its schemas (absent if none could).

    ``inputs`` has an input at the most, ``events`` data for each trigger.
    """

    folder: Path
    packaged: PackagedDefinition
    plan: SimulationPlan
    catalogue: tuple[Path, ...]
    inputs: tuple[JsonValue, ...]
    events: dict[str, JsonValue]

    @property
    def waits(self) -> list[str]:
        """The wait steps whose results the author completes."""
        steps = steps_that_can_fail(self.packaged.definition)
        return [name for name in steps if self.packaged.definition.nodes[name].kind == "wait"]


def read_authored(folder: Path, wishes: Wishes, terminal: Terminal) -> Authored:
    """Check and compile a project, and read its scenarios.

    What is wrong with the project is written as `check` writes it, and ends the command. Raises
    Usage ``dev.unknown-case``, Refused ``simulation.unknown-step``, Usage
    ``simulation.failure-invalid``, and what a catalogue document is refused with.
    """
    documents = read_documents(wishes.catalogue)
    catalogue = Catalogue.with_documents(documents)
    result = load_project(folder, catalogue)
    if result.definition is None:
        refuse_project(terminal, result, folder)
    definition = result.definition.definition
    suite = _suite(folder, definition, wishes.case, terminal)
    cases = () if suite is None else suite.cases
    case = _chosen(cases, wishes.case)
    failures = tuple(map(Failure.parse, wishes.failures))
    for failure in failures:
        require_step(steps_that_can_fail(definition), failure.step)
    plan = SimulationPlan(
        definition=definition.to_json(),
        catalogue={path: data.decode() for path, data in documents.items()},
        script={} if case is None else _script(case),
        completions={} if case is None else _completions(case),
        examples=_examples(cases),
        failures=failures,
        complete_after_seconds=wishes.complete_after,
    )
    files = tuple(path.absolute() for path in wishes.catalogue)
    inputs = _inputs(definition, cases, case)
    root = folder.parent if folder.is_file() else folder
    return Authored(root, result.definition, plan, files, inputs, _events(definition))


def _suite(
    folder: Path, definition: Definition, case: str | None, terminal: Terminal
) -> Suite | None:
    """The project's scenarios; only a chosen case makes mistakes in them matter."""
    file = (folder.parent if folder.is_file() else folder) / SCENARIOS_FILE
    if not file.exists() and case is None:
        return None
    reading = load_suite(file, definition)
    if reading.suite is None and case is not None:
        text = render_text(reading.diagnostics, reading.sources, folder=str(file.parent))
        if terminal.format is Format.TEXT:
            terminal.complain(text)
        first = reading.diagnostics[0]
        raise Refused(
            first.code,
            first.message,
            place=f"{file}:{first.spot.line}",
            remedy=f"see `coordinatorctl test {folder}`",
        )
    if reading.suite is None and terminal.format is Format.TEXT:
        terminal.line(f"{SCENARIOS_FILE} has mistakes; replies are made up without its values")
    return reading.suite


def _chosen(cases: Sequence[Case], name: str | None) -> Case | None:
    if name is None:
        return None
    for case in cases:
        if case.id == name:
            return case
    raise Usage(
        "dev.unknown-case",
        "the project's scenarios have no such case",
        place="--case",
        remedy=f"use one of: {', '.join(case.id for case in cases)}",
    )


def _script(case: Case) -> dict[str, tuple[ScriptedReply, ...]]:
    return {
        step: tuple(
            ScriptedReply(
                type=one.type, value=one.value, code=one.code, takes_seconds=one.takes_ms / 1_000
            )
            for one in replies
        )
        for step, replies in case.replies.items()
    }


def _completions(case: Case) -> dict[str, JsonValue]:
    return {one.step: one.value for one in case.completions if not one.gone}


def _examples(cases: Sequence[Case]) -> dict[str, JsonValue]:
    """The first value that the scenarios write for each step."""
    found: dict[str, JsonValue] = {}
    for case in cases:
        for step, replies in case.replies.items():
            for one in replies:
                if one.type is ReplyType.SUCCESS:
                    found.setdefault(step, one.value)
        for name, value in _completions(case).items():
            found.setdefault(name, value)
    return found


def _events(definition: Definition) -> dict[str, JsonValue]:
    """Data that each trigger takes, made up."""
    found: dict[str, JsonValue] = {}
    for name, trigger in definition.triggers.items():
        with suppress(NoSample):
            found[name] = generate(trigger.event_schema, name, optional=False)
    return found


def _inputs(
    definition: Definition, cases: Sequence[Case], case: Case | None
) -> tuple[JsonValue, ...]:
    if case is not None:
        return (case.input,)
    examples: Mapping[str, JsonValue] = {"example": cases[0].input} if cases else {}
    try:
        return (generate(definition.input_schema, definition.id, optional=False, **examples),)
    except NoSample:
        return ()
