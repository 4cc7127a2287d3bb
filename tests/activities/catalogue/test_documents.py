"""A deployer's own operations: what is accepted, and every mistake by code, place and remedy."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from activities.catalogue import Catalogue, CatalogueRefused
from activities.errors import CatalogueError
from interpreter.contract.operations import EffectClass, Recovery

DOCUMENT = """\
apiVersion: coordinator/v1
kind: CoordinatorCatalogue
product: crm
operations:
  crm.read-customer/v1:
    title: Read a customer
    effect: read
    recovery: read-again
    http:
      method: GET
      path: /customers/{customer}
      query:
        detail: {member: detail}
    request:
      type: object
      required: [customer]
      additionalProperties: false
      properties:
        customer: {type: string}
        detail: {enum: [short, long]}
    response: {type: object}
  crm.open-ticket/v1:
    effect: mutation
    recovery: same-command-and-receipt
    key: true
    receiptWindowSeconds: 3600
    completions:
      closed:
        read: crm.read-customer/v1
        input: {customer: /customer}
        done: {path: /state, in: [closed]}
        value: /resolution
        schema: {type: string}
    http:
      method: POST
      path: /tickets
      idempotencyHeader: X-Request-Id
      body: {members: [customer, text]}
      success: [201]
      refusals: {customer-blocked: 409}
      classification:
        - {status: ["422"], anyBody: true, kind: refused, code: ticket-invalid}
      receipt: {path: /tickets/receipt, unresolved: [unknown-request]}
    request:
      type: object
      required: [customer, text]
      properties:
        customer: {type: string}
        text: {type: string}
    response:
      type: object
      required: [ticket]
"""


def _document() -> dict[str, Any]:
    import yaml

    document: dict[str, Any] = yaml.safe_load(DOCUMENT)
    return document


def _mistakes(document: Any) -> list[CatalogueError]:
    with pytest.raises(CatalogueRefused) as caught:
        Catalogue.with_documents({"crm.yaml": json.dumps(document, indent=1)})
    return list(caught.value.mistakes)


def test_a_document_adds_operations_to_the_standard_ones() -> None:
    catalogue = Catalogue.with_documents({"crm.yaml": DOCUMENT})
    contract = catalogue.find("crm.open-ticket/v1").contract
    assert (contract.product, contract.effect) == ("crm", EffectClass.MUTATION)
    assert contract.recovery is Recovery.SAME_COMMAND_AND_RECEIPT
    assert (contract.receipt, contract.refusals) == (True, ("customer-blocked",))
    assert catalogue.find("breg.read-record/v1").contract.product == "breg"
    assert len(catalogue.contracts()) == len(Catalogue.standard().contracts()) + 2


def test_json_is_a_document_too() -> None:
    catalogue = Catalogue.with_documents({"crm.json": json.dumps(_document())})
    assert catalogue.find("crm.read-customer/v1").http.path == "/customers/{customer}"


def test_the_place_of_a_mistake_names_file_line_and_pointer() -> None:
    text = DOCUMENT.replace("    effect: read\n", "    effect: reed\n")
    with pytest.raises(CatalogueRefused) as caught:
        Catalogue.with_documents({"conf/crm.yaml": text})
    assert caught.value.place == "conf/crm.yaml:7 /operations/crm.read-customer~1v1/effect"
    assert "reed" not in str(caught.value)


_READ, _OPEN = "crm.read-customer/v1", "crm.open-ticket/v1"
Change = Callable[[dict[str, Any]], None]


def _set(*path_and_value: Any) -> Change:
    *path, last, value = path_and_value

    def change(document: Any) -> None:
        for key in path:
            document = document[key]
        if value is None:
            del document[last]
        else:
            document[last] = value

    return change


def _http(operation: str, *path_and_value: Any) -> Change:
    return _set("operations", operation, "http", *path_and_value)


def _op(operation: str, *path_and_value: Any) -> Change:
    return _set("operations", operation, *path_and_value)


_RULE = {"status": ["409"], "kind": "refused", "code": "no"}
_WRONG: list[tuple[Change, str, str]] = [
    (_set("apiVersion", "coordinator/v2"), "invalid-value", "/apiVersion"),
    (_set("kind", "Catalogue"), "invalid-value", "/kind"),
    (_set("product", None), "missing-member", "/product"),
    (_set("product", "messaging"), "reserved-product", "/product"),
    (_set("product", "other"), "operation-id", f"/operations/{_READ}"),
    (_set("operations", {}), "invalid-value", "/operations"),
    (_set("extra", 1), "unknown-member", "/extra"),
    (_op(_READ, "recover", "x"), "unknown-member", f"/operations/{_READ}/recover"),
    (_op(_READ, "alias", "x"), "unknown-member", f"/operations/{_READ}/alias"),
    (_op(_READ, "adapter", "action"), "unknown-member", f"/operations/{_READ}/adapter"),
    (_op(_READ, "key", True), "effect-disagreement", f"/operations/{_READ}/recovery"),
    (
        _op(_READ, "recovery", "same-command"),
        "effect-disagreement",
        f"/operations/{_READ}/recovery",
    ),
    (_op(_OPEN, "key", False), "effect-disagreement", f"/operations/{_OPEN}/recovery"),
    (_op(_OPEN, "recovery", "read-again"), "effect-disagreement", f"/operations/{_OPEN}/recovery"),
    (
        _op(_OPEN, "recovery", "same-command"),
        "effect-disagreement",
        f"/operations/{_OPEN}/recovery",
    ),
    (_op(_OPEN, "effect", "evaluation"), "effect-disagreement", f"/operations/{_OPEN}/recovery"),
    (_http(_OPEN, "receipt", None), "effect-disagreement", f"/operations/{_OPEN}/recovery"),
    (_op(_OPEN, "attempts", {"limit": 0}), "invalid-value", f"/operations/{_OPEN}/attempts/limit"),
    (_http(_OPEN, "method", "GET"), "method", f"/operations/{_OPEN}/http/method"),
    (_http(_OPEN, "method", "FETCH"), "invalid-value", f"/operations/{_OPEN}/http/method"),
    (_http(_READ, "path", "customers"), "invalid-value", f"/operations/{_READ}/http/path"),
    (_http(_READ, "path", "/c/{detail}"), "path-member", f"/operations/{_READ}/http/path"),
    (_http(_READ, "path", "/c/{other}"), "path-member", f"/operations/{_READ}/http/path"),
    (
        _http(_OPEN, "receipt", "path", "/tickets/{other}"),
        "path-member",
        f"/operations/{_OPEN}/http/receipt/path",
    ),
    (_http(_READ, "path", "/c/{customer}/{"), "path-member", f"/operations/{_READ}/http/path"),
    (
        _http(_READ, "query", "x", {"member": "y"}),
        "query-member",
        f"/operations/{_READ}/http/query/x",
    ),
    (_http(_READ, "query", "x", {}), "query-member", f"/operations/{_READ}/http/query/x"),
    (_http(_READ, "query", {}), "member-unused", f"/operations/{_READ}/request/properties/detail"),
    (_http(_READ, "body", {"member": "detail"}), "body", f"/operations/{_READ}/http/body"),
    (_http(_OPEN, "body", {}), "body", f"/operations/{_OPEN}/http/body"),
    (
        _http(_OPEN, "body", {"members": ["customer", "text", "x"]}),
        "body",
        f"/operations/{_OPEN}/http/body",
    ),
    (_http(_OPEN, "success", [302]), "invalid-value", f"/operations/{_OPEN}/http/success/0"),
    (_http(_OPEN, "refusals", {"x": 500}), "invalid-value", f"/operations/{_OPEN}/http/refusals/x"),
    (
        _http(_OPEN, "classification", [{"kind": "refused", "code": "no"}]),
        "classification",
        f"/operations/{_OPEN}/http/classification/0",
    ),
    (
        _http(_OPEN, "classification", [_RULE | {"kind": "accepted"}]),
        "invalid-value",
        f"/operations/{_OPEN}/http/classification/0/kind",
    ),
    (
        _http(_OPEN, "classification", [_RULE | {"kind": "declared-refusal"}]),
        "classification",
        f"/operations/{_OPEN}/http/classification/0",
    ),
    (
        _http(_READ, "classification", [_RULE | {"kind": "unknown"}]),
        "classification",
        f"/operations/{_READ}/http/classification/0",
    ),
    (
        _http(_READ, "classification", [_RULE | {"kind": "receipt-expired"}]),
        "classification",
        f"/operations/{_READ}/http/classification/0",
    ),
    (
        _http(_OPEN, "outcomes", {"lost": {"kind": "retryable", "code": "no"}}),
        "classification",
        f"/operations/{_OPEN}/http/outcomes/lost",
    ),
    (
        _http(_OPEN, "outcomes", {"gone": {"kind": "refused", "code": "no"}}),
        "invalid-value",
        f"/operations/{_OPEN}/http/outcomes/gone",
    ),
    (
        _op(_READ, "request", "properties", "customer", "type", "strin"),
        "schema",
        f"/operations/{_READ}/request/properties/customer/type",
    ),
    (_op(_READ, "request", "type", "string"), "schema", f"/operations/{_READ}/request"),
    (_op(_READ, "request", True), "schema", f"/operations/{_READ}/request"),
    (_op(_READ, "response", {"$id": "x"}), "schema", f"/operations/{_READ}/response/$id"),
    (
        _op(_READ, "response", {"$ref": "https://x.example"}),
        "schema",
        f"/operations/{_READ}/response/$ref",
    ),
    (
        _op(_READ, "response", {"$ref": "#/$defs/absent"}),
        "schema",
        f"/operations/{_READ}/response/$ref",
    ),
    (
        _op(_READ, "response", {"format": "shoe-size"}),
        "schema",
        f"/operations/{_READ}/response/format",
    ),
    (_op(_READ, "response", []), "schema", f"/operations/{_READ}/response"),
    (
        _op(_OPEN, "completions", "closed", "schema", {"type": 7}),
        "schema",
        f"/operations/{_OPEN}/completions/closed/schema/type",
    ),
    (
        _op(_OPEN, "completions", "closed", "read", "crm.absent/v1"),
        "completion",
        f"{_OPEN} /completions/closed/read",
    ),
    (
        _op(_OPEN, "completions", "closed", "read", _OPEN),
        "completion",
        f"{_OPEN} /completions/closed/read",
    ),
]


@pytest.mark.parametrize(("change", "code", "place"), _WRONG)
def test_a_mistake_has_a_code_a_place_and_a_remedy(change: Change, code: str, place: str) -> None:
    document = copy.deepcopy(_document())
    change(document)
    mistake = _mistakes(document)[0]
    assert mistake.code == f"catalogue.{code}"
    assert mistake.place.replace("~1", "/").endswith(place)
    assert mistake.remedy


def test_every_mistake_is_reported_at_once() -> None:
    document = _document()
    document["operations"][_READ]["http"]["path"] = "/c/{other}"
    document["operations"][_OPEN]["key"] = False
    codes = {mistake.code for mistake in _mistakes(document)}
    assert {"catalogue.path-member", "catalogue.effect-disagreement"} <= codes


def test_an_unknown_member_is_answered_with_the_nearest() -> None:
    document = _document()
    document["operations"][_OPEN]["http"]["sucess"] = [201]
    assert _mistakes(document)[0].remedy == "did you mean success"


def test_two_documents_may_not_hold_the_same_operation() -> None:
    with pytest.raises(CatalogueRefused) as caught:
        Catalogue.with_documents({"a.yaml": DOCUMENT, "b.yaml": DOCUMENT})
    assert caught.value.code == "catalogue.duplicate-operation"
    assert caught.value.place.startswith("b.yaml")


def test_mistakes_of_several_documents_come_together() -> None:
    wrong = DOCUMENT.replace("product: crm", "product: breg")
    with pytest.raises(CatalogueRefused) as caught:
        Catalogue.with_documents({"a.yaml": "a: [", "b.yaml": wrong})
    assert [mistake.place.split(":")[0] for mistake in caught.value.mistakes][:2] == [
        "a.yaml",
        "b.yaml",
    ]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "config.missing-envelope", 1),
        ("a: 1\n---\nb: 2\n", "yaml.multiple-documents", 2),
        ("a: &x 1\n", "yaml.anchor", 1),
        ("a: 1\nb: *x\n", "yaml.alias", 2),
        ("a: !!str 1\n", "yaml.tag", 1),
        ("a: 1\na: 2\n", "yaml.duplicate-key", 2),
        ("? [a]\n: 1\n", "yaml.non-string-key", 1),
        ("<<: {a: 1}\n", "yaml.merge-key", 1),
        ("a: 0123\n", "yaml.ambiguous-number", 1),
        ("a: [1\n", "yaml.unexpected-end", 1),
        ("a:\n\t- 1\n", "yaml.tab-indentation", 2),
        ("a: \x01\n", "yaml.control-character", 1),
        ("[" * 200 + "]" * 200, "yaml.too-deep", 1),
        ("x" * 1_100_000, "yaml.too-large", 1),
        ("[" * 1_000_000, "yaml.too-deep", 1),
        (b"a: \xff\n", "yaml.not-utf8", 1),
    ],
)
def test_text_that_is_not_strict_yaml_is_placed(text: str | bytes, code: str, line: int) -> None:
    with pytest.raises(CatalogueRefused) as caught:
        Catalogue.with_documents({"c.yaml": text})
    assert caught.value.code == code
    assert caught.value.place.startswith(f"c.yaml:{line} ")
    assert caught.value.remedy


def test_every_mistake_of_the_yaml_is_reported_at_once() -> None:
    with pytest.raises(CatalogueRefused) as caught:
        Catalogue.with_documents({"c.yaml": "a: &x 1\nb: 0123\n"})
    assert [one.code for one in caught.value.mistakes] == ["yaml.anchor", "yaml.ambiguous-number"]


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    windows = b"\xef\xbb\xbf" + DOCUMENT.replace("\n", "\r\n").encode()
    plain = Catalogue.with_documents({"crm.yaml": DOCUMENT})
    other = Catalogue.with_documents({"crm.yaml": windows})
    assert plain.contracts() == other.contracts()


def test_a_schema_that_only_refers_to_itself_is_refused() -> None:
    document = _document()
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}
    document["operations"][_READ]["response"] = loop
    messages = {mistake.message for mistake in _mistakes(document)}
    assert messages == {"the reference never comes to an end"}


def test_an_action_on_a_proposal_is_marked() -> None:
    document = _document()
    document["operations"][_OPEN]["proposal"] = True
    catalogue = Catalogue.with_documents({"crm.json": json.dumps(document)})
    assert catalogue.find(_OPEN).contract.proposal
    document["operations"][_READ]["proposal"] = True
    [mistake] = _mistakes(document)
    assert mistake.place.endswith("/proposal")
