"""The stamp of a sealed payload: in clear, but covered by the seal, where the payload belongs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from temporalio.converter import (
    ActivitySerializationContext,
    SerializationContext,
    WorkflowSerializationContext,
)

from interpreter.contract.runs import run_id_of

ENCODING: Final = "binary/coordinator"
_SCHEDULED = re.compile(r"-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


class Form(StrEnum):
    """How a payload is sealed.

    Under the run's key (``run``), the same with the body in the ledger (``stored``), or under the
    deployment's own key, for workflows that are no runs (``own``).
    """

    RUN = "run"
    STORED = "stored"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Scope:
    """The namespace and the workflows that a payload is for.

    ``root`` is what all executions of a run have in common, the first two segments of their
    workflow ids; for any other workflow its id, without the time that a schedule appends. Empty
    where Temporal gives no workflow.
    """

    namespace: str
    root: str

    @staticmethod
    def of(context: SerializationContext) -> Scope | None:
        """The scope that Temporal gives, or None where it gives no workflow."""
        known = (WorkflowSerializationContext, ActivitySerializationContext)
        if not isinstance(context, known) or not context.workflow_id:
            return None
        return Scope(context.namespace, root_of(context.workflow_id))

    @property
    def run_id(self) -> str | None:
        """The run that this root names, or None where it names none."""
        try:
            return str(UUID(run_id_of(f"{self.root}/1")))
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Stamp:
    """Where a sealed payload belongs, and how it is sealed."""

    deployment: str
    scope: Scope
    form: Form

    @property
    def place(self) -> str:
        """What the seal covers beside deployment and run; no two stamps have the same."""
        return json.dumps([self.form, self.scope.namespace, self.scope.root], ensure_ascii=False)

    def metadata(self) -> dict[str, bytes]:
        """The metadata of the sealed payload."""
        texts = {
            "encoding": ENCODING,
            "d": self.deployment,
            "n": self.scope.namespace,
            "r": self.scope.root,
            "f": self.form.value,
        }
        return {name: text.encode() for name, text in texts.items()}

    @staticmethod
    def read(metadata: Mapping[str, bytes]) -> Stamp | None:
        """The stamp that is written there, true or not; None where there is none of ours."""
        try:
            texts = {name: metadata[name].decode() for name in ("encoding", "d", "n", "r", "f")}
            form = Form(texts["f"])
        except (KeyError, ValueError):
            return None
        if texts["encoding"] != ENCODING:
            return None
        return Stamp(texts["d"], Scope(texts["n"], texts["r"]), form)


def root_of(workflow_id: str) -> str:
    """What the ids of all executions of a run, or of a schedule's workflows, have in common."""
    parts = workflow_id.split("/")
    return "/".join(parts[:2]) if len(parts) == 3 else _SCHEDULED.sub("", workflow_id)
