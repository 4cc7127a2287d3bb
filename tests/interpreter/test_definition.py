"""The definition's own form: what enters the revision, and what a stored form keeps."""

from __future__ import annotations

from interpreter.contract.values import digest
from interpreter.definition.document import Definition
from tests.fixtures.definitions import call, definition, finish


def _stored() -> dict[str, object]:
    return definition({"read": call("read", "done"), "done": finish()}).to_json()


def test_a_definition_comes_back_from_its_form() -> None:
    stored = _stored()
    assert Definition.read(stored).to_json() == stored


def test_a_form_without_a_newer_member_keeps_its_revision() -> None:
    stored = _stored()
    del stored["triggers"]
    assert Definition.read(stored).revision == digest(stored)


def test_a_literal_null_stays_in_the_form() -> None:
    made = definition({"done": finish("done", {"literal": None})})
    assert made.to_json()["nodes"]["done"]["output"] == {"literal": None}
