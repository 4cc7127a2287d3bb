"""The operations that the pretend products know, and which request is which."""

from __future__ import annotations

import re
from dataclasses import dataclass

from examples.products.problems import Problem


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a product does: its name, its request, its success and its own refusals.

    ``applies`` says that a success leaves an effect behind. ``refusals`` are the codes that the
    owner declares to have had no effect; the first is what the fault ``refuse`` answers.
    """

    name: str
    method: str
    path: re.Pattern[str]
    success: int = 200
    applies: bool = False
    refusals: tuple[str, ...] = ()


def _operation(
    name: str,
    request: str,
    *,
    success: int = 200,
    applies: bool = False,
    refusals: tuple[str, ...] = (),
) -> Operation:
    method, template = request.split(" ")
    pattern = re.compile(template.replace("{}", "[^/]+").replace("{*}", ".+"))
    return Operation(name, method, pattern, success, applies, refusals)


OPERATIONS = (
    _operation("breg.read-record", "GET /registry/v1/records/{}/{}"),
    _operation("breg.read-metadata", "GET /registry/v1/registry"),
    _operation("breg.target-conditions", "POST /registry/v1/actions/{}/target-conditions"),
    _operation(
        "breg.invoke-action",
        "POST /registry/v1/actions/{}",
        applies=True,
        refusals=("application-already-decided", "application-not-found", "case-already-open"),
    ),
    _operation(
        "casework.submit-review-request",
        "POST /casework/v1/review-requests",
        success=201,
        applies=True,
        refusals=("review-template-unknown", "review-scope-closed"),
    ),
    _operation("casework.read-review-request", "GET /casework/v1/review-requests/{}"),
    _operation(
        "casework.withdraw-review-request",
        "POST /casework/v1/review-requests/{}/withdraw",
        applies=True,
        refusals=("review-already-completed",),
    ),
    _operation("casework.assert-grant", "POST /casework/v1/task-grants/{}/assertion"),
    _operation(
        "messaging.submit-message",
        "POST /messaging/v1/messages",
        success=202,
        applies=True,
        refusals=("recipient-suppressed", "template-not-found", "locale-unavailable"),
    ),
    _operation("messaging.read-receipt", "POST /messaging/v1/messages/receipt"),
    _operation("scheduling.read-scheduling", "GET /scheduling/v1/scheduling"),
    _operation("scheduling.read-availability", "GET /scheduling/v1/availability"),
    _operation(
        "scheduling.create-appointment",
        "POST /scheduling/v1/appointments",
        success=201,
        applies=True,
        refusals=("slot-unavailable", "policy-changed", "duplicate-appointment"),
    ),
    _operation("scheduling.read-receipt", "POST /scheduling/v1/appointments/receipt"),
    _operation("evaluation.evaluate", "POST /evaluation/v1/systemone", applies=True),
    _operation("evaluation.evaluate", "POST /evaluation/v1/decisions", applies=True),
    _operation("external.get", "GET /external/{*}"),
    _operation("oauth.token", "POST /oauth/token"),
)

OPERATION_NAMES = tuple(dict.fromkeys(operation.name for operation in OPERATIONS))


def operation_of(method: str, path: str) -> Operation | None:
    """Which operation a request is, or ``None`` for a page, a control route or nonsense."""
    for operation in OPERATIONS:
        if operation.method == method and operation.path.fullmatch(path):
            return operation
    return None


def operation_named(name: str) -> str:
    """The plain name of an operation; a version suffix such as ``/v1`` is accepted and dropped.

    ``*`` stands for every operation. Raises ``Problem`` 422 for an unknown name.
    """
    plain = name.removesuffix("/v1")
    if plain != "*" and plain not in OPERATION_NAMES:
        raise Problem(422, "operation-unknown", f"Use * or one of: {', '.join(OPERATION_NAMES)}.")
    return plain
