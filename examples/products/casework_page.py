"""The page on which a person decides reviews; it needs no script and loads nothing from outside."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from examples.products.casework import Casework
from examples.products.problems import Problem
from examples.products.wire import optional_text, read_object, refuse_unknown

_STYLE = Path(__file__).with_name("casework.css").read_text(encoding="utf-8")
_INVALID = "decision-invalid"
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
}
_NOTICES = {
    "approved": "The request was approved.",
    "rejected": "The request was rejected.",
    "closed": "That request was already closed, so nothing was changed.",
}


class CaseworkPage:
    """Pending reviews with their buttons, and what was decided before."""

    def __init__(self, casework: Casework) -> None:
        self._casework = casework

    def routes(self) -> APIRouter:
        """The page and the address that its forms, or a command, post to."""
        router = APIRouter()
        router.add_api_route("/", self.show, methods=["GET"])
        router.add_api_route("/_decide/{review_id}", self.decide, methods=["POST"])
        return router

    async def show(self, done: str | None = None) -> Response:
        """The page; ``?done=`` shows what the last form did."""
        pending = self._casework.reviews("pending")
        closed = [r for r in self._casework.reviews() if r["state"] != "pending"][:50]
        return HTMLResponse(_page(pending, closed, _NOTICES.get(done or "")), headers=_HEADERS)

    async def decide(self, request: Request, review_id: str) -> Response:
        """Decide a review: a JSON body gets the closed review, a form is sent back to the page."""
        _refuse_foreign_page(request)
        if request.headers.get("content-type", "").startswith("application/json"):
            body = await read_object(request)
            refuse_unknown(body, ("decision", "comment", "decidedBy"), _INVALID)
            return JSONResponse(self._decide(review_id, body))
        fields = parse_qs((await request.body()).decode("utf-8", "replace"))
        form = {name: values[0] for name, values in fields.items()}
        try:
            closed = self._decide(review_id, form)
        except Problem as problem:
            if problem.status != 409:
                raise
            return RedirectResponse("/casework/?done=closed", 303)
        return RedirectResponse(f"/casework/?done={closed['result']['decision']}", 303)

    def _decide(self, review_id: str, asked: dict[str, Any]) -> dict[str, Any]:
        return self._casework.decide(
            review_id,
            str(asked.get("decision")),
            optional_text(asked, "decidedBy", _INVALID) or "reviewer",
            optional_text(asked, "comment", _INVALID, limit=1_000),
        )


def _refuse_foreign_page(request: Request) -> None:
    """A page of another origin must not decide with the browser of the person at this one."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Problem(403, "origin-forbidden", "Decide on the page of this process.")


def _page(pending: list[dict[str, Any]], closed: list[dict[str, Any]], notice: str | None) -> str:
    waiting = "".join(map(_pending_card, pending)) or (
        '<p class="empty">No review is waiting. Reload the page to look again.</p>'
    )
    decided = "".join(map(_closed_row, closed))
    history = (
        _HISTORY.format(rows=decided)
        if decided
        else ('<p class="empty">Nothing has been decided yet.</p>')
    )
    said = f'<p class="notice" role="status">{escape(notice)}</p>' if notice else ""
    return _FRAME.format(
        style=_STYLE, notice=said, count=len(pending), waiting=waiting, history=history
    )


def _pending_card(review: dict[str, Any]) -> str:
    review_id = escape(review["reviewRequestId"])
    facts = {"Template": review["template"], "Scope": review["scope"]}
    facts |= {"Assigned to": ", ".join(review["assignees"]), "Asked": _moment(review["createdAt"])}
    facts |= {f"Subject: {name}": value for name, value in review["subject"].items()}
    facts |= {f"Data: {name}": value for name, value in (review["data"] or {}).items()}
    rows = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(_shown(value))}</dd></div>"
        for name, value in facts.items()
        if value not in (None, "", [], {})
    )
    title = escape(review["title"] or "Review request")
    task = review["instructions"]
    asked = f'<p class="task">{escape(task)}</p>' if task else ""
    return _CARD.format(review_id=review_id, title=title, task=asked, facts=rows)


def _closed_row(review: dict[str, Any]) -> str:
    result = review["result"] or {}
    outcome = str(result.get("decision", review["state"]))
    cells = (
        escape(review["title"] or "Review request"),
        f'<span class="outcome {outcome}">{outcome.capitalize()}</span>',
        escape(result.get("decidedBy", "")),
        f'<time datetime="{review["closedAt"]}">{_moment(review["closedAt"])}</time>',
        escape(result.get("comment", "")),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _moment(instant: str) -> str:
    return f"{instant[:10]} {instant[11:16]} UTC"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>({count}) Casework: reviews</title>
<style>{style}</style>
</head>
<body>
<header><h1>Casework</h1><p>Pretend product. Decisions here are real for the runs that wait.</p>
<a class="reload" href="/casework/">Reload</a></header>
<main>
{notice}
<section aria-labelledby="waiting"><h2 id="waiting">Waiting for a decision
<span class="count">{count}</span></h2>
{waiting}</section>
<section aria-labelledby="closed"><h2 id="closed">Closed</h2>
{history}</section>
</main>
</body>
</html>
"""

_CARD = """<article aria-labelledby="t-{review_id}">
<h3 id="t-{review_id}">{title}</h3>
<p class="identity">{review_id}</p>
{task}<dl>{facts}</dl>
<form method="post" action="/casework/_decide/{review_id}">
<label for="c-{review_id}">Comment <span>(optional)</span></label>
<textarea id="c-{review_id}" name="comment" rows="2" maxlength="1000"></textarea>
<div class="choice">
<button class="approve" name="decision" value="approved"
 aria-describedby="t-{review_id}">Approve</button>
<button class="reject" name="decision" value="rejected"
 aria-describedby="t-{review_id}">Reject</button>
</div>
</form>
</article>
"""

_HISTORY = """<div class="scroll" role="region" aria-labelledby="closed" tabindex="0"><table>
<thead><tr><th scope="col">Request</th><th scope="col">Outcome</th><th scope="col">By</th>
<th scope="col">When</th><th scope="col">Comment</th></tr></thead>
<tbody>{rows}</tbody></table></div>
"""
