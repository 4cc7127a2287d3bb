"""Looking for markers in bytes: as they are, in common encodings, and inside compressed streams."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import zstandard

_LARGEST_STREAM = 64 << 20
_DEEPEST = 3
_LOOK = 256
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{32,}")
_BASE64_OFFSETS = range(3)


def _base64_core(text: str, offset: int) -> bytes:
    """The base64 characters that depend on the text alone, when so many bytes stand before it."""
    encoded = b64encode(b"\0" * offset + text.encode())
    whole = len(text) + offset
    return encoded[-(-offset * 4 // 3) : whole * 4 // 3]


FORMS: Mapping[str, Callable[[str], bytes]] = {
    "text": str.encode,
    "upper case": lambda text: text.upper().encode(),
    "utf-16": lambda text: text.encode("utf-16-le"),
    "utf-16 big-endian": lambda text: text.encode("utf-16-be"),
    "utf-32": lambda text: text.encode("utf-32-le"),
    "json escapes": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text).encode(),
    "hex": lambda text: text.encode().hex().encode(),
    "upper-case hex": lambda text: text.encode().hex().upper().encode(),
    "percent": lambda text: "".join(f"%{ord(letter):02x}" for letter in text).encode(),
    "upper-case percent": lambda text: "".join(f"%{ord(one):02X}" for one in text).encode(),
    "backwards": lambda text: text[::-1].encode(),
    **{
        f"base64 at {offset}": lambda text, offset=offset: _base64_core(text, offset)  # type: ignore[misc]
        for offset in _BASE64_OFFSETS
    },
}
"""Encodings in which a value may stand; base64 and its URL form agree on these letters."""

_STARTS: Mapping[str, tuple[bytes, ...]] = {
    "gzip": (b"\x1f\x8b\x08",),
    "zlib": (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}


@dataclass(frozen=True, slots=True)
class Hit:
    """A marker that was found: which, and how it was written there."""

    marker: str
    form: str


@dataclass
class Search:
    """Finds the markers of a scan, and secrets that are no markers, by their names.

    ``stem`` is what all markers begin with: only where it stands is looked for more.
    """

    stem: str
    markers: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stems = {form: write(self.stem) for form, write in FORMS.items()}
        self._secrets = {
            (name, form): write(secret)
            for name, secret in self.secrets.items()
            for form, write in FORMS.items()
        }

    def find(self, data: bytes) -> set[Hit]:
        """Every marker and secret in these bytes."""
        return set(self._find(data, "", 0))

    def _find(self, data: bytes, within: str, depth: int) -> Iterator[Hit]:
        for form, stem in self._stems.items():
            yield from self._named(data, form, stem, within)
        for (name, form), written in self._secrets.items():
            if written in data:
                yield Hit(name, within + form)
        if depth < _DEEPEST:
            for kind, inside in _opened(data):
                yield from self._find(inside, f"{within}{kind} > ", depth + 1)

    def _named(self, data: bytes, form: str, stem: bytes, within: str) -> Iterator[Hit]:
        if stem not in data:
            return
        known = [name for name, text in self.markers.items() if FORMS[form](text) in data]
        # A stem whose marker is cut off is a finding as well.
        yield from (Hit(name, within + form) for name in known or ["part of a marker"])


def _opened(data: bytes) -> Iterator[tuple[str, bytes]]:
    for kind, starts in _STARTS.items():
        for start in starts:
            at = data.find(start)
            while at >= 0:
                inside = _decompressed(kind, memoryview(data)[at : at + _LARGEST_STREAM])
                if inside:
                    yield kind, inside
                at = data.find(start, at + 1)
    for match in _BASE64.finditer(data):
        # What stands before it may be of the same alphabet: any of four letters may be the first.
        for skipped in range(4):
            inside = _decoded(match[0][skipped:])
            # What is base64 of text was found by its core already.
            if _may_hold_more(inside):
                yield "base64", inside


def _may_hold_more(inside: bytes) -> bool:
    compressed = any(start in inside for starts in _STARTS.values() for start in starts)
    return compressed or _BASE64.search(inside) is not None


def _decompressed(kind: str, data: memoryview) -> bytes:
    """What a stream that may begin here holds, as far as it is one; empty where it is none."""
    first = b""
    try:
        if kind == "zstd":
            return zstandard.ZstdDecompressor().stream_reader(data).read(_LARGEST_STREAM)
        stream = zlib.decompressobj(31 if kind == "gzip" else 15)
        # Two bytes begin a stream of zlib, and thousands of other things: a look costs little.
        first = stream.decompress(data[:_LOOK])
        return first + stream.decompress(data[_LOOK:], _LARGEST_STREAM)
    except (zlib.error, zstandard.ZstdError):
        return first


def _decoded(text: bytes) -> bytes:
    whole = text.translate(bytes.maketrans(b"-_", b"+/"))
    return b64decode(whole[: len(whole) // 4 * 4])
