"""Decision evaluation in both protocols, with answers that depend on the request alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from examples.products.idempotency import Command, KeyBook
from examples.products.problems import Problem
from examples.products.store import Store
from examples.products.wire import digest_of, read_object, refuse_unknown, text

_INVALID = "evaluation-invalid"
_WINNER = 0.8


@dataclass(frozen=True, slots=True)
class Question:
    """One question: ``kind`` is predicate, choice or score; ``options`` are values or labels."""

    name: str
    kind: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the pretend model thinks: a probability, or one per option, or a refusal to say."""

    probability: float = 0.0
    distribution: tuple[float, ...] = ()
    refused: bool = False

    @property
    def winner(self) -> int:
        """The position of the likeliest option."""
        return self.distribution.index(max(self.distribution))

    @property
    def level(self) -> float:
        """The mean position, which is what a score is."""
        return sum(place * share for place, share in enumerate(self.distribution))


class Evaluation:
    """Two endpoints over one judgement; each evaluation is an effect, for it is paid for."""

    def __init__(self, store: Store, keys: KeyBook) -> None:
        self._store = store
        self._keys = keys

    def routes(self) -> APIRouter:
        """The routes under ``/v1``."""
        router = APIRouter()
        router.add_api_route("/v1/systemone", self.system_one, methods=["POST"])
        router.add_api_route("/v1/decisions", self.decisions, methods=["POST"])
        return router

    async def system_one(self, request: Request) -> Response:
        """Questions as an object by name; a predicate is spelled ``noul``."""
        body = await read_object(request)
        refuse_unknown(body, ("model", "state", "questions"), _INVALID)
        model = text(body, "model", _INVALID)
        if not isinstance(body.get("state"), str | dict | list):
            raise Problem(422, _INVALID, "state must be text, an object or a list.")
        questions = _named_questions(body.get("questions"))
        digest = digest_of(body)
        answers: dict[str, Any] = {}
        for question in questions:
            scripted = self._scripted(question.name)
            scripted.pop("refusal", None)  # this protocol has no refusal
            judged = _judge(question, body["state"], scripted)
            answers[question.name] = scripted.get("raw") or _system_one_answer(question, judged)
        self._count(digest)
        usage = {"input_tokens": _tokens(body), "output_tokens": 0}
        return JSONResponse({"model": model, "answers": answers, "usage": usage})

    async def decisions(self, request: Request) -> Response:
        """Questions as a list with names; the answers come in reverse, for order says nothing."""
        body = await read_object(request)
        refuse_unknown(body, ("model", "input", "questions"), _INVALID)
        model = text(body, "model", _INVALID)
        if not isinstance(body.get("input"), str):
            raise Problem(422, _INVALID, "input must be text.")
        digest = digest_of(body)
        answers: list[Any] = []
        for question in reversed(_listed_questions(body.get("questions"))):
            scripted = self._scripted(question.name)
            judged = _judge(question, body["input"], scripted)
            answers.append(scripted.get("raw") or _decisions_answer(question, judged))
        self._count(digest)
        tokens = _tokens(body)
        usage = {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens,
        }
        return JSONResponse({"model": model, "answers": answers, "usage": usage})

    def script(self, answers: dict[str, dict[str, Any]]) -> None:
        """Fix the answers of questions by name.

        A script is ``{"probability": p}``, ``{"choice": value}``, ``{"level": n}``,
        ``{"refusal": true}``, or ``{"raw": answer}`` to answer exactly that, right or wrong.
        """
        with self._store.transaction():
            for name, answer in answers.items():
                self._store.run(
                    "INSERT OR REPLACE INTO scripted_answers VALUES (?, ?)",
                    name,
                    json.dumps(answer),
                )

    def _scripted(self, name: str) -> dict[str, Any]:
        row = self._store.one("SELECT answer FROM scripted_answers WHERE question = ?", name)
        return {} if row is None else dict(json.loads(row["answer"]))

    def _count(self, digest: str) -> None:
        self._keys.record_effect(Command("evaluation.evaluate", "", digest), digest)


def _named_questions(questions: Any) -> list[Question]:
    if not isinstance(questions, dict) or not 1 <= len(questions) <= 32:
        raise Problem(422, _INVALID, "questions must be an object of 1 to 32 questions.")
    found = []
    for name, asked in questions.items():
        kind = asked.get("type") if isinstance(asked, dict) else None
        if kind not in ("noul", "choice", "score"):
            raise Problem(422, _INVALID, "type must be noul, choice or score.")
        criteria = asked.get("criteria")
        options: tuple[str, ...] = ()
        if kind == "choice":
            options = tuple(criteria) if isinstance(criteria, dict) else ()
        elif kind == "score":
            options = tuple(map(str, criteria)) if isinstance(criteria, list) else ()
        found.append(_question(name, "predicate" if kind == "noul" else kind, options))
    return found


def _listed_questions(questions: Any) -> list[Question]:
    if not isinstance(questions, list) or not 1 <= len(questions) <= 32:
        raise Problem(422, _INVALID, "questions must be a list of 1 to 32 questions.")
    found = []
    for asked in questions:
        kind = asked.get("type") if isinstance(asked, dict) else None
        if kind not in ("predicate", "choice", "score"):
            raise Problem(422, _INVALID, "type must be predicate, choice or score.")
        options: tuple[str, ...] = ()
        try:
            if kind == "choice":
                options = tuple(str(option["value"]) for option in asked["choices"])
            elif kind == "score":
                options = tuple(str(level["label"]) for level in asked["levels"])
        except (KeyError, TypeError) as error:
            raise Problem(422, _INVALID, "choices need value, levels need label.") from error
        found.append(_question(text(asked, "name", _INVALID), kind, options))
    if len({question.name for question in found}) != len(found):
        raise Problem(422, _INVALID, "Every question needs a name of its own.")
    return found


def _question(name: str, kind: str, options: tuple[str, ...]) -> Question:
    if kind != "predicate" and len(options) < 2:
        raise Problem(422, _INVALID, "A choice or score needs at least two options.")
    return Question(name, kind, options)


def _judge(question: Question, about: Any, scripted: dict[str, Any]) -> Judgement:
    """A stable judgement of the question and its matter, unless a script says otherwise."""
    if scripted.get("refusal"):
        return Judgement(refused=True)
    seed = hashlib.sha256(f"{question.name}\n{json.dumps(about, sort_keys=True)}".encode()).digest()
    if question.kind == "predicate":
        return Judgement(probability=scripted.get("probability", round(seed[0] / 255, 3)))
    winner = seed[0] % len(question.options)
    if scripted.get("choice") in question.options:
        winner = question.options.index(scripted["choice"])
    elif isinstance(scripted.get("level"), int):
        winner = min(max(scripted["level"], 0), len(question.options) - 1)
    rest = (1 - _WINNER) / (len(question.options) - 1)
    shares = (_WINNER if place == winner else rest for place in range(len(question.options)))
    return Judgement(distribution=tuple(shares))


def _system_one_answer(question: Question, judged: Judgement) -> dict[str, Any]:
    if question.kind == "predicate":
        return {"type": "noul", "noul": judged.probability}
    if question.kind == "choice":
        return {
            "type": "choice",
            "choice": question.options[judged.winner],
            "probabilities": dict(zip(question.options, judged.distribution, strict=True)),
            "confidence": _WINNER,
        }
    return {
        "type": "score",
        "score": judged.level,
        "legend": {str(place): label for place, label in enumerate(question.options)},
        "probabilities": {str(place): share for place, share in enumerate(judged.distribution)},
        "confidence": _WINNER,
    }


def _decisions_answer(question: Question, judged: Judgement) -> dict[str, Any]:
    if judged.refused:
        return {"type": "refusal", "name": question.name}
    if question.kind == "predicate":
        return {"type": "predicate", "name": question.name, "probability": judged.probability}
    if question.kind == "choice":
        return {
            "type": "choice",
            "name": question.name,
            "choice": question.options[judged.winner],
            "probabilities": [
                {"value": option, "probability": share}
                for option, share in zip(question.options, judged.distribution, strict=True)
            ],
            "confidence": _WINNER,
        }
    return {
        "type": "score",
        "name": question.name,
        "score": judged.level,
        "probabilities": [
            {"value": place, "label": label, "probability": judged.distribution[place]}
            for place, label in enumerate(question.options)
        ],
        "confidence": _WINNER,
    }


def _tokens(body: dict[str, Any]) -> int:
    return max(1, len(json.dumps(body)) // 4)
