"""The codec server over a whole deployment, asked by Temporal's own CLI."""

from __future__ import annotations

import base64
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from google.protobuf.json_format import MessageToDict

from adapter.temporal.codec import LARGEST_INLINE
from interpreter.contract.records import RunState
from tests.recovery.conftest import Site
from tests.recovery.test_sealed_histories import SAID, plain, start_payloads
from tests.recovery.test_service import KEY, Desk, served_desk
from tests.recovery.test_signals import PAID
from tests.recovery.test_strangers import execution, paid, tool

__all__ = ["served_desk"]

_STAMP_BYTES = 17


async def shown(site: Site, desk: Desk, run_id: str) -> str:
    """What `temporal workflow result` shows of a run."""
    codec = ("--codec-endpoint", f"{desk.url}/codec", "--codec-header", f"X-API-Key={KEY}")
    asked = ("workflow", "result", "-w", await execution(site, run_id))
    _, said = await tool(site, *asked, *codec)
    return said


async def readings(site: Site, run_id: str) -> list[int]:
    """How many payloads were read each time, as the run's journal has it."""
    statement = "select detail from coordinator.journal where chain = %s and kind = %s"
    rows = await site.sql(f"{statement} order by sequence", run_id, "payload.read")
    return [detail["payloads"] for (detail,) in rows]


async def finished(site: Site, said: Any) -> str:
    """A run that has published what a signal said."""
    async with site.worker():
        run_id = await site.start(PAID)
        await site.until(run_id, RunState.WAITING)
        assert await paid(site, run_id, said) == "completed"
        await site.until(run_id, RunState.FINISHED)
        await site.ended(run_id)
    return run_id


async def test_the_cli_reads_a_run_and_the_journal_says_so(site: Site, desk: Desk) -> None:
    run_id = await finished(site, SAID)
    assert "Ada Lovelace" in await shown(site, desk, run_id)
    assert await readings(site, run_id) == [1]


async def test_a_large_payload_is_read_from_the_ledger(site: Site, desk: Desk) -> None:
    large = random.Random(1).randbytes(LARGEST_INLINE).hex()
    run_id = await finished(site, {"amount": 1, "of": large})
    assert large in await shown(site, desk, run_id)


async def decoded(site: Site, desk: Desk, run_id: str) -> list[tuple[dict[str, Any], Any]]:
    """Payloads of a run as they are, and as the codec server gives them."""
    client = await plain(site)
    handle = client.get_workflow_handle(await execution(site, run_id))
    given = [MessageToDict(payload) for payload in await start_payloads(handle)]
    headers = {"X-API-Key": KEY, "X-Namespace": "default"}
    async with httpx.AsyncClient(base_url=desk.url, headers=headers) as http:
        answer = await http.post("/codec/decode", json={"payloads": given})
    assert answer.status_code == 200
    return list(zip(given, answer.json()["payloads"], strict=True))


async def test_the_payloads_of_an_erased_run_come_back_as_they_are(site: Site, desk: Desk) -> None:
    run_id = await finished(site, SAID)
    [(given, found)] = await decoded(site, desk, run_id)
    assert b"admittedAt" in base64.b64decode(found["data"])
    await site.ledger.retention.retain("ops", datetime.now(UTC) - timedelta(milliseconds=1), 100)
    assert await decoded(site, desk, run_id) == [(given, given)]


async def test_one_request_about_two_runs_is_in_the_journals_of_both(
    site: Site, desk: Desk
) -> None:
    runs = [await finished(site, SAID) for _ in range(2)]
    client = await plain(site)
    given = []
    for run_id in runs:
        handle = client.get_workflow_handle(await execution(site, run_id))
        given += [MessageToDict(payload) for payload in await start_payloads(handle)]
    headers = {"X-API-Key": KEY, "X-Namespace": "default"}
    async with httpx.AsyncClient(base_url=desk.url, headers=headers) as http:
        answer = await http.post("/codec/decode", json={"payloads": [*given, given[0]]})
    opened = [base64.b64decode(one["data"]) for one in answer.json()["payloads"]]
    assert [b"admittedAt" in one for one in opened] == [True] * 3
    assert [await readings(site, run_id) for run_id in runs] == [[2], [1]]


async def test_a_payload_under_the_stamp_of_another_run_opens_nothing(
    site: Site, desk: Desk
) -> None:
    first, second = await finished(site, SAID), await finished(site, SAID)
    (given, _), (other, _) = [(await decoded(site, desk, run))[0] for run in (first, second)]
    stamp = base64.b64decode(other["data"])[:_STAMP_BYTES]
    moved = stamp + base64.b64decode(given["data"])[_STAMP_BYTES:]
    given["data"] = base64.b64encode(moved).decode()
    headers = {"X-API-Key": KEY, "X-Namespace": "default"}
    async with httpx.AsyncClient(base_url=desk.url, headers=headers) as http:
        answer = await http.post("/codec/decode", json={"payloads": [given]})
    assert answer.json() == {"payloads": [given]}
