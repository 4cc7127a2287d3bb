"""Rules about who may call that need more than one key of a runtime file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from adapter.config.callers import OPERATORS_ALONE, KeysAt, Policy
from adapter.config.document import RuntimeDocument
from adapter.config.findings import Finding, pointer
from adapter.config.outgoing import outgoing_document

_Location = list[str | int]


def caller_rules(document: RuntimeDocument) -> Iterator[Finding]:
    """Every broken rule of the part `authentication`."""
    yield from _operators(document)
    yield from _one_of_each(document)
    yield from _addresses(document)


def nobody_calls(document: RuntimeDocument, now: datetime) -> Finding | None:
    """Told, and not refused: who takes the last caller out of a running deployment means it.

    For a development deployment it is no news: it has no caller until it is given one.
    """
    part = document.authentication
    ends = [key.expires for caller in part.api_keys.values() for key in caller.keys]
    if document.mode == "development" or part.issuers or any(end > now for end in ends):
        return None
    return Finding(
        "config.nobody-calls",
        pointer(["authentication"]),
        "every API key has ended, and there is no issuer: nobody may call the service"
        if ends
        else "there is neither an issuer nor an API key: nobody may call the service",
        "name an issuer of access tokens, or an API key that coordinatorctl api-key makes",
    )


def _policies(document: RuntimeDocument) -> Iterator[tuple[_Location, Policy]]:
    """Every policy with the place where it stands."""
    part = document.authentication
    for name, issuer in part.issuers.items():
        for client, policy in issuer.clients.items():
            yield ["authentication", "issuers", name, "clients", client], policy
    for name, caller in part.api_keys.items():
        yield ["authentication", "apiKeys", name], caller


def _operators(document: RuntimeDocument) -> Iterator[Finding]:
    for place, policy in _policies(document):
        for index, action in enumerate(policy.actions):
            if action in OPERATORS_ALONE and not policy.operator:
                yield Finding(
                    "config.operator-alone",
                    pointer([*place, "actions", index]),
                    "the action is for operators, and the policy is of none",
                    "write operator: true, or remove the action",
                )


def _one_of_each(document: RuntimeDocument) -> Iterator[Finding]:
    """No two callers with one key, and no issuer twice: either would be one of two at random."""
    part = document.authentication
    places: list[tuple[_Location, str, str]] = [
        (["authentication", "issuers", name, "issuer"], issuer.issuer, "name every issuer once")
        for name, issuer in part.issuers.items()
    ]
    places += [
        (["authentication", "apiKeys", name, "keys", index, "hash"], key.hash, "make a new key")
        for name, caller in part.api_keys.items()
        for index, key in enumerate(caller.keys)
    ]
    seen: set[str] = set()
    for place, value, remedy in places:
        if value in seen:
            message = "an earlier entry has the same one"
            yield Finding("config.duplicate-item", pointer(place), message, remedy)
        seen.add(value)


def _addresses(document: RuntimeDocument) -> Iterator[Finding]:
    for name, issuer in document.authentication.issuers.items():
        place = ["authentication", "issuers", name]
        yield from outgoing_document(issuer.issuer, [*place, "issuer"])
        if isinstance(issuer.key_set, KeysAt):
            yield from outgoing_document(issuer.key_set.uri, [*place, "keySet", "uri"])
