"""The part of runtime.yaml about telemetry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.config.findings import ConfigurationError
from adapter.config.loading import load_runtime
from tests.adapter.config.test_runtime_file import sound


def _loaded(folder: Path, telemetry: Any) -> Any:
    file = folder / "runtime.yaml"
    file.write_text(yaml.safe_dump({**sound(), "telemetry": telemetry}))
    return load_runtime(file).document.telemetry


def test_each_kind_of_process_has_its_own_address(tmp_path: Path) -> None:
    asked = {"metrics": {"worker": {"bind": "127.0.0.1:9474"}}, "traces": {"file": "spans"}}
    found = _loaded(tmp_path, asked)
    assert (found.metrics.service, found.metrics.worker.bind) == (None, "127.0.0.1:9474")
    assert found.traces.file == "spans"


@pytest.mark.parametrize(
    ("traces", "code"),
    [
        ({}, "config.invalid-value"),
        ({"file": "spans", "endpoint": "https://there.example"}, "config.invalid-value"),
        ({"file": "spans", "authorizationRef": "secret:env/NAME"}, "config.invalid-value"),
        ({"endpoint": "http://there.example/v1/traces"}, "config.plain-http"),
        ({"endpoint": "https://169.254.169.254/v1/traces"}, "config.forbidden-address"),
        ({"endpoint": "https://there.example", "authorizationRef": "x"}, "config.secret-reference"),
    ],
)
def test_what_can_not_be_meant_is_refused(tmp_path: Path, traces: Any, code: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        _loaded(tmp_path, {"traces": traces})
    [finding] = caught.value.findings
    assert (finding.code, finding.pointer.startswith("/telemetry/traces")) == (code, True)
