"""Whether a command carries the grant that its connection needs (contract 5.2)."""

from __future__ import annotations

from activities.credentials import Grant, read_grant
from activities.products.http_requests import CommandRefused
from interpreter.contract.values import JsonValue


def task_grant(member: str | None, input: JsonValue, *, for_tasks: bool | None) -> Grant | None:
    """The grant in ``member`` of an input; None on a connection that is not bound to tasks.

    ``for_tasks`` None leaves it to the input, whose grant then serves nobody.

    Raises CommandRefused for a grant that is malformed or missing, and for a superfluous one: what
    nothing enforces would only pretend to narrow what the call may do.
    """
    if for_tasks is None:
        return None
    carried = member is not None and member in input
    if not for_tasks:
        if carried:
            raise CommandRefused(f"request /{member}")
        return None
    grant = read_grant(input[member]) if carried else None
    if grant is None:
        raise CommandRefused(f"request /{member or 'grant'}")
    return grant
