"""The benchmark of the language runs, and its report is one object with every figure."""

from __future__ import annotations

import json

import pytest

from benchmarks import language


@pytest.mark.timeout(180)  # it plays a thousand scenarios, on a machine that may be busy
def test_every_figure_is_measured_and_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["language", "--format", "json", "--rounds", "1"])
    assert language.main() == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report) == 8
    assert all(figure["best"] > 0 for figure in report.values())
    aimed = [name for name, figure in report.items() if figure["aim"] is not None]
    assert len(aimed) == 5
