"""Laws of classification that hold for every operation, whatever a product answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.catalogue import Catalogue, CatalogueEntry
from activities.catalogue.schemas import compile_check
from activities.products.outcomes import Malformed, classify, read_body
from activities.products.transport import HttpAnswer
from interpreter.contract.effects import ReplyKind
from interpreter.contract.operations import EffectClass
from tests.activities.wire import TRACEPARENT

_ENTRIES = [entry for entry in Catalogue.standard().entries() if entry.adapter is None]
_MUTATIONS = [one for one in _ENTRIES if one.contract.effect is EffectClass.MUTATION]
_READS = [one for one in _ENTRIES if one.contract.effect is EffectClass.READ]
_MEDIA_TYPES = ["application/json", "application/problem+json", "text/html", ""]
_BODIES = st.one_of(
    st.none(),
    st.binary(max_size=40),
    st.dictionaries(st.sampled_from(["type", "title", "status", "code", "id"]), st.text()).map(
        lambda value: json.dumps(value).encode()
    ),
)


def _answer(status: int, media_type: str, body: bytes | None, **headers: str) -> HttpAnswer:
    pairs = {"content-type": media_type, "traceparent": TRACEPARENT, **headers}
    wire = tuple((name.encode(), value.encode()) for name, value in pairs.items())
    return HttpAnswer(status, wire, body)


@given(
    st.sampled_from(_MUTATIONS),
    st.integers(100, 599),
    st.sampled_from(_MEDIA_TYPES),
    _BODIES,
)
def test_an_answer_that_proves_nothing_never_clears_an_effect(
    entry: CatalogueEntry, status: int, media_type: str, body: bytes | None
) -> None:
    answer = _answer(status, media_type, body)
    sent = classify(entry, answer, compile_check(entry.contract.response))
    assert sent.reply.kind is ReplyKind.UNKNOWN


@given(st.sampled_from(_READS), st.integers(100, 599), st.sampled_from(_MEDIA_TYPES), _BODIES)
def test_a_read_is_never_unknown(
    entry: CatalogueEntry, status: int, media_type: str, body: bytes | None
) -> None:
    answer = _answer(status, media_type, body)
    sent = classify(entry, answer, compile_check(entry.contract.response))
    assert sent.reply.kind in (ReplyKind.RETRYABLE, ReplyKind.REFUSED, ReplyKind.ACCEPTED)


@pytest.mark.parametrize("entry", _MUTATIONS, ids=lambda entry: entry.contract.id)
def test_a_refusal_that_the_definition_did_not_pin_is_an_ordinary_one(
    entry: CatalogueEntry,
) -> None:
    (code, status), *_ = entry.http.refusals.items()
    trace = TRACEPARENT.split("-")[1]
    problem = {"type": "x", "title": "t", "status": status, "detail": "d"}
    body = json.dumps({**problem, "traceId": trace, "code": code}).encode()
    answer = _answer(status, "application/problem+json", body, **{"cache-control": "no-store"})
    older = CatalogueEntry(entry.contract.model_copy(update={"refusals": ()}), entry.http)
    assert classify(entry, answer, lambda _: None).reply.kind is ReplyKind.DECLARED_REFUSAL
    assert classify(older, answer, lambda _: None).reply.kind is ReplyKind.REFUSED


@pytest.mark.parametrize(
    ("media_type", "plain", "accepted"),
    [
        ("application/json", True, True),
        ('application/json; charset="UTF-8"', True, True),
        ("application/problem+json", False, True),
        ("application/vnd.crm.v2+json", False, True),
        ("application/problem+json", True, False),
        ("application/json; charset=latin-1", False, False),
        ("text/json", False, False),
        ("", False, False),
    ],
)
def test_a_body_is_read_by_its_media_type(media_type: str, plain: bool, accepted: bool) -> None:
    answer = _answer(200, media_type, b"[1]")
    if accepted:
        assert read_body(answer, plain=plain) == [1]
    else:
        with pytest.raises(Malformed):
            read_body(answer, plain=plain)
