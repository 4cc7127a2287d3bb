"""Commands as a person calls them, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from adapter.cli.main import main


@dataclass(frozen=True)
class Said:
    """What a command line said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> Any:
        """Its JSON output; in that form nothing stands on stderr."""
        assert self.err == ""
        return json.loads(self.out)


Run = Callable[..., Said]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `coordinatorctl` with arguments."""

    def _run(*arguments: str) -> Said:
        code = main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Said(code, captured.out, captured.err)

    return _run
