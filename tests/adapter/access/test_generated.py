"""Requests made up from the OpenAPI document: no failure, no hidden run, no undocumented answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.adapter.access.deployed import WORKFLOW, Deployed

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
]
TRIGGER = "application-submitted"
FEW = 5
MANY = pytest.param(100, marks=[pytest.mark.exhaustive, pytest.mark.timeout(1_800)])
CALLERS: dict[str, Callable[[Deployed], dict[str, str]]] = {
    "a stranger": lambda site: {},
    "the owner": lambda site: site.token("plain"),
    "another person": lambda site: site.token("plain", "bob"),
    "an operator": lambda site: site.key("every-operator"),
}


def probed(
    site: Deployed, operation: Any, headers: dict[str, str], run: str, examples: int
) -> list[int]:
    """Ask for an operation in made-up ways, right and wrong; gives the statuses of the answers."""
    statuses: list[int] = []

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=examples == FEW,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    )
    def ask(case: Any) -> None:
        if headers:
            # Credentials are made up too; a caller has its own.
            for name in ("Authorization", "X-API-Key"):
                case.headers.pop(name, None)
        _aim(case, run)
        response = case.call(base_url=site.url, headers=headers)
        case.validate_response(response, checks=CHECKS)
        statuses.append(response.status_code)

    ask()
    return statuses


def _aim(case: Any, run: str) -> None:
    """Let a request be about what there is, which chance alone would never find."""
    known = {"runId": run, "name": "paid", "workflow": WORKFLOW, "trigger": TRIGGER}
    for name in set(case.path_parameters or {}) & set(known):
        case.path_parameters[name] = known[name]
    if isinstance(case.body, dict) and isinstance(case.body.get("workflow"), str):
        case.body["workflow"] = WORKFLOW


@pytest.mark.parametrize("examples", [FEW, MANY])
@pytest.mark.parametrize("caller", CALLERS)
async def test_made_up_requests_are_answered_as_documented(
    site: Deployed, caller: str, examples: int
) -> None:
    run = await site.start(site.token("plain"), "k")
    schema = schemathesis.openapi.from_dict(site.app.openapi())
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation, headers = found.ok(), CALLERS[caller](site)
        if caller == "another person" and "{runId}" not in operation.path:
            continue
        statuses = set(await asyncio.to_thread(probed, site, operation, headers, run, examples))
        guarded = bool(operation.definition.raw.get("security"))
        if caller == "a stranger" and guarded:
            assert statuses <= {401}
        if caller == "another person":
            assert statuses <= {400, 404, 415}
