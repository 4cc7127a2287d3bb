"""One effect as it is asked for, dispatched and answered: ids, replies and their envelope."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from interpreter.contract.values import JsonValue

ROOT_BRANCH = "main"

_REFERENCE = re.compile(r"^(?P<branch>.+)/(?P<node>[^/:]+):(?P<visit>[0-9]+)$")


@dataclass(frozen=True, slots=True)
class VisitRef:
    """One visit of a node in a branch of a run; of a call node this is one effect."""

    run_id: str
    branch: str
    node: str
    visit: int

    @property
    def id(self) -> str:
        """``branch/node:visit``, unique within the run."""
        return f"{self.branch}/{self.node}:{self.visit}"

    def activity_id(self, generation: int) -> str:
        """``branch/node:visit:generation`` (protocol rule 4)."""
        return f"{self.id}:{generation}"


def visit_ref(run_id: str, activity_id: str) -> tuple[VisitRef, int]:
    """The visit and generation that an activity id names; ValueError if it names none."""
    effect, _, generation = activity_id.rpartition(":")
    match = _REFERENCE.match(effect)
    if match is None or not generation.isdigit():
        raise ValueError("not an activity id of this interpreter")
    return VisitRef(run_id, match["branch"], match["node"], int(match["visit"])), int(generation)


class ReplyKind(StrEnum):
    """How an answer, or the lack of one, is classified (design section 5)."""

    ACCEPTED = "accepted"
    DECLARED_REFUSAL = "declared-refusal"
    REFUSED = "refused"
    RETRYABLE = "retryable"
    UNKNOWN = "unknown"
    RECEIPT_EXPIRED = "receipt-expired"
    NOT_PERMITTED = "not-permitted"


@dataclass(frozen=True, slots=True)
class Reply:
    """A classified answer.

    ``accepted`` carries ``output``; every other kind a short ``code`` (``transport-uncertain``,
    the product's declared refusal code, ``deadline``…). ``retryable`` as a *final* reply means
    that the attempts are used up and that nothing was applied. ``position`` is how far the ledger
    was with the run when it gave the reply (0: not told); it is no part of what was answered.
    """

    kind: ReplyKind
    output: JsonValue = None
    code: str = ""
    position: int = field(default=0, compare=False)

    def to_json(self) -> dict[str, JsonValue]:
        """``{kind, output?, code?}``."""
        result: dict[str, JsonValue] = {"kind": self.kind.value}
        if self.kind is ReplyKind.ACCEPTED:
            result["output"] = self.output
        if self.code:
            result["code"] = self.code
        return result

    @staticmethod
    def from_json(value: JsonValue) -> Reply:
        """The reply that ``to_json`` wrote; KeyError, TypeError or ValueError if it is none."""
        return Reply(ReplyKind(value["kind"]), value.get("output"), value.get("code", ""))
