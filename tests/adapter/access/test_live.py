"""Tests of callers that follow the runtime file: revoked, granted, kept, expired and counted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapter.access import Caller, CallRefused, Credentials, LiveAccess
from adapter.config.loading import load_runtime
from tests.adapter.access.tokens import NOW, Mint, issuer_part
from tests.adapter.config.test_runtime_file import SIGNED, sound
from tests.fixtures.access import key_hash, key_policy, no_web


class File:
    """A runtime file whose part about callers changes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "runtime.yaml"
        self.part: dict[str, Any] = {"apiKeys": {"desk": key_policy("desk")}}
        self.now, self.ticks = NOW, 0.0
        self.write()
        self.live = LiveAccess(
            load_runtime(self.path, {}),
            no_web,
            now=lambda: self.now,
            ticks=lambda: self.ticks,
        )

    def write(self, text: str | None = None) -> None:
        """Replace the file, as an editor or a mount does."""
        draft = self.path.with_suffix(".new")
        draft.write_text(text or yaml.safe_dump(sound() | {"authentication": self.part}))
        draft.replace(self.path)

    async def changed(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the part and let it be seen."""
        change(self.part)
        self.write()
        await self.live.look()

    async def caller(self, name: str = "desk") -> Caller:
        """The caller with the key of a name."""
        return await self.live.identify(Credentials([], [f"key-of-{name}"]))

    async def code(self, name: str = "desk") -> str | None:
        """How that caller is refused, None where it is not."""
        try:
            await self.caller(name)
        except CallRefused as error:
            return error.code
        return None


@pytest.fixture
def file(tmp_path: Path) -> File:
    """A file with one caller."""
    return File(tmp_path)


async def test_a_key_that_is_removed_counts_no_more(file: File) -> None:
    assert (await file.caller()).actor == "desk"
    await file.changed(lambda part: part["apiKeys"].pop("desk"))
    assert await file.code() == "access.unauthenticated"


async def test_a_production_service_that_nobody_may_call_says_so(
    file: File, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signed = {"mode": "production", "audit": SIGNED, "waits": {}}

    async def told(part: dict[str, Any]) -> int:
        file.write(yaml.safe_dump(sound() | signed | {"authentication": part}))
        await file.live.look()
        return capsys.readouterr().out.count("config.nobody-calls")

    assert await told(file.part) == 0
    assert await told({}) == 1
    assert await file.code() == "access.unauthenticated"
    # And at the start.
    LiveAccess(load_runtime(file.path, {}), no_web)
    assert capsys.readouterr().out.count("config.nobody-calls") == 1


async def test_a_policy_that_changes_counts_without_a_restart(file: File) -> None:
    await file.changed(lambda part: part["apiKeys"]["desk"].update(actions=["status"]))
    assert (await file.caller()).actions == frozenset({"status"})
    await file.changed(lambda part: part["apiKeys"].update(other=key_policy("other")))
    assert (await file.caller("other")).owner.subject == "other"


async def test_a_second_key_lets_a_caller_change_without_a_pause(file: File) -> None:
    new = {"hash": key_hash("key-of-new"), "expiresAt": "2100-01-01T00:00:00Z"}
    await file.changed(lambda part: part["apiKeys"]["desk"]["keys"].append(new))
    assert (await file.caller()).owner == (await file.caller("new")).owner
    await file.changed(lambda part: part["apiKeys"]["desk"]["keys"].pop(0))
    assert [await file.code(), await file.code("new")] == ["access.unauthenticated", None]


async def test_a_broken_file_changes_nothing_and_is_told(
    file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write("callers: [hunter2\n")
    await file.live.look()
    await file.live.look()
    assert await file.code() is None
    [trouble] = file.live.troubles()
    assert (trouble.code, trouble.since) == (
        "doctor.callers-stale",
        datetime.fromtimestamp(NOW, UTC),
    )
    said = capsys.readouterr()
    assert said.out.count("access.callers-kept") == 1
    assert "hunter2" not in said.out + said.err
    await file.changed(lambda part: part["apiKeys"].pop("desk"))
    assert (await file.code(), file.live.troubles()) == ("access.unauthenticated", [])


async def test_an_absent_file_changes_nothing(file: File) -> None:
    file.path.unlink()
    await file.live.look()
    assert await file.code() is None
    assert [one.code for one in file.live.troubles()] == ["doctor.callers-stale"]


async def test_a_file_behind_a_link_is_followed_as_mounts_change_it(tmp_path: Path) -> None:
    file = File(tmp_path)
    for version in ("one", "two"):
        (tmp_path / version).mkdir()
    file.path.rename(tmp_path / "one" / "runtime.yaml")
    link = tmp_path / "current"
    link.symlink_to("one")
    path = link / "runtime.yaml"
    live = LiveAccess(load_runtime(path, {}), no_web)
    text = (tmp_path / "one" / "runtime.yaml").read_text()
    (tmp_path / "two" / "runtime.yaml").write_text(text.replace("  desk:", "  clerk:"))
    (tmp_path / "next").symlink_to("two")
    os.replace(tmp_path / "next", link)
    await live.look()
    assert (await live.identify(Credentials([], ["key-of-desk"]))).actor == "clerk"


async def test_an_expired_key_is_refused_at_its_instant(file: File) -> None:
    end = datetime.fromtimestamp(NOW + 60, UTC).isoformat()
    await file.changed(lambda part: part["apiKeys"]["desk"]["keys"][0].update(expiresAt=end))
    assert await file.code() is None
    assert [one.code for one in file.live.troubles()] == ["doctor.api-key-expiring"]
    file.now = NOW + 60
    with pytest.raises(CallRefused) as raised:
        await file.caller()
    assert "expired" in raised.value.message


async def test_a_caller_is_held_to_its_rate_and_no_other_with_it(file: File) -> None:
    limits = {"perSecond": 2, "burst": 3}
    await file.changed(lambda part: part.update(limits=limits))
    await file.changed(lambda part: part["apiKeys"].update(other=key_policy("other")))
    for _ in range(3):
        await file.caller()
    with pytest.raises(CallRefused) as raised:
        await file.caller()
    assert (raised.value.status, raised.value.code) == (429, "access.too-many-requests")
    assert raised.value.headers == (("Retry-After", "1"),)
    assert await file.code("other") is None
    file.ticks = 0.5
    assert await file.code() is None


async def test_an_address_that_fails_too_often_is_told_so(file: File) -> None:
    await file.changed(lambda part: part.update(limits={"failuresPerMinute": 2}))
    waits = [file.live.count_failure("192.0.2.1", []) for _ in range(3)]
    assert waits == [0.0, 0.0, 30.0]
    assert file.live.count_failure("192.0.2.2", []) == 0.0


async def test_an_issuer_that_stays_keeps_its_keys_and_one_that_goes_is_gone(file: File) -> None:
    mint = Mint()
    keys = file.path.parent / "secrets" / "keys"
    keys.parent.mkdir(exist_ok=True)
    keys.touch(0o600)
    keys.write_bytes(mint.published())
    source = {"type": "static", "documentRef": "secret:file/keys"}
    part = issuer_part(keySet=source).to_json()
    await file.changed(lambda authentication: authentication.update(issuers={"staff": part}))
    given = Credentials([f"Bearer {mint.token()}"], [])
    assert (await file.live.identify(given)).actor == "staff:ann"
    keys.unlink()
    await file.changed(lambda authentication: authentication.update(limits={"burst": 7}))
    assert (await file.live.identify(given)).actor == "staff:ann"
    await file.changed(lambda authentication: authentication.pop("issuers"))
    with pytest.raises(CallRefused):
        await file.live.identify(given)


async def test_the_file_is_looked_at_again_and_again_until_the_end(file: File) -> None:
    stop = asyncio.Event()
    following = asyncio.create_task(file.live.keep_fresh(stop))
    file.part["apiKeys"].pop("desk")
    file.write()
    async with asyncio.timeout(10):
        while await file.code() is None:
            await asyncio.sleep(0.05)
    stop.set()
    await following


async def test_a_fault_while_following_the_file_ends_nothing(
    file: File, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks = iter([RuntimeError("hunter2"), None])
    stop = asyncio.Event()

    async def look(self: LiveAccess) -> None:
        if (fault := next(looks, None)) is not None:
            raise fault
        stop.set()

    monkeypatch.setattr("adapter.access.live.LOOK_SECONDS", 0.01)
    monkeypatch.setattr(LiveAccess, "look", look)
    await file.live.keep_fresh(stop)
    said = capsys.readouterr().out
    assert ("access.not-followed" in said, "hunter2" in said) == (True, False)
    assert await file.code() is None


async def test_what_changed_while_the_service_began_counts_at_the_first_look(file: File) -> None:
    loaded = load_runtime(file.path, {})
    file.part["apiKeys"].pop("desk")
    file.write()
    live = LiveAccess(loaded, no_web)
    await live.look()
    with pytest.raises(CallRefused):
        await live.identify(Credentials([], ["key-of-desk"]))
