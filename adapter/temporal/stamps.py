"""The stamp of a sealed payload: in clear, before its envelope, whose payload it is."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final
from uuid import UUID

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    SerializationContext,
    WorkflowSerializationContext,
)

from interpreter.contract.runs import root_of_run, run_id_of

ENCODING: Final = b"sealed"
_ROOT_LENGTH: Final = struct.Struct(">H")
_RUN_ID_BYTES: Final = 16
_SCHEDULED = re.compile(r"-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


class Form(IntEnum):
    """How a payload is sealed.

    Under the run's key (``RUN``), the same with the body in the ledger (``STORED``), or under the
    deployment's own key, for workflows that are no runs (``OWN``).
    """

    RUN = 1
    STORED = 2
    OWN = 3


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
        return _scope_of(context.namespace, context.workflow_id)

    @property
    def run_id(self) -> str | None:
        """The run that this root names, or None where it names none."""
        return _run_of(self.root)

    def place(self, form: Form) -> str:
        """What the seal covers beside deployment and run; no two places read the same."""
        return _place_of(form, self.namespace, self.root)


NOWHERE: Final = Scope("", "")
"""What Temporal gives no workflow for."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """How a payload is sealed, and whose it is: a run's, or a workflow's by its root.

    A history has many payloads, so a stamp is no longer than a reader who knows nothing but the
    deployment needs: the seal covers the whole scope, which is not repeated here.
    """

    form: Form
    owner: str

    def belongs_to(self, scope: Scope) -> bool:
        """Whether this is a payload of the scope's run or workflow."""
        return self.owner == (scope.root if self.form is Form.OWN else scope.run_id)

    def on(self, envelope: bytes) -> Payload:
        """The payload that Temporal gets."""
        head = bytes([self.form])
        if self.form is Form.OWN:
            root = self.owner.encode()
            head += _ROOT_LENGTH.pack(len(root)) + root
        else:
            head += UUID(self.owner).bytes
        return Payload(metadata={"encoding": ENCODING}, data=head + envelope)

    @staticmethod
    def read(payload: Payload) -> tuple[Stamp, bytes] | None:
        """The stamp, true or not, and the envelope; None for a payload without one of ours."""
        if payload.metadata.get("encoding") != ENCODING or not payload.data:
            return None
        try:
            form, rest = Form(payload.data[0]), payload.data[1:]
            if form is not Form.OWN:
                owner = str(UUID(bytes=rest[:_RUN_ID_BYTES]))
                return Stamp(form, owner), rest[_RUN_ID_BYTES:]
            [length] = _ROOT_LENGTH.unpack_from(rest)
            start = _ROOT_LENGTH.size + length
            owner = rest[_ROOT_LENGTH.size : start].decode()
            return Stamp(form, owner), rest[start:]
        except (ValueError, struct.error):
            return None


# Each is asked for some ten times with every task of a run.
_MOST_KNOWN: Final = 4_096


@lru_cache(maxsize=_MOST_KNOWN)
def _run_of(root: str) -> str | None:
    try:
        return str(UUID(run_id_of(f"{root}/1")))
    except ValueError:
        return None


@lru_cache(maxsize=_MOST_KNOWN)
def _place_of(form: Form, namespace: str, root: str) -> str:
    return json.dumps([form, namespace, root], ensure_ascii=False)


@lru_cache(maxsize=_MOST_KNOWN)
def _scope_of(namespace: str, workflow_id: str) -> Scope:
    return Scope(namespace, root_of(workflow_id))


def root_of(workflow_id: str) -> str:
    """What the ids of all executions of a run, or of a schedule's workflows, have in common."""
    try:
        return root_of_run(workflow_id)
    except ValueError:
        return _SCHEDULED.sub("", workflow_id)
