"""Whether a deployment's connections do for tasks what a workflow does for them (contract 1.4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from activities.catalogue import Catalogue
from adapter.authoring import load_project
from adapter.authoring.proof import prove_project
from adapter.cli.activation import bound
from adapter.config.loading import load_runtime
from adapter.errors import Refused
from adapter.package import read_package, write_package
from tests.adapter.config.test_runtime_file import sound
from tests.fixtures.deployment import ROOT

_PUBLIC = ROOT / "tests" / "adapter" / "authoring" / "public"
_CLIENT = {
    "type": "client-credentials",
    "tokenEndpoint": "https://issuer.example/token",
    "clientId": "worker",
    "signingKeyRef": "secret:file/worker-key",
    "resource": "urn:example:one",
    "scopes": ["book"],
}
_TASK = {
    "baseUrl": "https://casework.example",
    "issuer": "https://casework.example",
    "subject": "clerk",
    "exchangeAudience": "https://issuer.example",
    "bootstrapResource": "urn:example:casework",
}
_TASKS = _CLIENT | {"taskAuthority": _TASK}


def _connection(product: str, **more: Any) -> dict[str, Any]:
    return {"product": product, "baseUrl": "https://one.example", "authorization": _CLIENT, **more}


_RECORDS = _connection("breg", profile="desk")
_LETTERS = _connection("messaging")
_CALENDAR = _connection("scheduling")
_CALENDAR_FOR_TASKS = _CALENDAR | {"authorization": _TASKS, "observationAuthorization": _CLIENT}
_JUDGE = {
    "product": "evaluation",
    "baseUrl": "http://127.0.0.1:1",
    "protocol": "system-one",
    "model": "small",
}
_BOOKING = {"records": _RECORDS, "letters": _LETTERS, "calendar": _CALENDAR_FOR_TASKS}
_SIMULATED = _CALENDAR | {
    "baseUrl": "http://127.0.0.1:1",
    "authorization": {"type": "none", "grants": "ignored"},
}
_CASES = pytest.mark.parametrize(
    ("project", "connections", "wrong"),
    [
        ("counter_booking", _BOOKING, None),
        ("counter_booking", _BOOKING | {"calendar": _SIMULATED}, None),
        ("counter_booking", _BOOKING | {"calendar": _CALENDAR}, "calendar"),
        ("bakery-judgement", {"records": _RECORDS, "judge": _JUDGE}, None),
        (
            "bakery-judgement",
            {"records": _RECORDS | {"authorization": _TASKS}, "judge": _JUDGE},
            "records",
        ),
    ],
)


def _written(folder: Path, connections: dict[str, Any]) -> Path:
    path = folder / "runtime.yaml"
    path.write_text(json.dumps(sound() | {"connections": connections}))
    return path


@_CASES
def test_check_places_a_connection_that_is_bound_otherwise(
    tmp_path: Path, project: str, connections: dict[str, Any], wrong: str | None
) -> None:
    runtime = _written(tmp_path, connections)
    proof = prove_project(_PUBLIC / project, Catalogue.standard(), runtime=runtime)
    expected = [] if wrong is None else [f"/connections/{wrong}"]
    assert [one.spot.pointer for one in proof.errors] == expected


@_CASES
def test_apply_refuses_a_connection_that_is_bound_otherwise(
    tmp_path: Path, project: str, connections: dict[str, Any], wrong: str | None
) -> None:
    runtime = load_runtime(_written(tmp_path, connections), {})
    definition = load_project(_PUBLIC / project, Catalogue.standard()).definition
    assert definition is not None
    package = read_package(tmp_path / "package", write_package(definition, tmp_path / "package"))
    if wrong is None:
        assert bound(runtime, package).digest == package.digest
        return
    with pytest.raises(Refused) as refused:
        bound(runtime, package)
    assert (refused.value.code, refused.value.place) == (
        "connection.unbound",
        f"/connections/{wrong}",
    )
