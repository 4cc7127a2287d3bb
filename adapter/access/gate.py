"""Who is calling: an access token or an API key, told by the policies of a runtime file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from adapter.access.callers import API_KEYS, Caller, Owner, Scope
from adapter.access.key_sets import KeyLoader, KeySet
from adapter.access.refusals import REALM, CallRefused, unknown_caller
from adapter.access.tokens import Proof, Rules, TokenRefused, judge, take_apart
from adapter.config.callers import (
    EVERY_WORKFLOW,
    ApiKeyCaller,
    ApiKeyPart,
    Authentication,
    ClientPolicy,
    IssuerPart,
    Policy,
)

TOKEN_HEADER: Final = "Authorization"
KEY_HEADER: Final = "X-API-Key"
_LONGEST_KEY = 512
_REMEDY = "send one valid access token as a Bearer token, or one valid API key as X-API-Key"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request says about its sender: every value of the two headers."""

    authorization: Sequence[str]
    api_key: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Issuer:
    part: IssuerPart
    rules: Rules
    keys: KeySet


class Gate:
    """The callers of one version of the runtime file.

    Keys are compared by their SHA-256: what a comparison tells about a digest tells nothing about
    the key. ``former`` is the gate before a change; where an issuer stayed the same its keys are
    known already.
    """

    def __init__(
        self,
        policies: Authentication,
        loader: KeyLoader,
        former: Gate | None = None,
        *,
        now: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.policies = policies
        self._now = now
        known: dict[str, _Issuer] = {} if former is None else former._issuers
        self._issuers: dict[str, _Issuer] = {
            part.issuer: _issuer(name, part, loader, ticks, known.get(part.issuer))
            for name, part in policies.issuers.items()
        }
        self._api_keys: dict[str, tuple[str, ApiKeyCaller, ApiKeyPart]] = {
            key.hash: (name, caller, key)
            for name, caller in policies.api_keys.items()
            for key in caller.keys
        }

    @property
    def key_sets(self) -> list[KeySet]:
        """The keys of every issuer."""
        return [issuer.keys for issuer in self._issuers.values()]

    def expiring_keys(self, within: timedelta) -> int:
        """How many API keys end within a time, or have ended."""
        end = datetime.fromtimestamp(self._now(), UTC) + within
        return sum(key.expires <= end for _, _, key in self._api_keys.values())

    async def identify(self, given: Credentials) -> Caller:
        """The caller with these credentials.

        Raises CallRefused ``access.unauthenticated`` (401) or ``access.denied`` (403, a scope is
        missing), or Unavailable ``access.unavailable`` while an issuer's keys can not be had.
        """
        if len(given.authorization) + len(given.api_key) != 1:
            several = len(given.authorization) + len(given.api_key) > 1
            place = TOKEN_HEADER if given.authorization or not self._api_keys else KEY_HEADER
            message = "the request says more than once who calls" if several else ""
            raise self._unknown(message or "the request does not say who calls", place)
        if given.api_key:
            return self._keyed(given.api_key[0])
        scheme, _, token = given.authorization[0].partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise self._unknown("the Authorization header holds no Bearer token", TOKEN_HEADER)
        return await self._tokened(token.strip(" "))

    def _keyed(self, key: str) -> Caller:
        digest = f"sha256:{hashlib.sha256(key.encode('latin-1', 'replace')).hexdigest()}"
        found = self._api_keys.get(digest) if len(key) <= _LONGEST_KEY else None
        if found is None:
            raise self._unknown("the API key is none of this deployment", KEY_HEADER)
        name, policy, part = found
        if part.expires.timestamp() <= self._now():
            raise self._unknown("the API key has expired", KEY_HEADER)
        return _caller(Owner(API_KEYS, name), name, policy)

    async def _tokened(self, token: str) -> Caller:
        try:
            issuer, proof = await self._verified(token)
        except TokenRefused as error:
            raise self._unknown(
                f"the access token is refused: {error}", TOKEN_HEADER, error="invalid_token"
            ) from error
        policy = issuer.part.clients[proof.client]
        _require_scopes(policy, proof.scopes)
        owner = Owner(issuer.part.issuer, proof.subject)
        return _caller(owner, f"{issuer.keys.name}:{proof.subject}", policy)

    async def _verified(self, token: str) -> tuple[_Issuer, Proof]:
        stated = take_apart(token)
        name = stated.claims.get("iss")
        issuer = self._issuers.get(name) if isinstance(name, str) else None
        if issuer is None:
            raise TokenRefused("it is of an issuer that is not known here")
        if stated.algorithm not in issuer.rules.algorithms:
            raise TokenRefused("it is signed with an algorithm that is not allowed here")
        keys = await issuer.keys.candidates(stated.kid, stated.algorithm)
        if not any(key.verifies(stated.signed, stated.signature) for key in keys):
            raise TokenRefused("it is not signed with a key of its issuer")
        return issuer, judge(stated.claims, issuer.rules, self._now())

    def _unknown(self, message: str, place: str, error: str = "") -> CallRefused:
        return unknown_caller(message, place, _REMEDY, self._challenges(error))

    def _challenges(self, error: str) -> tuple[str, ...]:
        """One challenge for each way that is configured (RFC 9110 section 11.6.1, RFC 6750)."""
        bearer = f'Bearer realm="{REALM}"' + (f', error="{error}"' if error else "")
        ways = [bearer] if self._issuers or not self._api_keys else []
        return (*ways, f'ApiKey realm="{REALM}"') if self._api_keys else tuple(ways)


def _issuer(
    name: str,
    part: IssuerPart,
    loader: KeyLoader,
    ticks: Callable[[], float],
    former: _Issuer | None,
) -> _Issuer:
    rules = Rules(
        part.issuer,
        part.audience,
        frozenset(part.algorithms),
        part.scope_claim,
        part.longest_lifetime_seconds,
        frozenset(part.clients),
    )
    same = former is not None and former.keys.name == name and former.part.key_set == part.key_set
    keys = former.keys if former is not None and same else None
    return _Issuer(part, rules, keys or KeySet(name, partial(loader.load, name, part), ticks))


def _require_scopes(policy: ClientPolicy, scopes: frozenset[str]) -> None:
    if not scopes.issuperset(policy.required_scopes):
        wanted = " ".join(policy.required_scopes)
        challenge = f'Bearer realm="{REALM}", error="insufficient_scope", scope="{wanted}"'
        raise CallRefused(
            "access.denied",
            "the access token lacks a scope that this client needs",
            status=403,
            place=TOKEN_HEADER,
            remedy="ask the issuer for the scopes that the challenge names",
            headers=(("WWW-Authenticate", challenge),),
        )


def _caller(owner: Owner, actor: str, policy: Policy) -> Caller:
    every = EVERY_WORKFLOW in policy.workflows
    scope = Scope(
        owner=None if policy.operator else owner,
        workflows=None if every else frozenset(policy.workflows),
    )
    return Caller(owner, actor, scope, frozenset(policy.actions), policy.operator)
