"""The scan: a story full of markers, then every place, and what was found where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.canary.deployment import deployment, write_package
from tests.canary.markers import CONTROL, Markers
from tests.canary.people import Callers, Commander, Story
from tests.canary.places import Place, running_places, stopped_places
from tests.canary.reading import NotSearched
from tests.canary.search import Hit, Search

_MOST_SHOWN = 200


@dataclass
class Verdict:
    """What a scan has come to: the last line is ``line``, and it is good when nothing was found."""

    canaries: int = 0
    searched: int = 0
    found: int = 0
    complaints: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The last line that is said."""
        return f"canaries {self.canaries}, places searched {self.searched}, found {self.found}"

    @property
    def good(self) -> bool:
        """Whether every place was searched and held nothing."""
        return not self.complaints


async def scan(folder: Path, say: Callable[[str], None], *, short: bool = False) -> Verdict:
    """The whole scan in a folder of its own, or one of a short story; every server is ended."""
    markers, verdict = Markers(), Verdict()
    say("starting the servers")
    async with deployment(folder, markers) as made:
        callers, commander = Callers(made), Commander(made)
        say("runs of every end, full of markers")
        with made.products() as products:
            story = Story(made, callers, products)
            await asyncio.to_thread(story.tell_shortly if short else story.tell)
        waiting = next(run for run, state in story.states.items() if state != "finished")
        await commander.work(waiting, short=short)
        write_package(made)
        search = Search(markers.stem, markers.all, made.secrets)
        verdict.canaries = len(markers.planted) + len(made.secrets)
        say("searching what the running deployment shows")
        await _search_all(verdict, search, running_places(made, callers, commander), markers)
        await made.stop()
        say("searching its files")
        await _search_all(verdict, search, stopped_places(made), markers)
    return verdict


async def _search_all(
    verdict: Verdict, search: Search, places: list[Place], markers: Markers
) -> None:
    for place in places:
        await asyncio.to_thread(search_place, verdict, search, place, markers)


def search_place(verdict: Verdict, search: Search, place: Place, markers: Markers) -> None:
    """Search one place; it counts as searched only when the control was found there."""
    hits: set[tuple[str, Hit]] = set()
    control = markers(CONTROL).encode()
    try:
        for label, data in place.read():
            given = data if place.named else _with_control(data, control)
            hits |= {(label, hit) for hit in search.find(given)}
    except NotSearched as reason:
        verdict.complaints.append(f"{place.name}: not searched: {reason}")
        return
    if not any(hit.marker == CONTROL for _, hit in hits):
        verdict.complaints.append(f"{place.name}: not searched: the control is not there")
        return
    verdict.searched += 1
    wrong = {(label, hit) for label, hit in hits if hit.marker not in (CONTROL, *place.meant)}
    verdict.found += len({hit.marker for _, hit in wrong})
    lines = sorted(f"{place.name}: {hit.marker}, as {hit.form}, in {label}" for label, hit in wrong)
    verdict.complaints += lines[:_MOST_SHOWN]


def _with_control(data: bytes, control: bytes) -> bytes:
    half = len(data) // 2
    return data[:half] + control + data[half:]
