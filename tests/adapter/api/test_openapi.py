"""Tests of the OpenAPI document: who has to be told, and every answer that there may be."""

from __future__ import annotations

from typing import Any

import pytest

from adapter.api import Service, create_app
from adapter.api.requests import ANSWERS_OF_ALL
from tests.adapter.api.conftest import (
    MemoryBook,
    MemoryDesk,
    MemoryExecutions,
    MemoryOversight,
    MemorySignals,
)
from tests.fixtures.access import FixedAccess

OPEN = {"/health", "/ready", "/problems/{code}"}


def document() -> dict[str, Any]:
    """The document of a service."""
    service = Service(
        MemoryBook(),
        MemoryExecutions(),
        MemoryDesk(),
        FixedAccess.of_keys(),
        {},
        MemoryOversight(),
        MemorySignals(),
    )
    return create_app(service).openapi()


OPERATIONS = [
    pytest.param(path, operation, id=operation["operationId"])
    for path, methods in document()["paths"].items()
    for operation in methods.values()
]


def test_both_ways_to_say_who_calls_are_described() -> None:
    schemes = document()["components"]["securitySchemes"]
    assert (schemes["AccessToken"]["scheme"], schemes["AccessToken"]["bearerFormat"]) == (
        "bearer",
        "JWT",
    )
    assert (schemes["ApiKey"]["in"], schemes["ApiKey"]["name"]) == ("header", "X-API-Key")


@pytest.mark.parametrize(("path", "operation"), OPERATIONS)
def test_an_operation_lists_all_that_it_may_answer(path: str, operation: dict[str, Any]) -> None:
    answers = {int(status) for status in operation["responses"]}
    expected = set(ANSWERS_OF_ALL)
    if operation.get("security"):
        assert [set(way) for way in operation["security"]] == [{"AccessToken"}, {"ApiKey"}]
        expected |= {400, 401, 403, 429, 503}
    elif path not in OPEN:
        expected |= {400, 401, 429, 503}
    if "{runId}" in path:
        expected |= {400, 404}
    if operation.get("requestBody") and operation.get("security"):
        expected |= {415}
    assert expected <= answers


@pytest.mark.parametrize(("path", "operation"), OPERATIONS)
def test_a_problem_says_what_it_is_and_when_to_come_again(
    path: str, operation: dict[str, Any]
) -> None:
    for status, answer in operation["responses"].items():
        if int(status) >= 400 and (path, status) != ("/ready", "503"):
            assert list(answer["content"]) == ["application/problem+json"]
            assert answer["description"]
        if status in ("429", "503") and path != "/ready":
            assert "Retry-After" in answer["headers"]
