"""Pretend decision evaluation in both protocols, and the external directory."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from examples.products.client import PretendProducts

QUESTIONS = {
    "complete": {"type": "noul", "instructions": "Is it complete?"},
    "route": {"type": "choice", "instructions": "Where to?", "criteria": {"a": "A", "b": "B"}},
    "urgency": {"type": "score", "instructions": "How urgent?", "criteria": ["low", "mid", "high"]},
}
LISTED = [
    {"type": "predicate", "name": "complete", "instructions": "Is it complete?"},
    {
        "type": "choice",
        "name": "route",
        "instructions": "Where to?",
        "choices": [{"value": "a", "description": "A"}, {"value": "b", "description": "B"}],
    },
    {
        "type": "score",
        "name": "urgency",
        "instructions": "How urgent?",
        "levels": [{"label": "low"}, {"label": "mid"}, {"label": "high"}],
    },
]


def system_one(caller: httpx.Client, questions: Any = QUESTIONS) -> httpx.Response:
    body = {"model": "m-1", "state": {"purpose": "bread"}, "questions": questions}
    return caller.post("/evaluation/v1/systemone", json=body)


def decisions(caller: httpx.Client) -> httpx.Response:
    body = {"model": "m-1", "input": "bread", "questions": LISTED}
    return caller.post("/evaluation/v1/decisions", json=body)


def test_system_one_answers_every_question_by_name(caller: httpx.Client) -> None:
    answer = system_one(caller).json()
    answers = answer["answers"]
    assert answer["model"] == "m-1"
    assert 0 <= answers["complete"]["noul"] <= 1
    assert answers["urgency"]["legend"] == {"0": "low", "1": "mid", "2": "high"}
    shares = answers["urgency"]["probabilities"]
    mean = sum(int(level) * share for level, share in shares.items())
    assert answers["urgency"]["score"] == pytest.approx(mean)


def test_a_choice_is_the_likeliest_option(caller: httpx.Client) -> None:
    route = system_one(caller).json()["answers"]["route"]
    assert sum(route["probabilities"].values()) == pytest.approx(1)
    assert route["choice"] == max(route["probabilities"], key=route["probabilities"].get)


def test_decisions_come_in_another_order_than_asked(caller: httpx.Client) -> None:
    answer = decisions(caller).json()
    assert [entry["name"] for entry in answer["answers"]] == ["urgency", "route", "complete"]
    assert answer["usage"]["total_tokens"] == answer["usage"]["input_tokens"]


def test_equal_requests_get_equal_answers_and_are_counted(
    caller: httpx.Client, products: PretendProducts
) -> None:
    assert system_one(caller).json() == system_one(caller).json()
    assert [effect.applied for effect in products.effects("evaluation.evaluate")] == [2]


def test_answers_can_be_scripted(caller: httpx.Client, products: PretendProducts) -> None:
    script: dict[str, Any] = {"complete": {"probability": 0.95}, "route": {"choice": "b"}}
    products.script_evaluation({**script, "urgency": {"level": 2}})
    answers = system_one(caller).json()["answers"]
    assert answers["complete"]["noul"] == 0.95
    assert answers["route"]["choice"] == "b"
    assert answers["urgency"]["probabilities"]["2"] == 0.8


def test_a_scripted_refusal_is_answered_in_the_list_protocol(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.script_evaluation({"route": {"refusal": True}, "complete": {"raw": {"type": "?"}}})
    answers = decisions(caller).json()["answers"]
    assert answers[1] == {"type": "refusal", "name": "route"}
    assert answers[2] == {"type": "?"}


def test_an_unknown_kind_of_question_is_refused(caller: httpx.Client) -> None:
    answer = system_one(caller, {"x": {"type": "essay"}})
    assert (answer.status_code, answer.json()["code"]) == (422, "evaluation-invalid")


def test_an_evaluation_needs_no_credential_but_takes_no_wrong_one(caller: httpx.Client) -> None:
    caller.headers["authorization"] = "Bearer wrong"
    assert system_one(caller).status_code == 401
    del caller.headers["authorization"]
    assert system_one(caller).status_code == 200


def test_the_directory_filters_a_list(caller: httpx.Client) -> None:
    found = caller.get("/external/offices", params={"city": "Graz"}).json()["items"]
    assert [office["id"] for office in found] == ["planning"]


def test_the_directory_answers_what_it_was_told(
    caller: httpx.Client, products: PretendProducts
) -> None:
    products.answer_external("people/1", {"name": "Ruth"}, status=429)
    answer = caller.get("/external/people/1")
    assert (answer.status_code, answer.json()) == (429, {"name": "Ruth"})
    assert "traceparent" not in answer.headers
    assert caller.get("/external/none").status_code == 404
