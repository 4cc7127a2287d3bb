"""What a simulation plays: the definition, a case's replies, failures, and when waits complete."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from activities.catalogue import Catalogue
from adapter.errors import Usage
from interpreter.contract.values import Document, JsonValue
from interpreter.definition.document import Definition
from interpreter.scenario import ReplyType

LONGEST_SECONDS = 3_600.0
_FAILURE = re.compile(r"([a-z0-9-]+)(?::([^*]+))?(\*([0-9]{0,4}))?")
_CODE = re.compile(r"[a-z][a-z0-9.-]{0,127}")
_GRAMMAR = "lost-response, refuse:CODE, status-5xx, slow:SECONDS or rate-limited; *N for N times"


class FailureKind(StrEnum):
    """How a simulated product can fail."""

    LOST_RESPONSE = "lost-response"
    """The request is carried out, and the connection closes without an answer."""
    REFUSE = "refuse"
    STATUS_5XX = "status-5xx"
    SLOW = "slow"
    RATE_LIMITED = "rate-limited"


class Failure(Document):
    """A failure of a step: it strikes the first ``times`` attempts of every command, None all.

    ``code`` belongs to refuse, ``seconds`` to slow.
    """

    step: str
    kind: FailureKind
    code: str = ""
    seconds: Annotated[float, Field(ge=0, le=LONGEST_SECONDS)] = 0.0
    times: Annotated[int, Field(ge=1)] | None = 1

    @staticmethod
    def parse(text: str) -> Failure:
        """``STEP=KIND[:SETTING][*[N]]``; Usage ``simulation.failure-invalid`` for anything else."""
        step, _, rest = text.partition("=")
        match = _FAILURE.fullmatch(rest)
        try:
            if match is None or not step:
                raise ValueError
            kind, setting = FailureKind(match[1]), match[2] or ""
            times = 1 if match[3] is None else int(match[4]) if match[4] else None
            takes_setting = kind in (FailureKind.REFUSE, FailureKind.SLOW)
            if takes_setting != bool(setting):
                raise ValueError
            if kind is FailureKind.SLOW:
                return Failure(step=step, kind=kind, seconds=float(setting), times=times)
            if setting and _CODE.fullmatch(setting) is None:
                raise ValueError
            return Failure(step=step, kind=kind, code=setting, times=times)
        except ValueError:
            raise Usage(
                "simulation.failure-invalid",
                "this is no failure of a step",
                place=step[:64],
                remedy=f"write STEP= and one of {_GRAMMAR}",
            ) from None


class ScriptedReply(Document):
    """One reply of a scenario case."""

    type: ReplyType
    value: JsonValue = None
    code: str = ""
    takes_seconds: float = 0.0


class SimulationPlan(Document):
    """Everything the simulation's process is told.

    ``catalogue`` holds a deployer's documents (path -> text). ``script`` are a case's replies by
    step; ``completions`` the values that a case completes waits with, by wait step. ``examples``
    are values from the project's scenarios: they fill what a contract leaves open.
    """

    definition: JsonValue
    catalogue: dict[str, str] = Field(default_factory=dict)
    script: dict[str, tuple[ScriptedReply, ...]] = Field(default_factory=dict)
    completions: dict[str, JsonValue] = Field(default_factory=dict)
    examples: dict[str, JsonValue] = Field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    complete_after_seconds: float | None = None

    @staticmethod
    def read(path: Path) -> SimulationPlan:
        """A plan from its file; Usage ``simulation.plan-unreadable``."""
        try:
            return SimulationPlan.model_validate(json.loads(path.read_bytes()))
        except (OSError, ValueError, ValidationError) as error:
            raise Usage(
                "simulation.plan-unreadable",
                "the plan of the simulation can not be read",
                place=str(path),
                remedy="start it with `coordinatorctl dev PROJECT`, which writes the plan",
            ) from error

    def write(self, path: Path) -> None:
        """Write the plan to its file, whole or not at all."""
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(self.to_json()), encoding="utf-8")
        draft.replace(path)

    def read_definition(self) -> Definition:
        """The definition that is simulated."""
        return Definition.read(self.definition)

    def read_catalogue(self) -> Catalogue:
        """The catalogue with the deployer's documents; CatalogueRefused with their mistakes."""
        return Catalogue.with_documents(self.catalogue)
