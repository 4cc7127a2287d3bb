"""Who is calling, told by an API key, and what that caller may do and see."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import Request, Security
from fastapi.security import APIKeyHeader

from adapter.api.ports import Scope
from adapter.api.problems import refused
from adapter.config.callers import OPERATORS_ALONE
from adapter.config.document import Caller as Policy

HEADER = "X-API-Key"
_scheme = APIKeyHeader(name=HEADER, auto_error=False, description="An API key of the deployment")


@dataclass(frozen=True, slots=True)
class Caller:
    """A known caller; ``owner`` is the name that its runs carry."""

    owner: str
    scope: Scope
    actions: frozenset[str]


class Callers:
    """The callers of a deployment; keys are compared by digest, every one of them, every time."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = tuple(policies)

    def may(self, action: str) -> Callable[..., Awaitable[Caller]]:
        """A dependency that gives the caller, or refuses: 401 unknown, 403 without the action."""

        async def known_caller(
            request: Request, _documented: str | None = Security(_scheme)
        ) -> Caller:
            keys = request.headers.getlist(HEADER)
            policy = self._policy(keys[0]) if len(keys) == 1 else None
            if policy is None:
                raise refused(
                    "access.unauthenticated",
                    "the request carries no API key of this deployment",
                    place=HEADER,
                    remedy="send exactly one valid key",
                )
            if action not in policy.actions:
                raise refused(
                    "access.denied",
                    "the caller's policy does not hold this action",
                    place=action,
                    remedy="ask the deployer to add the action to this caller",
                )
            if action in OPERATORS_ALONE and not policy.operator:
                raise refused(
                    "access.denied",
                    "the action is about the whole deployment, and the caller is no operator",
                    place=action,
                    remedy="ask an operator",
                )
            return _caller(policy)

        return known_caller

    def _policy(self, key: str) -> Policy | None:
        digest = "sha256:" + hashlib.sha256(key.encode()).hexdigest()
        found = None
        for policy in self._policies:
            if hmac.compare_digest(digest, policy.key_hash):
                found = policy
        return found


def _caller(policy: Policy) -> Caller:
    every = "*" in policy.workflows
    scope = Scope(
        owner=None if policy.operator else policy.name,
        workflows=None if every else frozenset(policy.workflows),
    )
    return Caller(policy.name, scope, frozenset(policy.actions))
