"""What runs carry is shown after its audit record, and not without one."""

from __future__ import annotations

import pytest

from tests.adapter.api.conftest import Running


@pytest.mark.parametrize("tail", ["", "/inspect"])
async def test_who_is_shown_an_output_is_noted_first(service: Running, tail: str) -> None:
    run = (await service.start()).json()["runId"]
    async with service.client("boss") as boss:
        await boss.get(f"/v1/runs/{run}{tail}")
        assert service.book.readers == []
        service.book.change(run, output={"number": 7})
        shown = await boss.get(f"/v1/runs/{run}{tail}")
    assert "7" in shown.text
    assert service.book.readers == [(run, "boss", "output")]


async def test_nothing_is_shown_when_no_record_can_be_written(service: Running) -> None:
    run = (await service.start()).json()["runId"]
    service.book.change(run, output={"number": 7})
    service.book.up = False
    async with service.client("desk") as desk:
        refused = await desk.get(f"/v1/runs/{run}")
    assert (refused.status_code, refused.json()["code"]) == (503, "ledger.unavailable")
    assert "7" not in refused.json()["detail"]
