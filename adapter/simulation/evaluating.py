"""Answers of a simulated decision model: made up so that they hold the rules of its protocol."""

from __future__ import annotations

from typing import Any

from adapter.authoring.samples import Seeded
from adapter.simulation.bindings import MODEL
from interpreter.contract.values import JsonValue

_PARTS = 1_000


def asked(body: JsonValue) -> JsonValue:
    """The operation's input of a request in the protocol ``system-one``."""
    questions = {
        name: {**one, "type": "predicate" if one["type"] == "noul" else one["type"]}
        for name, one in body["questions"].items()
    }
    return {"state": body["state"], "questions": questions}


def made_output(input: JsonValue, seed: str) -> JsonValue:
    """The operation's output for these questions, different for each seed."""
    answers = {
        name: _made_answer(question, Seeded(f"{seed}\n{name}"))
        for name, question in sorted(input["questions"].items())
    }
    return {
        "protocol": "system-one",
        "requestedModel": MODEL,
        "returnedModel": MODEL,
        "answers": answers,
        "usage": {},
    }


def wire_body(output: JsonValue) -> JsonValue:
    """An output as the protocol ``system-one`` writes it."""
    answers = {name: _wire_answer(one) for name, one in output["answers"].items()}
    return {"model": output["returnedModel"], "answers": answers, "usage": output["usage"]}


def _wire_answer(answer: dict[str, Any]) -> JsonValue:
    if answer.get("type") == "predicate":
        return {"type": "noul", "noul": answer.get("probability")}
    return {
        "confidence" if name == "nativeConfidence" else name: value
        for name, value in answer.items()
    }


def _made_answer(question: dict[str, Any], choices: Seeded) -> dict[str, JsonValue]:
    confidence = (choices.among(_PARTS) + 1) / _PARTS
    match question["type"]:
        case "predicate":
            return {"type": "predicate", "probability": confidence}
        case "choice":
            probabilities = _distribution(sorted(question["criteria"]), choices)
            chosen = max(probabilities, key=lambda name: probabilities[name])
            return {
                "type": "choice",
                "choice": chosen,
                "probabilities": probabilities,
                "nativeConfidence": confidence,
            }
        case _:
            legend = {str(place): label for place, label in enumerate(question["criteria"])}
            probabilities = _distribution(list(legend), choices)
            mean = sum(int(place) * share for place, share in probabilities.items())
            return {
                "type": "score",
                "score": mean,
                "legend": legend,
                "probabilities": probabilities,
                "nativeConfidence": confidence,
            }


def _distribution(names: list[str], choices: Seeded) -> dict[str, float]:
    shares = [choices.among(_PARTS) + 1 for _ in names]
    return {name: share / sum(shares) for name, share in zip(names, shares, strict=True)}
