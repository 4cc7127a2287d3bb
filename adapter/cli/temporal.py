"""The command `temporal`: Temporal's own CLI with this deployment's addresses filled in."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from adapter.cli.service_client import ServiceClient
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.embedded import temporal_program
from adapter.errors import AdapterError

_RUNTIME_FLAG = "--runtime"
_READING = frozenset({"describe", "list", "metadata", "result", "show", "stack", "trace"})
"""What shows payloads and sends none: the codec server seals nothing for this CLI."""


def temporal(context: typer.Context) -> None:
    """Hand every argument on to Temporal's CLI; `--runtime FILE` may stand first."""
    arguments = list(context.args)
    flag = None
    if len(arguments) >= 2 and arguments[0] == _RUNTIME_FLAG:
        flag, arguments = Path(arguments[1]), arguments[2:]
    program = temporal_program()
    runtime = load_runtime(find_runtime(flag))
    settings = _settings(runtime)
    own = "TEMPORAL_CODEC_ENDPOINT" in os.environ
    if runtime.document.codec and not own and _READING.intersection(arguments[:2]):
        settings |= _codec_settings(flag)
    # The CLI takes over this process: its output, signals and exit code are its own.
    os.execve(program, [str(program), *arguments], os.environ | settings)


def _codec_settings(runtime: Path | None) -> dict[str, str]:
    """The codec server, for who has an access token; anybody else sees payloads as they are."""
    try:
        service = ServiceClient.find(runtime, None, None)
        token = service.credential.headers().get("Authorization")
    except AdapterError:
        return {}
    if token is None:
        return {}
    return {"TEMPORAL_CODEC_ENDPOINT": f"{service.origin}/codec", "TEMPORAL_CODEC_AUTH": token}


def _settings(runtime: Runtime) -> dict[str, str]:
    """What Temporal's CLI reads from its environment."""
    wanted = runtime.document.temporal
    settings = {"TEMPORAL_ADDRESS": wanted.address, "TEMPORAL_NAMESPACE": wanted.namespace}
    if wanted.api_key_ref is not None:
        settings["TEMPORAL_API_KEY"] = runtime.secrets.secret(wanted.api_key_ref).reveal()
    if wanted.tls is None:
        return settings
    settings["TEMPORAL_TLS"] = "true"
    tls = wanted.tls
    if tls.server_name is not None:
        settings["TEMPORAL_TLS_SERVER_NAME"] = tls.server_name
    parts = {
        "TEMPORAL_TLS_SERVER_CA_CERT_DATA": tls.ca_ref,
        "TEMPORAL_TLS_CLIENT_CERT_DATA": tls.certificate_ref,
        "TEMPORAL_TLS_CLIENT_KEY_DATA": tls.key_ref,
    }
    return settings | {
        name: runtime.secrets.secret(reference).reveal()
        for name, reference in parts.items()
        if reference is not None
    }
