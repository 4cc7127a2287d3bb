"""The answers of a decision model: read in both protocols, and held to their mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from interpreter.contract.values import JsonValue

# Both protocols round probabilities to a few decimals.
TOLERANCE = 0.001
LONGEST_MODEL_NAME = 512
_COUNTERS = (
    ("input_tokens",),
    ("input_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cache_write_tokens"),
    ("output_tokens",),
    ("output_tokens_details", "reasoning_tokens"),
    ("total_tokens",),
)


class InvalidAnswer(Exception):
    """An accepted evaluation that is not an answer to what was asked; the text is the place."""


def read_evaluation(protocol: tuple[str, str], input: JsonValue, body: JsonValue) -> JsonValue:
    """``{protocol, requestedModel, returnedModel, answers, usage}`` of an answer's body.

    ``protocol`` is its name and the requested model. Raises InvalidAnswer unless all and only
    the asked questions are answered, each by an answer of its type that holds the rules.
    """
    name, model = protocol
    _require(isinstance(body, dict), "response")
    returned, usage = body.get("model"), body.get("usage")
    named = isinstance(returned, str) and 1 <= len(returned) <= LONGEST_MODEL_NAME
    _require(named and returned.isprintable(), "response /model")
    _require(isinstance(usage, dict), "response /usage")
    if name == "openai-decisions":
        for path in _COUNTERS:
            _require(_is_counter(usage, path), "response /usage")
    read = _named_answers if name == "system-one" else _listed_answers
    return {
        "protocol": name,
        "requestedModel": model,
        "returnedModel": returned,
        "answers": read(input["questions"], body.get("answers")),
        "usage": usage,
    }


def _named_answers(questions: dict[str, Any], answers: JsonValue) -> dict[str, JsonValue]:
    """The answers of system-one: an object by name."""
    place = "response /answers"
    _require(isinstance(answers, dict) and set(answers) == set(questions), place)
    return {
        name: _answer(f"{place}/{name}", asked, answers[name], _SYSTEM_ONE)
        for name, asked in questions.items()
    }


def _listed_answers(questions: dict[str, Any], answers: JsonValue) -> dict[str, JsonValue]:
    """The answers of openai-decisions: a list whose order says nothing."""
    place = "response /answers"
    _require(isinstance(answers, list) and all(isinstance(one, dict) for one in answers), place)
    by_name = {one["name"]: one for one in answers if isinstance(one.get("name"), str)}
    _require(len(by_name) == len(answers) and set(by_name) == set(questions), place)
    return {
        name: {"type": "refusal"}
        if by_name[name].get("type") == "refusal"
        else _answer(f"{place}/{name}", asked, by_name[name], _OPENAI_DECISIONS)
        for name, asked in questions.items()
    }


def _answer(place: str, asked: dict[str, Any], answer: JsonValue, spelling: _Spelling) -> JsonValue:
    kind = asked["type"]
    _require(isinstance(answer, dict), place)
    _require(answer.get("type") == (spelling.predicate if kind == "predicate" else kind), place)
    if kind == "predicate":
        probability = answer.get(spelling.probability)
        _require(_is_probability(probability), place)
        return {"type": "predicate", "probability": probability}
    confidence = answer.get("confidence")
    _require(_is_probability(confidence), place)
    if kind == "choice":
        probabilities = spelling.shares(place, answer.get("probabilities"))
        _hold_distribution(place, probabilities, set(asked["criteria"]))
        choice = answer.get("choice")
        _require(isinstance(choice, str) and choice in probabilities, place)
        _require(probabilities[choice] >= max(probabilities.values()) - TOLERANCE, place)
        return {
            "type": "choice",
            "choice": choice,
            "probabilities": probabilities,
            "nativeConfidence": confidence,
        }
    return {**_score(place, asked["criteria"], answer, spelling), "nativeConfidence": confidence}


def _score(
    place: str, criteria: list[str], answer: dict[str, Any], spelling: _Spelling
) -> dict[str, JsonValue]:
    expected = {str(position): label for position, label in enumerate(criteria)}
    probabilities = spelling.shares(place, answer.get("probabilities"))
    legend = spelling.legend(place, answer)
    _require(legend == expected, place)
    _hold_distribution(place, probabilities, set(expected))
    score: JsonValue = answer.get("score")
    _require(_is_number(score) and 0 <= score <= len(criteria) - 1, place)
    mean = sum(position * probabilities[str(position)] for position in range(len(criteria)))
    _require(abs(score - mean) <= TOLERANCE * len(criteria), place)
    return {"type": "score", "score": score, "legend": legend, "probabilities": probabilities}


def _hold_distribution(place: str, probabilities: dict[str, float], names: set[str]) -> None:
    """All and only the criteria, each a probability, together one."""
    _require(set(probabilities) == names, place)
    _require(all(_is_probability(share) for share in probabilities.values()), place)
    _require(abs(math.fsum(probabilities.values()) - 1) <= TOLERANCE, place)


class _Spelling:
    """How one protocol writes a predicate, a distribution and a legend."""

    def __init__(
        self,
        predicate: str,
        probability: str,
        shares: Callable[[str, JsonValue], dict[str, Any]],
        legend: Callable[[str, dict[str, Any]], JsonValue],
    ) -> None:
        self.predicate = predicate
        self.probability = probability
        self.shares = shares
        self.legend = legend


def _shares_by_name(place: str, value: JsonValue) -> dict[str, Any]:
    _require(isinstance(value, dict), place)
    return dict(value)


def _shares_by_value(place: str, value: JsonValue) -> dict[str, Any]:
    _require(isinstance(value, list) and all(isinstance(item, dict) for item in value), place)
    shares: dict[str, Any] = {}
    for item in value:
        key = item.get("value")
        _require(isinstance(key, str | int) and not isinstance(key, bool), place)
        _require(str(key) not in shares, place)
        shares[str(key)] = item.get("probability")
    return shares


def _labels_by_value(place: str, answer: dict[str, Any]) -> JsonValue:
    _shares_by_value(place, answer.get("probabilities"))
    return {str(item["value"]): item.get("label") for item in answer["probabilities"]}


_SYSTEM_ONE = _Spelling("noul", "noul", _shares_by_name, lambda _, answer: answer.get("legend"))
_OPENAI_DECISIONS = _Spelling("predicate", "probability", _shares_by_value, _labels_by_value)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_probability(value: JsonValue) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_counter(usage: dict[str, Any], path: tuple[str, ...]) -> bool:
    value: JsonValue = usage
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _require(holds: bool, place: str) -> None:
    if not holds:
        raise InvalidAnswer(place)
