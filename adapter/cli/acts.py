"""What operators do about a run: retry-same, reconcile and cancel, each with a reason."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from adapter.cli.options import CredentialOption, FormatOption, RuntimeOption, UrlOption
from adapter.cli.runs import request_key, segment, show_status
from adapter.cli.service_client import ServiceClient
from adapter.cli.terminal import Format, Terminal
from adapter.errors import Refused, Usage

RunArgument = Annotated[str | None, typer.Argument(metavar="RUN", help="id of the run")]
RunOption = Annotated[str | None, typer.Option("--run", metavar="RUN", help="the same, named")]
ReasonOption = Annotated[
    str, typer.Option("--reason", help="why, in one line of at most 256 bytes; kept on record")
]
EffectOption = Annotated[
    str | None,
    typer.Option(
        "--effect", metavar="ID", help="the unknown effect, as inspect shows it; else the only one"
    ),
]
RequestOption = Annotated[
    str | None,
    typer.Option(
        "--request-id",
        metavar="ID",
        help="one id is one act, however often it is sent; a fresh one is made without it",
    ),
]


def retry_same(
    reason: ReasonOption,
    run: RunArgument = None,
    named_run: RunOption = None,
    effect: EffectOption = None,
    request_id: RequestOption = None,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Send the saved command of an unknown effect again, under the key of the first send."""
    client = ServiceClient.find(runtime, url, credential)
    body = {"reason": reason, "effect": effect}
    _act(client, Terminal(format), "retry-same", _chosen(run, named_run), body, request_id)


def reconcile(
    reason: ReasonOption,
    run: RunArgument = None,
    named_run: RunOption = None,
    effect: EffectOption = None,
    request_id: RequestOption = None,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Read the product's receipt for an unknown effect; nothing is sent."""
    client = ServiceClient.find(runtime, url, credential)
    body = {"reason": reason, "effect": effect}
    _act(client, Terminal(format), "reconcile", _chosen(run, named_run), body, request_id)


def cancel(
    reason: ReasonOption,
    run: RunArgument = None,
    named_run: RunOption = None,
    request_id: RequestOption = None,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Stop future calls of a run where that is possible; nothing accepted is undone."""
    client = ServiceClient.find(runtime, url, credential)
    body = {"reason": reason}
    _act(client, Terminal(format), "cancel", _chosen(run, named_run), body, request_id)


def _act(
    client: ServiceClient,
    terminal: Terminal,
    kind: str,
    run: str,
    body: dict[str, Any],
    request_id: str | None,
) -> None:
    used = request_key(request_id, "--request-id")
    found = client.post(f"/v1/runs/{run}/{kind}", body, {"Idempotency-Key": used})
    act = found["act"]
    if terminal.format is Format.JSON:
        terminal.object(found | {"requestId": used})
    else:
        terminal.facts(
            [
                ("act", act["id"]),
                ("request id", used),
                ("effect", act["effect"]),
                ("outcome", _outcome(act)),
            ]
        )
        terminal.line()
        show_status(terminal, found)
    if act["state"] == "refused":
        raise Refused(
            "act.refused",
            f"the act could not be carried out ({act['code']})",
            place=act["id"],
            remedy="look at the run with inspect",
        )


def _outcome(act: dict[str, Any]) -> str:
    if act["outcome"] is None:
        return "not known yet; repeat with the same request id, or inspect the run"
    return f"{act['outcome']} ({act['code']})" if act["code"] else str(act["outcome"])


def _chosen(argument: str | None, option: str | None) -> str:
    given = [run for run in (argument, option) if run is not None]
    if len(given) != 1:
        raise Usage(
            "run.id-invalid",
            "one run has to be named",
            place="RUN",
            remedy="give its id once, as RUN or with --run",
        )
    return segment(given[0])
