"""The page on which an author completes results and lets steps fail."""

from __future__ import annotations

from html import escape

from adapter.simulation.playing import Playing
from adapter.simulation.store import Standing

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ccc }}
form {{ display: inline }} input {{ width: 18rem }} h2 {{ margin-top: 2rem }}
</style></head><body><h1>{title}</h1>
<p>Products simulated from their contracts. Reload to see what is new.</p>
"""
_FAILURES = """<form method="post" action="/control/failures">
<label>Let a step fail: <input name="set" placeholder="step=lost-response" required></label>
<button>Set</button></form>
<p>Kinds: lost-response, refuse:CODE, status-5xx, slow:SECONDS, rate-limited; <code>*3</code> after
it strikes three attempts of each command, <code>*</code> every one.</p>
"""


def page(playing: Playing) -> str:
    """The whole page as HTML."""
    return "".join(
        (
            _HEAD.format(title=escape(f"Simulation of {playing.workflow}")),
            "<h2>Awaited results</h2>",
            _table(("result", "wait", "state", ""), _completions(playing)),
            "<h2>Failures</h2>",
            _table(("step", "failure", ""), _failures(playing)),
            _FAILURES,
            "<h2>Latest requests</h2>",
            _table(("step", "operation", "connection", "answer"), _requests(playing)),
            "</body></html>\n",
        )
    )


def _completions(playing: Playing) -> list[tuple[str, ...]]:
    return [
        (
            escape(one.id),
            escape(one.wait),
            one.standing.value,
            _complete_form(one.id) if one.standing is Standing.PENDING else "",
        )
        for one in playing.awaiting.every()
    ]


def _complete_form(id: str) -> str:
    return (
        '<form method="post" action="/control/completions">'
        f'<input type="hidden" name="name" value="{escape(id)}">'
        '<input name="value" aria-label="value" placeholder="JSON value, or empty to make one up">'
        "<button>Complete</button></form>"
    )


def _failures(playing: Playing) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for one in playing.failing.every():
        setting = one.code or (f"{one.seconds:g} s" if one.seconds else "")
        times = "every attempt" if one.times is None else f"{one.times} of each command"
        clear = (
            '<form method="post" action="/control/failures">'
            f'<button name="clear" value="{escape(one.step)}">Clear</button></form>'
        )
        words = f"{one.kind.value} {setting} ({times})"
        rows.append((escape(one.step), escape(words), clear))
    return rows


def _requests(playing: Playing) -> list[tuple[str, ...]]:
    return [
        (escape(one.step or "(poll)"), escape(one.operation), escape(one.connection), one.answer)
        for one in reversed(playing.seen)
    ]


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    if not rows:
        return "<p>None.</p>"
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
