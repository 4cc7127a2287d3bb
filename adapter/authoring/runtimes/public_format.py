"""The public ``runtime/v1alpha1`` format, which is read unmodified (contract 1.4)."""

from __future__ import annotations

import re

from activities.yaml.tree import Table
from adapter.authoring.formats.shape import Rule, Section
from adapter.authoring.runtimes.connections import Bound, ConnectionReader
from adapter.authoring.runtimes.deployment import read_deployment
from adapter.authoring.runtimes.substitution import Silence
from adapter.authoring.runtimes.values import ABSOLUTE_PATH, Values, refuse

_NAMESPACE = Rule(
    re.compile(r"coordinator_[a-z0-9_]{0,48}\Z"),
    "begin it with `coordinator_`, at most 60 of `a-z 0-9 _`",
)
_REFUSED = "runtime-config.refused"


def read_public_runtime(tree: Table, silence: Silence) -> dict[str, Bound]:
    """The connections of a file by name; every deviation goes to ``silence``.

    No secret is opened. ``tree`` is read after substitution.
    """
    root = Section(tree, silence, "the file")
    root.has("apiVersion")
    root.has("kind")
    values = Values()
    _providers(root, values)
    _database(root, values)
    root.text("namespace", _NAMESPACE)
    connections = ConnectionReader(values, silence)
    connections.read(root)
    deployment = root.section("deployment", "`deployment`", required=False)
    if deployment is not None:
        read_deployment(deployment, values)
        deployment.close()
    root.close()
    return connections.found


def _providers(root: Section, values: Values) -> None:
    inner = root.section("secretProviders", "`secretProviders`")
    if inner is None:
        return
    values.providers.file = inner.has("file")
    values.providers.environment = inner.has("environment")
    file = inner.section("file", "`file`", required=False)
    if file is not None:
        file.text("root", ABSOLUTE_PATH)
        file.close()
    environment = inner.section("environment", "`environment`", required=False)
    if environment is not None:
        environment.close()
    if not (values.providers.file or values.providers.environment):
        message = "no provider of secrets is enabled"
        refuse(root, _REFUSED, "secretProviders", message, "add `file` or `environment`")
    inner.close()


def _database(root: Section, values: Values) -> None:
    inner = root.section("database", "`database`")
    if inner is None:
        return
    values.secret(inner, "runtimeUrlRef")
    values.secret(inner, "migrationUrlRef")
    values.secret(inner, "trustedRootCertificateRef", required=False)
    inner.boolean("testOnlyPlaintext", required=False)
    inner.close()
