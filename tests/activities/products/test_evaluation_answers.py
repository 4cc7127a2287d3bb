"""The mathematics of answers, without a network."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from activities.products.evaluation_answers import InvalidAnswer, read_evaluation
from tests.activities.inputs import QUESTIONS

_USAGE = {
    "input_tokens": 5,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 5,
}


def _system_one() -> dict[str, Any]:
    return {
        "model": "small-3",
        "usage": {},
        "answers": {
            "harmless": {"type": "noul", "noul": 0.75},
            "kind": {
                "type": "choice",
                "choice": "shop",
                "probabilities": {"shop": 0.6, "market": 0.4},
                "confidence": 0.5,
            },
            "effort": {
                "type": "score",
                "score": 0.5,
                "legend": {"0": "little", "1": "some", "2": "much"},
                "probabilities": {"0": 0.6, "1": 0.3, "2": 0.1},
                "confidence": 1,
            },
        },
    }


def _openai() -> dict[str, Any]:
    return {
        "model": "small-3",
        "usage": copy.deepcopy(_USAGE),
        "answers": [
            {
                "type": "score",
                "name": "effort",
                "score": 0.5,
                "confidence": 1,
                "probabilities": [
                    {"value": 2, "label": "much", "probability": 0.1},
                    {"value": 0, "label": "little", "probability": 0.6},
                    {"value": 1, "label": "some", "probability": 0.3},
                ],
            },
            {"type": "predicate", "name": "harmless", "probability": 0.75},
            {
                "type": "choice",
                "name": "kind",
                "choice": "shop",
                "confidence": 0.5,
                "probabilities": [
                    {"value": "shop", "probability": 0.6},
                    {"value": "market", "probability": 0.4},
                ],
            },
        ],
    }


def _read(protocol: str, body: Any) -> Any:
    return read_evaluation((protocol, "small"), QUESTIONS, body)


def test_both_protocols_give_the_same_answers() -> None:
    first = _read("system-one", _system_one())
    second = _read("openai-decisions", _openai())
    assert first["answers"] == second["answers"]
    assert first["returnedModel"] == "small-3"


def test_rounding_within_a_thousandth_is_accepted() -> None:
    body = _system_one()
    body["answers"]["kind"]["probabilities"] = {"shop": 0.4995, "market": 0.5001}
    body["answers"]["effort"]["score"] = 0.5029
    assert _read("system-one", body)["answers"]["kind"]["choice"] == "shop"


Change = Callable[[Any], None]


def _set(*path_and_value: Any) -> Change:
    *path, last, value = path_and_value

    def change(body: Any) -> None:
        for key in path:
            body = body[key]
        body[last] = value

    return change


def _drop(*path: Any) -> Change:
    def change(body: Any) -> None:
        for key in path[:-1]:
            body = body[key]
        del body[path[-1]]

    return change


@pytest.mark.parametrize(
    "change",
    [
        _drop("model"),
        _set("model", ""),
        _set("model", "x" * 513),
        _set("model", "a\nb"),
        _drop("usage"),
        _set("usage", []),
        _drop("answers", "kind"),
        _set("answers", "more", {"type": "noul", "noul": 0.5}),
        _set("answers", []),
        _set("answers", "harmless", {"type": "predicate", "probability": 0.5}),
        _set("answers", "harmless", "noul", 1.01),
        _set("answers", "harmless", "noul", True),
        _set("answers", "harmless", "noul", None),
        _set("answers", "kind", "type", "score"),
        _set("answers", "kind", "choice", "market"),
        _set("answers", "kind", "choice", "street"),
        _set("answers", "kind", "confidence", -0.1),
        _drop("answers", "kind", "confidence"),
        _set("answers", "kind", "probabilities", "market", 0.5),
        _set("answers", "kind", "probabilities", "street", 0.0),
        _drop("answers", "kind", "probabilities", "market"),
        _set("answers", "kind", "probabilities", []),
        _set("answers", "effort", "legend", "2", "more"),
        _drop("answers", "effort", "legend"),
        _set("answers", "effort", "score", 2.5),
        _set("answers", "effort", "score", 0.6),
        _set("answers", "effort", "score", "0.5"),
        _set("answers", "effort", "probabilities", "0", -0.6),
        _set("answers", "harmless", []),
    ],
)
def test_system_one_answers_that_break_a_rule_are_refused(change: Change) -> None:
    body = _system_one()
    change(body)
    with pytest.raises(InvalidAnswer):
        _read("system-one", body)


@pytest.mark.parametrize(
    "change",
    [
        _set("answers", {}),
        _set("answers", 0, "name", "other"),
        _set("answers", 1, "name", "kind"),
        _set("answers", 1, "name", 7),
        _set("answers", 1, "nothing"),
        _drop("answers", 1),
        _set("answers", 1, "type", "noul"),
        _set("answers", 2, "probabilities", 1, "value", "shop"),
        _set("answers", 2, "probabilities", {}),
        _set("answers", 0, "probabilities", 0, "label", "little"),
        _set("answers", 0, "probabilities", 0, "value", True),
        _set("usage", "total_tokens", -1),
        _set("usage", "input_tokens", 1.5),
        _drop("usage", "output_tokens_details"),
        _drop("usage", "input_tokens_details", "cached_tokens"),
    ],
)
def test_openai_answers_that_break_a_rule_are_refused(change: Change) -> None:
    body = _openai()
    change(body)
    with pytest.raises(InvalidAnswer):
        _read("openai-decisions", body)


@pytest.mark.parametrize("body", [None, [], "text", 7])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(InvalidAnswer):
        _read("system-one", body)
