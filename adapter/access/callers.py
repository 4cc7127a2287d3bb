"""A verified caller: who it is, whose runs it owns, and what it may do and see."""

from __future__ import annotations

from dataclasses import dataclass

API_KEYS = "api-key"
"""Stands for the issuer of callers with an API key; no issuer of tokens has this address."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose runs they are: the verified issuer and subject (not the client that asked)."""

    issuer: str
    subject: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Which runs a caller may know of: those of ``owner`` (None: of everybody) in ``workflows``.

    ``workflows`` None means every workflow.
    """

    owner: Owner | None
    workflows: frozenset[str] | None

    def covers(self, workflow: str) -> bool:
        """Whether runs of this workflow may be known."""
        return self.workflows is None or workflow in self.workflows


@dataclass(frozen=True, slots=True)
class Caller:
    """A known caller.

    ``actor`` names it to people: the name of an API key's caller, or ``ISSUER:SUBJECT`` with the
    issuer's name in runtime.yaml, which no other caller can have.
    """

    owner: Owner
    actor: str
    scope: Scope
    actions: frozenset[str]
    operator: bool = False
