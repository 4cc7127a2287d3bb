"""The scripted replies of a case, consumed in order, and what was left over."""

from __future__ import annotations

from collections import Counter

from interpreter.contract.schemas import escaped
from interpreter.scenario.cases import Case, Reply
from interpreter.scenario.faults import CaseFault


class Script:
    """Hands out each step's replies one after the other."""

    def __init__(self, case: Case) -> None:
        self._replies = case.replies
        self.taken: Counter[str] = Counter()

    def take(self, step: str) -> Reply:
        """The next reply of a step; CaseFault ``coordinator.scenario.reply`` when none is left."""
        replies = self._replies.get(step, ())
        index = self.taken[step]
        if index >= len(replies):
            raise CaseFault(
                "coordinator.scenario.reply",
                f"step `{step}` is called and has no reply left"
                if replies
                else f"step `{step}` is called and has no reply",
                place=f"/replies/{escaped(step)}" if replies else "/replies",
                remedy=f"add a reply under `replies` for `{step}`",
            )
        self.taken[step] += 1
        return replies[index]

    def left(self, step: str) -> int:
        """How many replies a step still has."""
        return len(self._replies.get(step, ())) - self.taken[step]

    def pointer(self, step: str) -> str:
        """The pointer, inside the case, of the reply that was taken last."""
        return f"/replies/{escaped(step)}/{max(0, self.taken[step] - 1)}"

    def unused(self) -> list[str]:
        """The pointer of every reply that nobody asked for."""
        return [
            f"/replies/{escaped(step)}/{index}"
            for step, replies in self._replies.items()
            for index in range(self.taken[step], len(replies))
        ]
