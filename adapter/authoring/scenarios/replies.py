"""Scripted replies, as both scenario formats write them."""

from __future__ import annotations

from activities.yaml.tree import Sequence, Table
from adapter.authoring.formats.shape import EXTERNAL_ID, Section
from adapter.authoring.scenarios.lists import check_length, step_tables
from adapter.authoring.scenarios.moments import read_seconds
from interpreter.scenario import Reply, ReplyType

MOST_STEPS = 64

PUBLIC_TYPES = (
    ReplyType.SUCCESS,
    ReplyType.RETRYABLE,
    ReplyType.REFUSED,
    ReplyType.UNCERTAIN,
    ReplyType.RECEIPT_EXPIRED,
)
ALL_TYPES = (*PUBLIC_TYPES, ReplyType.DECLARED_REFUSAL)


class ReplyReader:
    """Reads ``replies``; ``timed`` allows the members that say how long an attempt lasts."""

    def __init__(self, types: tuple[ReplyType, ...], most: int, *, timed: bool) -> None:
        self._types = tuple(one.value for one in types)
        self._most = most
        self._timed = timed

    def read(self, section: Section, *, required: bool) -> dict[str, tuple[Reply, ...]]:
        """Step -> its replies in order."""
        table = step_tables(section, "replies", MOST_STEPS, required=required)
        if table is None:
            return {}
        found = {}
        for step, entry in table.entries.items():
            if not isinstance(entry.value, Sequence):
                message = f"the replies of `{step}` need a list"
                section.refuse("config.invalid-type", entry.value.spot, message)
                continue
            inner = Section(table, section.report, "`replies`")
            check_length(inner, step, len(entry.value.items), 1, self._most)
            found[step] = self._replies(inner, entry.value)
            section.broken = section.broken or inner.broken
        return found

    def _replies(self, section: Section, sequence: Sequence) -> tuple[Reply, ...]:
        replies = []
        for tree in sequence.items:
            if not isinstance(tree, Table):
                section.table_needed(tree, "a reply")
                continue
            inner = Section(tree, section.report, "this reply")
            reply = self._reply(inner)
            section.broken = section.broken or inner.broken
            if reply is not None:
                replies.append(reply)
        return tuple(replies)

    def _reply(self, section: Section) -> Reply | None:
        word = section.word("type", self._types)
        if word is None:
            return None
        kind = ReplyType(word)
        value = section.foreign("value") if kind is ReplyType.SUCCESS else None
        code = ""
        if kind not in (ReplyType.SUCCESS, ReplyType.RECEIPT_EXPIRED):
            code = section.text("code", EXTERNAL_ID) or ""
        takes = read_seconds(section, "takesSeconds") if self._timed else None
        retry_after = None
        if self._timed and kind is ReplyType.RETRYABLE:
            retry_after = read_seconds(section, "retryAfterSeconds")
        section.close()
        return Reply(kind, value, code, takes or 0, retry_after)
