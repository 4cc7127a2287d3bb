"""The standard catalogue: its operations promise what the contract's table says."""

from __future__ import annotations

import pytest

from activities.catalogue import Catalogue
from activities.catalogue.schemas import KNOWN_FORMATS, compile_check
from activities.errors import CatalogueError
from interpreter.contract.operations import EffectClass, Recovery
from tests.activities.inputs import INPUTS

_READ = (EffectClass.READ, Recovery.READ_AGAIN, False, False, False)
_SAME = (EffectClass.MUTATION, Recovery.SAME_COMMAND, True, False, False)
_RECEIPT = (EffectClass.MUTATION, Recovery.SAME_COMMAND_AND_RECEIPT, True, False, True)
_TABLE = {
    "breg.invoke-action/v1": (EffectClass.MUTATION, Recovery.SAME_COMMAND, True, True, False),
    "breg.read-record/v1": _READ,
    "casework.read-review-request/v1": _READ,
    "casework.submit-review-request/v1": _SAME,
    "casework.withdraw-review-request/v1": _SAME,
    "evaluation.evaluate/v1": (
        EffectClass.EVALUATION,
        Recovery.HOLD_AFTER_DISPATCH,
        False,
        True,
        False,
    ),
    "external.get/v1": _READ,
    "messaging.submit-message/v1": _RECEIPT,
    "scheduling.create-appointment/v1": _RECEIPT,
    "scheduling.read-availability/v1": _READ,
    "scheduling.read-scheduling/v1": _READ,
}


def test_each_operation_promises_what_the_table_says() -> None:
    assert {
        one.id: (one.effect, one.recovery, one.key, one.preparation, one.receipt)
        for one in Catalogue.standard().contracts()
    } == _TABLE


def test_every_effect_with_a_key_has_a_receipt_window() -> None:
    for contract in Catalogue.standard().contracts():
        assert (contract.receipt_window_seconds is not None) == contract.key


def test_a_submitted_review_exposes_its_result() -> None:
    contract = Catalogue.standard().find("casework.submit-review-request/v1").contract
    result = contract.completions["result"]
    assert result.read == "casework.read-review-request/v1"
    assert (result.value, result.poll_seconds) == ("/result", 900)
    assert result.done.values == ("completed",)
    assert result.gone is not None


def test_the_eight_names_of_v1alpha1_lead_to_operations() -> None:
    assert dict(Catalogue.standard().aliases) == {
        "read-record": "breg.read-record/v1",
        "submit-message": "messaging.submit-message/v1",
        "read-scheduling": "scheduling.read-scheduling/v1",
        "read-availability": "scheduling.read-availability/v1",
        "create-appointment": "scheduling.create-appointment/v1",
        "invoke-breg-action": "breg.invoke-action/v1",
        "external-get": "external.get/v1",
        "evaluate-decision": "evaluation.evaluate/v1",
    }


@pytest.mark.parametrize("operation", sorted(INPUTS))
def test_a_good_input_fits_its_request_schema(operation: str) -> None:
    contract = Catalogue.standard().find(operation).contract
    assert compile_check(contract.request)(INPUTS[operation]) is None


def test_the_standard_catalogue_is_read_once() -> None:
    assert Catalogue.standard() is Catalogue.standard()


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        ("messaging.submit-mesage/v1", "did you mean messaging.submit-message/v1"),
        ("messaging.submit-message/v2", "did you mean messaging.submit-message/v1"),
        ("submit-message/v1", "did you mean messaging.submit-message/v1"),
        ("read-record", "in this format it is called breg.read-record/v1"),
        ("qqqq", "use the id of a catalogue operation"),
    ],
)
def test_an_unknown_operation_is_answered_with_the_nearest(asked: str, remedy: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        Catalogue.standard().find(asked)
    assert caught.value.code == "catalogue.operation-unknown"
    assert (caught.value.place, caught.value.remedy) == (asked, remedy)


_WRONG_BY_FORMAT = {
    "date": "2026-02-30",
    "date-time": "2026-01-01T00:00:00",
    "duration": "P",
    "email": "nobody",
    "hostname": "-x-",
    "idn-email": "nobody",
    "idn-hostname": "bücher..de",
    "iri": "//bücher.de",
    "iri-reference": "ü ü",
    "relative-json-pointer": "/a",
    "uri-template": "{",
    "ipv4": "1.2.3",
    "ipv6": ":::",
    "json-pointer": "a",
    "regex": "(",
    "time": "25:00",
    "uri": "//",
    "uri-reference": "\\\\",
    "uuid": "x",
}


@pytest.mark.parametrize("name", sorted(KNOWN_FORMATS))
def test_every_accepted_format_is_really_checked(name: str) -> None:
    assert compile_check({"format": name})(_WRONG_BY_FORMAT[name]) == "/"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("idn-email", "ü@bücher.example"),
        ("idn-hostname", "bücher.example"),
        ("iri", "https://bücher.example/ü?q=ö#ß"),
        ("iri-reference", "../ü"),
        ("relative-json-pointer", "1/a"),
        ("uri-template", "https://example.org/{id}{?q}"),
    ],
)
def test_formats_beyond_ascii_accept_what_they_are_for(name: str, value: str) -> None:
    assert compile_check({"format": name})(value) is None
