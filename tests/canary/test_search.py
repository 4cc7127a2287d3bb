"""The search of the canary scan finds what it shall find."""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote

import pytest
import zstandard

from tests.canary.markers import Markers
from tests.canary.search import FORMS, Hit, Search

_MARKERS = Markers()
_TEXT = _MARKERS("input")
_SEARCH = Search(_MARKERS.stem, _MARKERS.all, {"password": "tr0ub4dor&3"})
_AROUND = b"\x00\xff what stands before and after it \x9c\x78"

_WAYS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": bytes,
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "fast zlib": lambda data: zlib.compress(data, 1),
    "best zlib": lambda data: zlib.compress(data, 9),
    "zstd": zstandard.ZstdCompressor().compress,
    "base64": b64encode,
    "base64 after a byte": lambda data: b64encode(b"1" + data),
    "base64 after two bytes": lambda data: b64encode(b"12" + data),
    "url-safe base64": urlsafe_b64encode,
    "base64 twice": lambda data: b64encode(b"x" + b64encode(data)),
    "gzip in base64": lambda data: b64encode(gzip.compress(data)),
    "gzip in zstd": lambda data: zstandard.ZstdCompressor().compress(gzip.compress(data)),
    "hex": lambda data: data.hex().encode(),
    "json": lambda data: json.dumps({"value": data.decode("latin-1")}).encode(),
    "url": lambda data: quote(data).encode(),
}


@pytest.mark.parametrize("way", _WAYS)
def test_a_marker_is_found_in_every_wrapping(way: str) -> None:
    wrapped = _WAYS[way](b"some text, " + _TEXT.encode() + b", more text")
    assert {hit.marker for hit in _SEARCH.find(_AROUND + wrapped + _AROUND)} == {"input"}


@pytest.mark.parametrize("form", FORMS)
def test_a_marker_is_found_in_every_encoding(form: str) -> None:
    assert Hit("input", form) in _SEARCH.find(_AROUND + FORMS[form](_TEXT) + _AROUND)


def test_a_marker_is_named_and_another_is_not() -> None:
    other = _MARKERS("reply")
    found = Search(_MARKERS.stem, _MARKERS.all).find(f"{other}".encode())
    assert {hit.marker for hit in found} == {"reply"}


def test_a_marker_that_is_cut_off_is_found() -> None:
    assert _SEARCH.find(_MARKERS.stem.encode() + b"0") == {Hit("part of a marker", "text")}


def test_a_secret_that_is_no_marker_is_found() -> None:
    assert {hit.marker for hit in _SEARCH.find(b"password=tr0ub4dor&3")} == {"password"}


def test_nothing_is_found_in_what_holds_nothing() -> None:
    noise = bytes(range(256)) * 2_000 + zlib.compress(b"nothing at all" * 50)
    assert _SEARCH.find(noise) == set()
