"""The codes of runtime files: what a deployment could not be built from."""

from __future__ import annotations

from activities.yaml.code import Code, Severity

RUNTIME_CODES = (
    Code(
        "coordinator.runtime-config.refused",
        "a runtime file contradicts itself about its secrets",
        "enable the provider that the reference names, or use another one",
    ),
    Code(
        "coordinator.runtime.workflow-binding",
        "a runtime file does not bind a connection as the workflow uses it",
        "add the connection with the product that the workflow declares",
    ),
    Code(
        "coordinator.adapter.configuration",
        "a connection to a product can not be used as it is written",
        "correct the address or the authorization",
    ),
    Code(
        "coordinator.external-http.configuration",
        "an external connection can not be used as it is written",
        "correct its address, paths or response schema",
    ),
    Code(
        "coordinator.decision.configuration",
        "a decision connection can not be used as it is written",
        "correct its address or authorization",
    ),
    Code(
        "coordinator.deployment.configuration",
        "the deployment can not be served as it is written",
        "correct the listener or the keys",
    ),
    Code(
        "coordinator.access.configuration",
        "callers and policies do not agree",
        "give every allowed client one policy with actions that it may have",
    ),
    Code(
        "config.substitution",
        "a substitution is not well formed, not allowed here, or its variable is not set",
        "write `${NAME}` in a value that may have one, and set the variable",
    ),
    Code(
        "config.substitution-unchecked",
        "what this part is depends on a variable, so it is not checked",
        "check with `--environment` where the variable is set",
        Severity.WARNING,
    ),
    Code(
        "config.secret-reference",
        "a secret stands in the file itself",
        "write secret:file/NAME or secret:env/NAME and keep the secret there",
    ),
    Code(
        "config.secret-root",
        "a file reference needs a folder of secrets",
        "name it under `secrets.fileRoot`",
    ),
    Code(
        "config.plain-http",
        "plain http is allowed on a numeric loopback address only",
        "use https",
    ),
    Code(
        "config.key-in-path",
        "an API key may stand in an address in mode development on loopback only",
        "remove `keyInPath`, and have Temporal's UI pass the access token",
    ),
    Code(
        "config.nobody-calls",
        "nobody may call the service: no issuer of tokens, and no API key that has not ended",
        "name an issuer of access tokens, or make a key with `coordinatorctl api-key NAME`",
        Severity.WARNING,
    ),
    Code(
        "config.operator-alone",
        "an action that is for operators alone stands in a policy of somebody else",
        "write `operator: true`, or remove the action",
    ),
    Code(
        "config.secret-provider",
        "a reference names a provider of secrets that is not configured",
        "add it under `secrets.providers`, or correct the reference",
    ),
    Code(
        "config.identity",
        "a connection's identity does not fit its product or where it leads",
        "give the connection an identity of its own",
    ),
    Code(
        "config.forbidden-address",
        "nobody lives at this address: metadata, link-local, multicast or none",
        "name the product's own address",
    ),
    Code(
        "config.file-absent",
        "a file that the runtime file names is not there",
        "correct the path; it is relative to the runtime file",
    ),
)
"""Every code that reading a runtime file can report besides those of its YAML and form."""
