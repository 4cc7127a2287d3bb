"""What a diagnostic code is: its name, severity, meaning and remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error refuses the project, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Code:
    """A stable code; ``summary`` and ``remedy`` are one sentence each.

    ``docs/reference/diagnostics/<code>.md`` says more about it.
    """

    code: str
    summary: str
    remedy: str
    severity: Severity = Severity.ERROR

    @property
    def page(self) -> str:
        """The page about this code, from the top of the repository."""
        return f"docs/reference/diagnostics/{self.code}.md"
