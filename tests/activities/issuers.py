"""What answers the posts of an authorization in tests, and the keys that sign for it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import jwt

from activities.credentials import Attempt, Grant, PostAnswer, Secret
from activities.credentials.assertions import SigningKey
from adapter.crypto.web_keys import new_signing_key

Answer = Callable[[str, dict[str, str]], PostAnswer | None]


def answered(status: int, body: Any, content_type: str = "application/json") -> PostAnswer:
    """A whole answer with a JSON body."""
    return PostAnswer(status, content_type, json.dumps(body).encode())


def token(text: str = "token-1", **more: Any) -> PostAnswer:
    """A token endpoint's answer."""
    return answered(200, {"access_token": text, "token_type": "Bearer", **more})


@dataclass
class Posts:
    """Records every post and answers it; an `activities.credentials.Post`."""

    answer: Answer = lambda _url, _form: token()
    seen: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)

    async def __call__(
        self, url: str, body: bytes, headers: tuple[tuple[str, str], ...]
    ) -> PostAnswer | None:
        """The next answer."""
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self.seen.append((url, form, dict(headers)))
        return self.answer(url, form)

    def attempt(self, grant: Grant | None = None) -> Attempt:
        """An attempt over these posts."""
        return Attempt(self, grant)


NO_ATTEMPT = Posts().attempt()
SIGNING_JWK = new_signing_key("ES256")


def reader(*texts: str) -> Callable[[], Any]:
    """Reads the given secrets one after another, the last one for ever."""
    left = list(texts)

    async def read() -> Secret:
        return Secret(left.pop(0) if len(left) > 1 else left[0])

    return read


def signed(claims: dict[str, Any]) -> str:
    """A token that `SIGNING_JWK` signs."""
    return SigningKey(Secret(json.dumps(SIGNING_JWK))).sign(claims).reveal()


def claims_of(assertion: str, audience: str) -> dict[str, Any]:
    """The verified claims of an assertion that `SIGNING_JWK` signed."""
    key = jwt.PyJWK({name: one for name, one in SIGNING_JWK.items() if name != "d"})
    return jwt.decode(assertion, key, algorithms=["ES256"], audience=audience)


def in_seconds(seconds: int) -> int:
    """Seconds since 1970, from now."""
    return int(time.time()) + seconds
