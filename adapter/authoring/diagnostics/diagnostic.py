"""A finding about an author's file, and the collector that every check writes to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from activities.yaml.problems import Related
from activities.yaml.sources import Spot
from adapter.authoring.diagnostics.codes import CODES, Severity
from interpreter.contract.values import JsonValue

LARGEST_FILE_REPORT = 100
"""Findings kept per file (contract: bound, then ``config.too-many-problems``)."""

__all__ = ["Artifact", "Diagnostic", "Related", "Report", "Severity"]


class Artifact(StrEnum):
    """Which of a project's files a finding is about."""

    WORKFLOW = "workflow"
    FUNCTIONS = "functions"
    SCENARIOS = "scenarios"
    RUNTIME = "runtime"
    PROJECT = "project"


_ARTIFACTS = {
    "workflow.yaml": Artifact.WORKFLOW,
    "functions.rhai": Artifact.FUNCTIONS,
    "scenarios.yaml": Artifact.SCENARIOS,
    "runtime.yaml": Artifact.RUNTIME,
}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable code, a place, a message without values, and what to do next."""

    code: str
    severity: Severity
    message: str
    spot: Spot
    remedy: str
    related: tuple[Related, ...] = ()

    @property
    def artifact(self) -> Artifact:
        """The kind of file that the finding is about."""
        return _ARTIFACTS.get(self.spot.file.rpartition("/")[2], Artifact.PROJECT)

    def to_json(self) -> dict[str, JsonValue]:
        """``{severity, code, artifact, path, message, suggestedAction, source, related}``."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "artifact": self.artifact.value,
            "path": self.spot.pointer,
            "message": self.message,
            "suggestedAction": self.remedy,
            "source": _place(self.spot),
            "related": [
                {"message": one.message, "path": one.spot.pointer, "source": _place(one.spot)}
                for one in self.related
            ],
        }


def _place(spot: Spot) -> dict[str, JsonValue]:
    return {"file": spot.file, "line": spot.line, "column": spot.column}


class Report:
    """Collects findings; never raises, so that all independent ones are reported together."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._seen: set[tuple[str, Spot, str]] = set()

    def add(
        self,
        code: str,
        spot: Spot,
        message: str,
        remedy: str = "",
        related: Iterable[Related] = (),
    ) -> None:
        """Write down one finding; without ``remedy`` the code's own is used."""
        entry = CODES[code]
        key = (code, spot, message)
        if key in self._seen:
            return
        self._seen.add(key)
        self._found.append(
            Diagnostic(code, entry.severity, message, spot, remedy or entry.remedy, tuple(related))
        )

    @property
    def failed(self) -> bool:
        """True once an error was found."""
        return any(one.severity is Severity.ERROR for one in self._found)

    def errors_in(self, file: str) -> bool:
        """True once an error was found in this file."""
        return any(one.severity is Severity.ERROR and one.spot.file == file for one in self._found)

    def findings(self) -> tuple[Diagnostic, ...]:
        """All findings in file order, at most 100 a file; a last one says that more were left."""
        ordered = sorted(
            self._found,
            key=lambda one: (one.spot.file, one.spot.line, one.spot.column, one.code),
        )
        kept: list[Diagnostic] = []
        for _, group in groupby(ordered, key=lambda one: one.spot.file):
            found = list(group)
            kept += found[:LARGEST_FILE_REPORT]
            if len(found) > LARGEST_FILE_REPORT:
                kept.append(_too_many(found[LARGEST_FILE_REPORT:]))
        return tuple(kept)


def _too_many(left_out: list[Diagnostic]) -> Diagnostic:
    """What stands for the findings that are left out; an error only if one of them is."""
    entry = CODES["config.too-many-problems"]
    severity = min(left_out, key=lambda one: one.severity.value).severity
    return Diagnostic(
        entry.code,
        severity,
        f"more than {LARGEST_FILE_REPORT} problems in this file; the rest is left out",
        replace(left_out[0].spot, length=1),
        entry.remedy,
    )
