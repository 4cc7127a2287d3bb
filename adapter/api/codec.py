"""The codec server of Temporal's UI and CLI: opens payloads for whoever may read them."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from adapter.access import Caller
from adapter.api.bodies import read_json
from adapter.api.callers import Callers
from adapter.api.ports import RunBook
from adapter.api.problems import refused
from adapter.api.requests import may_answer, refuse_query
from interpreter.contract.values import JsonValue

CODEC_PREFIX = "/codec"
LARGEST_CODEC_BODY_BYTES = 1_048_576
MOST_PAYLOADS = 256
NAMESPACE_HEADER = "X-Namespace"
_STORAGE_PARAMETER = "preserveStorageRefs"


@dataclass(frozen=True, slots=True)
class WirePayload:
    """A payload as Temporal keeps it."""

    metadata: Mapping[str, bytes]
    data: bytes


class PayloadDesk(Protocol):
    """Where payloads are opened, and where it is written down before they are."""

    @property
    def namespace(self) -> str:
        """The namespace whose payloads are opened."""
        ...

    def run_of(self, payload: WirePayload) -> str | None:
        """The run that a payload says it belongs to.

        Empty for one of the deployment's own workflows, None for one that is not ours to open.
        """
        ...

    async def note(self, actor: str, run_id: str, payloads: int) -> None:
        """Journal that somebody reads payloads; LedgerUnavailable when that can not be written."""
        ...

    async def open(self, payload: WirePayload) -> WirePayload | None:
        """What a payload holds; None where it is not what it says, or was erased.

        SealError ``seal.key-missing``, LedgerUnavailable.
        """
        ...


@dataclass(frozen=True, slots=True)
class Codec:
    """Which pages may ask, and whether an API key may stand in the address instead of a header."""

    desk: PayloadDesk
    origins: frozenset[str]
    key_in_path: bool = False


def codec_routes(callers: Callers, book: RunBook, codec: Codec) -> APIRouter:
    """``/codec/decode`` and the refusal of ``/codec/encode``."""
    router = APIRouter(prefix=CODEC_PREFIX, tags=["codec"])
    ways = [("", callers.may("decode"))]
    if codec.key_in_path:
        ways.append(("/{key}", callers.may_by_path("decode")))
    for path, may_decode in ways:
        _add_decode(router, path, may_decode, _Reading(book, codec.desk))
        _add_encode(router, path, may_decode)
    return router


def _add_decode(
    router: APIRouter, path: str, may_decode: Callable[..., Awaitable[Caller]], reading: _Reading
) -> None:
    permitted = Depends(may_decode)

    @router.post(
        f"{path}/decode",
        operation_id="decodePayloads" + ("ByPath" if path else ""),
        summary="Open payloads of runs that the caller may see",
        responses=may_answer(400, 415),
        response_class=JSONResponse,
        include_in_schema=not path,
    )
    async def decode(request: Request, caller: Caller = permitted) -> JSONResponse:
        refuse_query(request, _STORAGE_PARAMETER)
        return JSONResponse(await reading.read(request, caller))


def _add_encode(router: APIRouter, path: str, may_decode: Callable[..., Awaitable[Caller]]) -> None:
    permitted = Depends(may_decode)

    @router.post(
        f"{path}/encode",
        operation_id="encodePayloads" + ("ByPath" if path else ""),
        summary="Refused: what people send to runs goes through the service's own routes",
        responses=may_answer(400, 415),
        response_class=JSONResponse,
        include_in_schema=not path,
    )
    async def encode(request: Request, caller: Caller = permitted) -> JSONResponse:
        if not _payloads_of(await read_json(request)):
            # Temporal's CLI asks before every query, also before one that carries nothing.
            return JSONResponse({"payloads": []})
        # A payload that was made here would be bound to no workflow: Temporal does not say which.
        raise refused(
            "codec.encode-refused",
            "payloads are not sealed for Temporal's UI and CLI",
            place=f"{CODEC_PREFIX}/encode",
            remedy="start runs and send signals through the service",
        )


@dataclass(frozen=True, slots=True)
class _Reading:
    """One request's payloads: told apart, noted, opened."""

    book: RunBook
    desk: PayloadDesk

    async def read(self, request: Request, caller: Caller) -> JsonValue:
        """The answer's body: payloads that this caller may read are opened, others as they came."""
        self._require_namespace(request)
        given = _payloads_of(await read_json(request))
        runs = [self.desk.run_of(payload) for _, payload in given]
        asked = {run for run in runs if run is not None}
        visible = {run for run in asked if await self._may_see(run, caller)}
        for run, count in sorted(Counter(run for run in runs if run in visible).items()):
            # First on record, then opened: an outage of the journal shows nothing to anybody.
            await self.desk.note(caller.actor, run or "", count)
        return {
            "payloads": [
                await self._opened(text, payload) if run in visible else text
                for (text, payload), run in zip(given, runs, strict=True)
            ]
        }

    def _require_namespace(self, request: Request) -> None:
        if request.headers.getlist(NAMESPACE_HEADER) != [self.desk.namespace]:
            raise refused(
                "codec.other-namespace",
                "the request is not about this deployment's namespace",
                place=NAMESPACE_HEADER,
                remedy="use this codec server for the namespace of its deployment",
            )

    async def _may_see(self, run_id: str, caller: Caller) -> bool:
        if not run_id:
            return caller.operator and caller.scope.workflows is None
        return await self.book.run(run_id, caller.scope) is not None

    async def _opened(self, text: JsonValue, payload: WirePayload) -> JsonValue:
        found = await self.desk.open(payload)
        if found is None:
            return text
        metadata = {name: _encoded(value) for name, value in found.metadata.items()}
        return {"metadata": metadata, "data": _encoded(found.data)}


def _payloads_of(body: JsonValue) -> Sequence[tuple[JsonValue, WirePayload]]:
    """Each payload as it stands in the body and as it is; Refused ``request.invalid``."""
    payloads: Any = body.get("payloads", []) if isinstance(body, dict) else None
    if not isinstance(payloads, list) or len(payloads) > MOST_PAYLOADS:
        raise _malformed("")
    return [(text, _payload_of(text, index)) for index, text in enumerate(payloads)]


def _payload_of(text: JsonValue, index: int) -> WirePayload:
    try:
        metadata = {name: _decoded(value) for name, value in text.get("metadata", {}).items()}
        return WirePayload(metadata, _decoded(text.get("data", "")))
    except (AttributeError, TypeError, ValueError, binascii.Error) as error:
        raise _malformed(f"/{index}") from error


def _malformed(place: str) -> Exception:
    return refused(
        "request.invalid",
        "the body holds no payloads as Temporal's codec protocol has them",
        place=f"/payloads{place}",
        remedy=f"send at most {MOST_PAYLOADS} payloads, bytes in base64",
    )


def _decoded(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
