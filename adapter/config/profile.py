"""A client's profile: where its service and its issuer are, and how it proves who it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from activities.yaml import Problems, Table, read_yaml
from adapter.config.callers import ClientId, ScopeToken
from adapter.config.files import read_named_file
from adapter.config.findings import ConfigurationError, Finding, findings_of
from adapter.config.secrets import SecretStore
from adapter.config.words import Part, SecretReference, Text, WebAddress

LARGEST_PROFILE_BYTES = 65_536


class ClientPart(Part):
    """A client of an issuer that proves itself with a signed assertion (RFC 7523).

    ``signingKeyRef`` is a private JWK; ``assertionAudience`` is the token endpoint by default.
    """

    token_endpoint: WebAddress
    client_id: ClientId
    signing_key_ref: SecretReference
    scopes: Annotated[list[ScopeToken], Field(min_length=1, max_length=64)]
    resource: Text | None = None
    assertion_audience: Text | None = None


class ProfileDocument(Part):
    """The whole of a profile; ``fileRoot`` is relative to its file."""

    url: WebAddress | None = None
    file_root: str = "."
    client: ClientPart


@dataclass(frozen=True, slots=True)
class Profile:
    """A checked profile and the way to its signing key."""

    path: Path
    document: ProfileDocument
    secrets: SecretStore


def load_profile(path: Path, environment: Mapping[str, str] = os.environ) -> Profile:
    """Read and check a profile; no secret is opened.

    Raises Usage ``credential.unreadable`` or ConfigurationError with every finding.
    """
    data = read_named_file(path, LARGEST_PROFILE_BYTES, code="credential.unreadable", what="file")
    problems = Problems()
    tree, _ = read_yaml(data, path.name, problems)
    found = [
        Finding(one.code, one.spot.pointer, one.message, one.remedy, one.spot.line)
        for one in problems.found
    ]
    if not isinstance(tree, Table) and not found:
        message, remedy = "a profile is a mapping", "see docs/cli.md for its keys"
        found.append(Finding("config.missing-envelope", "", message, remedy))
    if tree is None or found:
        raise ConfigurationError(str(path), found)
    try:
        document = ProfileDocument.model_validate(tree.to_json())
    except ValidationError as error:
        raise ConfigurationError(str(path), findings_of(error, frozenset())) from error
    folder = path.absolute().parent
    return Profile(path, document, SecretStore(folder / document.file_root, environment))
