"""What a place holds, label by label, and what is raised when it can not be read."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterable

Contents = Iterable[tuple[str, bytes]]
_SECONDS = 30


class NotSearched(Exception):
    """A place that could not be read; the text says why."""


def fetched(url: str) -> Contents:
    """The answer at an address; NotSearched when there is none."""
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
            return [(url.partition("//")[2].partition("/")[2], answer.read())]
    except OSError as error:
        raise NotSearched(f"{url} did not answer: {error}") from error
