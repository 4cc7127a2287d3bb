"""The caller of a request: told by `adapter.access`, and let through to what it may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Protocol

from fastapi import Path, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from adapter.access import KEY_HEADER, TOKEN_HEADER, Caller, Credentials
from adapter.api.problems import refused
from adapter.config.callers import OPERATORS_ALONE

_token_scheme = HTTPBearer(
    scheme_name="AccessToken",
    bearerFormat="JWT",
    auto_error=False,
    description="An access token (RFC 9068) of an issuer of the deployment",
)
_key_scheme = APIKeyHeader(
    name=KEY_HEADER,
    scheme_name="ApiKey",
    auto_error=False,
    description="An API key of the deployment, for programs without a user",
)


class Access(Protocol):
    """Tells who calls, and counts the calls that do not say it well."""

    async def identify(self, given: Credentials) -> Caller:
        """The caller; CallRefused 401, 403 or 429, Unavailable ``access.unavailable``."""
        ...

    def count_failure(self, peer: str, forwarded: list[str]) -> float:
        """0.0, or the seconds until the address may fail again."""
        ...


class Callers:
    """The callers of a deployment, as the routes ask for them."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def may(self, action: str) -> Callable[..., Awaitable[Caller]]:
        """A dependency that gives the caller, or refuses: 401 unknown, 403 without the action."""

        # For the OpenAPI document, with the action as the role that is needed. The headers
        # themselves are read below, every value of them.
        token_documented = Security(_token_scheme, scopes=[action])
        key_documented = Security(_key_scheme, scopes=[action])

        async def known_caller(
            request: Request,
            _token: HTTPAuthorizationCredentials | None = token_documented,
            _key: str | None = key_documented,
        ) -> Caller:
            given = Credentials(
                request.headers.getlist(TOKEN_HEADER), request.headers.getlist(KEY_HEADER)
            )
            caller = await self._access.identify(given)
            _require(caller, action)
            return caller

        return known_caller

    def may_by_path(self, action: str) -> Callable[..., Awaitable[Caller]]:
        """The same by an API key in the path, for a program that can send no header."""

        async def known_caller(key: Annotated[str, Path(max_length=512)]) -> Caller:
            caller = await self._access.identify(Credentials([], [key]))
            _require(caller, action)
            return caller

        return known_caller


def _require(caller: Caller, action: str) -> None:
    if action not in caller.actions:
        raise refused(
            "access.denied",
            "the caller's policy does not hold this action",
            place=action,
            remedy="ask the deployer to add the action to this caller",
        )
    if action in OPERATORS_ALONE and not caller.operator:
        raise refused(
            "access.denied",
            "the action is for operators, and the caller is none",
            place=action,
            remedy="ask an operator",
        )
