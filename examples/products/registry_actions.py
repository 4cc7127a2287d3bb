"""The actions that the registry declares: their fields, conditions, effects and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ENTITIES = {"applications": "application", "cases": "case", "people": "person"}


@dataclass(frozen=True, slots=True)
class Field:
    """One input of an action: text, required or not, perhaps one of a few values."""

    required: bool
    maximum_length: int = 200
    values: tuple[str, ...] = ()

    def accepts(self, value: Any) -> bool:
        """Whether a value has the declared type, length and spelling."""
        if not isinstance(value, str) or not 1 <= len(value) <= self.maximum_length:
            return False
        return not self.values or value in self.values

    def document(self) -> dict[str, Any]:
        """The field as the description of the registry shows it."""
        shown: dict[str, Any] = {
            "type": "string",
            "required": self.required,
            "maxLength": self.maximum_length,
        }
        return {**shown, "enum": list(self.values)} if self.values else shown


@dataclass(frozen=True, slots=True)
class Action:
    """An action: immediate, or a proposal that only an applicant may drive.

    ``target_input`` names the input that holds the id of the record in ``target_collection``.
    """

    kind: str
    fields: dict[str, Field]
    effects: dict[str, dict[str, str]]
    condition_keys: tuple[str, ...] = ()
    target_collection: str = "applications"
    target_input: str = "applicationId"
    no_effect_refusals: tuple[str, ...] = ()

    def document(self, profile: str) -> dict[str, Any]:
        """The action as the description of the registry shows it to a profile."""
        return {
            "kind": self.kind,
            "accessProfile": profile,
            "fields": {name: field.document() for name, field in self.fields.items()},
            "conditionKeys": list(self.condition_keys),
            "effects": self.effects,
            "noEffectRefusals": list(self.no_effect_refusals),
        }


ACTIONS = {
    "record-outcome": Action(
        kind="immediate",
        fields={
            "applicationId": Field(required=True),
            "outcome": Field(required=True, values=("approved", "rejected")),
            "note": Field(required=False, maximum_length=500),
        },
        effects={"application": {"entity": "application", "change": "update"}},
        condition_keys=("application",),
        no_effect_refusals=("application-already-decided", "application-not-found"),
    ),
    "open-case": Action(
        kind="immediate",
        fields={
            "title": Field(required=True),
            "caseId": Field(required=False, maximum_length=64),
            "applicationId": Field(required=False),
        },
        effects={"case": {"entity": "case", "change": "create"}},
        no_effect_refusals=("case-already-open",),
    ),
    "propose-correction": Action(
        kind="proposal",
        fields={"applicationId": Field(required=True), "correction": Field(required=True)},
        effects={"application": {"entity": "application", "change": "update"}},
        condition_keys=("application",),
    ),
}
