"""External reads: exact paths of a connection, any completed status as data."""

from __future__ import annotations

from urllib.parse import quote

from activities.catalogue import Situation
from activities.products.calls import Call
from activities.products.http_requests import CommandRefused, plain_request
from activities.products.outcomes import Malformed, Sent, after_failure, read_body
from activities.products.transport import Failure
from interpreter.contract.effects import Reply, ReplyKind
from interpreter.contract.values import JsonValue

_PATH_SAFE = "/-._~!$&'()*+,;=:@%"


class ExternalRead:
    """``external.get/v1``."""

    async def prepare(self, call: Call) -> JsonValue:
        """Nothing: the mapped input is the whole command."""
        return None

    async def send(self, call: Call) -> Sent:
        """GET an allowed path; ``{status, body}`` that satisfies the connection's schema."""
        answer = await call.exchange(plain_request(_target(call)))
        if isinstance(answer, Failure):
            return after_failure(call.entry, answer)
        if 300 <= answer.status <= 399:
            return call.situation(Situation.REDIRECT)
        try:
            output = {"status": answer.status, "body": read_body(answer)}
        except Malformed as fault:
            return call.situation(Situation.MALFORMED, str(fault))
        misfit = call.line.fits_response(output) or call.pinned.response_misfit(output)
        if misfit is not None:
            return call.situation(Situation.MALFORMED, f"response {misfit}")
        return Sent(Reply(ReplyKind.ACCEPTED, output))


def _target(call: Call) -> str:
    settings, path = call.line.settings, call.input["path"]
    if path not in settings.paths:
        raise CommandRefused("request /path")
    query: dict[str, str] = call.input.get("query", {})
    for name in query:
        if name not in settings.query_parameters:
            raise CommandRefused("request /query")
    written = "&".join(
        f"{quote(name, safe='')}={quote(query[name], safe='')}" for name in sorted(query)
    )
    target = "/" + quote(path, safe=_PATH_SAFE)
    return f"{target}?{written}" if written else target
