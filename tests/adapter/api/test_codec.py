"""The codec server: who gets what opened, from which page, and what is on record before."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn

from activities.errors import LedgerUnavailable
from adapter.api import Codec, Service, WirePayload, create_app
from adapter.errors import Unavailable
from tests.adapter.api.conftest import (
    MemoryBook,
    MemoryDesk,
    MemoryExecutions,
    MemoryOversight,
    MemorySignals,
    Running,
)
from tests.fixtures.access import FixedAccess, key_policy

UI = "http://localhost:8233"
DECODE = "/codec/decode"
OWN = ""


@dataclass
class MemoryPayloads:
    """Payloads whose metadata name their run; an open one is its data backwards."""

    namespace: str = "default"
    notes: list[tuple[str, str, int]] = field(default_factory=list)
    opened_at: list[int] = field(default_factory=list)
    """How many notes there were, for each payload that was opened."""
    journal_up: bool = True
    key_there: bool = True

    def run_of(self, payload: WirePayload) -> str | None:
        """The run that is named."""
        run = payload.metadata.get("r")
        return None if run is None else run.decode()

    async def note(self, actor: str, run_id: str, payloads: int) -> None:
        """Remember who reads."""
        if not self.journal_up:
            raise LedgerUnavailable("ledger.unavailable", "the ledger does not answer")
        self.notes.append((actor, run_id, payloads))

    async def open(self, payload: WirePayload) -> WirePayload | None:
        """Turn the data around."""
        if not self.key_there:
            raise Unavailable("seal.key-missing", "sealing key version 2 is missing")
        self.opened_at.append(len(self.notes))
        if payload.data == b"damaged":
            return None
        return WirePayload({"encoding": b"json/plain"}, payload.data[::-1])


@dataclass
class Served:
    """A service with a codec server."""

    running: Running
    payloads: MemoryPayloads

    async def decode(
        self,
        *payloads: dict[str, Any],
        caller: str = "boss",
        path: str = DECODE,
        **headers: str,
    ) -> httpx.Response:
        """POST payloads as Temporal's tools do."""
        sent = {"x-namespace": "default"} | {n.replace("_", "-"): v for n, v in headers.items()}
        async with self.running.client(caller) as client:
            return await client.post(path, json={"payloads": list(payloads)}, headers=sent)


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """A service whose codec server answers one page, and takes keys in addresses."""
    payloads = MemoryPayloads()
    running = Running(
        "", MemoryBook(), MemoryExecutions(), MemoryDesk(), MemoryOversight(), MemorySignals()
    )
    policies = {
        "desk": key_policy("desk"),
        "boss": key_policy("boss", operator=True),
        "narrow": key_policy("narrow", operator=True, workflows=["letters"]),
        "blind": key_policy("blind", operator=True, actions=["status"]),
    }
    app = create_app(
        Service(
            running.book,
            running.executions,
            running.desk,
            FixedAccess.of_keys(**policies),
            {},
            running.oversight,
            running.signals,
            codec=Codec(payloads, frozenset({UI}), key_in_path=True),
        )
    )
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    running.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield Served(running, payloads)
    server.should_exit = True
    await task


@pytest.fixture
async def run_id(served: Served) -> str:
    """A run that `desk` started."""
    answer = await served.running.start()
    found: str = answer.json()["runId"]
    return found


def b64(data: bytes) -> str:
    """Bytes as the protocol has them."""
    return base64.b64encode(data).decode()


def payload(run: str | None, data: bytes = b"terces") -> dict[str, Any]:
    """A sealed payload of a run; None: somebody else's."""
    metadata = {"encoding": b64(b"binary/x")} | ({} if run is None else {"r": b64(run.encode())})
    return {"metadata": metadata, "data": b64(data)}


OPEN = {"metadata": {"encoding": b64(b"json/plain")}, "data": b64(b"secret")}


async def test_an_operator_reads_the_payloads_of_a_run(served: Served, run_id: str) -> None:
    answer = await served.decode(payload(run_id), payload(run_id, b"x"))
    assert answer.status_code == 200
    assert answer.json()["payloads"][0] == OPEN
    assert served.payloads.notes == [("boss", run_id, 2)]


async def test_the_ui_adds_a_parameter(served: Served, run_id: str) -> None:
    answer = await served.decode(payload(run_id), path=f"{DECODE}?preserveStorageRefs=true")
    assert answer.json() == {"payloads": [OPEN]}


@pytest.mark.parametrize("data", [b"damaged", b"terces"])
async def test_what_is_not_ours_or_does_not_open_comes_back_as_it_is(
    served: Served, run_id: str, data: bytes
) -> None:
    given = [payload(None, data), payload(run_id, b"damaged"), {"data": ""}, {}]
    assert (await served.decode(*given)).json() == {"payloads": given}


@pytest.mark.parametrize(("caller", "sees"), [("boss", [True] * 2), ("narrow", [False] * 2)])
async def test_only_runs_that_a_caller_may_see_are_opened(
    served: Served, run_id: str, caller: str, sees: list[bool]
) -> None:
    answer = await served.decode(payload(run_id), payload(OWN), caller=caller)
    assert [found == OPEN for found in answer.json()["payloads"]] == sees
    assert len(served.payloads.notes) == sum(sees)


async def test_payloads_of_several_runs_leave_a_record_in_each_before_any_is_opened(
    served: Served, run_id: str
) -> None:
    other = (await served.running.start("k2")).json()["runId"]
    given = [payload(run_id), payload(other), payload(OWN), payload(other), payload(None)]
    assert (await served.decode(*given)).json()["payloads"] == [*[OPEN] * 4, given[4]]
    wanted = [("boss", OWN, 1), ("boss", run_id, 1), ("boss", other, 2)]
    assert sorted(served.payloads.notes) == sorted(wanted)
    assert served.payloads.opened_at == [3] * 4


@pytest.mark.parametrize(
    ("caller", "status"), [("desk", 403), ("blind", 403), ("nobody", 401), ("boss", 200)]
)
async def test_decoding_needs_its_own_action_and_an_operator(
    served: Served, run_id: str, caller: str, status: int
) -> None:
    assert (await served.decode(payload(run_id), caller=caller)).status_code == status
    assert len(served.payloads.opened_at) == (status == 200)


async def test_without_a_record_nothing_is_opened(served: Served, run_id: str) -> None:
    served.payloads.journal_up = False
    answer = await served.decode(payload(run_id))
    assert (answer.status_code, answer.json()["code"]) == (503, "ledger.unavailable")
    assert served.payloads.opened_at == []


async def test_a_missing_key_is_told(served: Served, run_id: str) -> None:
    served.payloads.key_there = False
    answer = await served.decode(payload(run_id))
    assert (answer.status_code, answer.json()["code"]) == (503, "seal.key-missing")


@pytest.mark.parametrize("namespace", ["other", ""])
async def test_another_namespace_is_refused(served: Served, run_id: str, namespace: str) -> None:
    answer = await served.decode(payload(run_id), x_namespace=namespace)
    assert (answer.status_code, answer.json()["code"]) == (403, "codec.other-namespace")
    assert served.payloads.notes == []


async def test_nothing_is_sealed_for_other_tools(served: Served) -> None:
    answer = await served.decode(OPEN, path="/codec/encode")
    assert (answer.status_code, answer.json()["code"]) == (403, "codec.encode-refused")
    nothing = await served.decode(path="/codec/encode")
    assert nothing.json() == {"payloads": []}
    assert (await served.decode(path="/codec/encode", caller="nobody")).status_code == 401


async def test_the_page_of_the_ui_may_ask(served: Served, run_id: str) -> None:
    answer = await served.decode(payload(run_id), origin=UI)
    assert answer.headers["access-control-allow-origin"] == UI
    assert answer.headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in answer.headers
    async with served.running.client() as client:
        asked = await client.options(
            DECODE, headers={"Origin": UI, "Access-Control-Request-Method": "POST"}
        )
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == UI
    assert "x-namespace" in asked.headers["access-control-allow-headers"]


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8233", "null", "*", f"{UI}.example.org"])
async def test_no_other_page_may_ask(served: Served, run_id: str, origin: str) -> None:
    answer = await served.decode(payload(run_id), origin=origin)
    assert (answer.status_code, answer.json()["code"]) == (403, "codec.other-origin")
    assert "access-control-allow-origin" not in answer.headers
    async with served.running.client() as client:
        asked = await client.options(DECODE, headers={"Origin": origin})
    assert asked.status_code == 403
    assert served.payloads.opened_at == []


async def test_no_page_may_ask_anything_else_of_the_service(served: Served) -> None:
    async with served.running.client() as client:
        answer = await client.get("/v1/runs", headers={"Origin": UI})
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("key", "status"), [("key-of-boss", 200), ("x", 401), ("key-of-blind", 403)]
)
async def test_a_key_may_stand_in_the_address(
    served: Served, run_id: str, key: str, status: int
) -> None:
    async with httpx.AsyncClient(base_url=served.running.url) as client:
        answer = await client.post(
            f"/codec/{key}/decode",
            json={"payloads": [payload(run_id)]},
            headers={"X-Namespace": "default", "Origin": UI},
        )
    assert answer.status_code == status
    assert answer.headers["access-control-allow-origin"] == UI


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"payloads": {}},
        {"payloads": ["x"]},
        {"payloads": [{"data": "not base64"}]},
        {"payloads": [{"metadata": {"encoding": 1}}]},
        {"payloads": [{}] * 257},
    ],
)
async def test_a_body_of_another_form_is_refused(served: Served, body: Any) -> None:
    async with served.running.client("boss") as client:
        answer = await client.post(DECODE, json=body, headers={"X-Namespace": "default"})
    assert (answer.status_code, answer.json()["code"]) == (400, "request.invalid")


@pytest.mark.parametrize(("size", "status"), [(200_000, 200), (1_100_000, 413)])
async def test_a_body_may_be_larger_here_and_is_bounded(
    served: Served, run_id: str, size: int, status: int
) -> None:
    assert (await served.decode(payload(run_id, bytes(size * 3 // 4)))).status_code == status


async def test_the_routes_of_the_codec_server_are_described_without_a_key(served: Served) -> None:
    async with served.running.client() as client:
        document = (await client.get("/openapi.json")).json()
    codec = [path for path in document["paths"] if "codec" in path]
    assert codec == ["/codec/decode", "/codec/encode"]


async def test_without_settings_there_is_no_codec_server(service: Running) -> None:
    async with service.client("boss") as client:
        answer = await client.post(DECODE, json={}, headers={"X-Namespace": "default"})
    assert answer.status_code == 404
