"""Commands about the whole deployment: the doctor, the holds after a restore, and retention."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from adapter.cli.options import (
    CredentialOption,
    FormatOption,
    RuntimeOption,
    UrlOption,
    instant_of,
)
from adapter.cli.service_client import ServiceClient
from adapter.cli.terminal import Format, Terminal

_NEEDS_A_PERSON = 1

ReasonOption = Annotated[str, typer.Option("--reason", help="why; kept as a keyed hash")]
ReferenceOption = Annotated[
    str, typer.Option("--recovery-reference", help="where the evidence is; kept as a keyed hash")
]
FencedOption = Annotated[
    bool,
    typer.Option(
        "--prior-deployment-fenced", help="nothing of the deployment before can send any more"
    ),
]


def doctor(
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what needs a person; ends with 1 when something does."""
    found = ServiceClient.find(runtime, url, credential).get("/v1/doctor")
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(found)
    else:
        _show_doctor(terminal, found)
    if not found["healthy"]:
        raise typer.Exit(_NEEDS_A_PERSON)


def restore_hold(
    reason: ReasonOption,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Stop dispatch and admission, and put every unfinished run under review."""
    client = ServiceClient.find(runtime, url, credential)
    _show_hold(Terminal(format), client.post("/v1/restore-hold", {"reason": reason}))


def complete_recovery(
    recovery_reference: ReferenceOption,
    history_complete: Annotated[
        bool,
        typer.Option(
            "--execution-history-complete",
            help="the executions in Temporal were compared with what the products hold",
        ),
    ] = False,
    fenced: FencedOption = False,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Review every run under the restore hold; nothing goes on before it is released."""
    body = {
        "recoveryReference": recovery_reference,
        "executionHistoryComplete": history_complete,
        "priorDeploymentFenced": fenced,
    }
    client = ServiceClient.find(runtime, url, credential)
    done = client.post("/v1/complete-execution-recovery", body)
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(done)
        return
    terminal.facts(
        [("cleared", done["cleared"]), ("ended", done["ended"]), ("remaining", done["remaining"])]
    )


def release_restore_hold(
    reason: ReasonOption,
    leave_unknown: Annotated[
        bool,
        typer.Option("--leave-unknown", help="leave unknown effects in attention, to be settled"),
    ] = False,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Let dispatches go on; admissions stay closed."""
    client = ServiceClient.find(runtime, url, credential)
    body = {"reason": reason, "leaveUnknown": leave_unknown}
    _show_hold(Terminal(format), client.post("/v1/release-restore-hold", body))


def release_admission_hold(
    recovery_reference: ReferenceOption,
    history_complete: Annotated[
        bool,
        typer.Option(
            "--admission-history-complete",
            help="callers were told to repeat what was admitted after the backup",
        ),
    ] = False,
    fenced: FencedOption = False,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Let new runs in, once the restore hold is released."""
    body = {
        "recoveryReference": recovery_reference,
        "admissionHistoryComplete": history_complete,
        "priorDeploymentFenced": fenced,
    }
    client = ServiceClient.find(runtime, url, credential)
    _show_hold(Terminal(format), client.post("/v1/release-admission-hold", body))


def retain(
    before: Annotated[
        str, typer.Option("--before", metavar="RFC3339", help="runs that ended before this instant")
    ],
    limit: Annotated[int, typer.Option("--limit", min=1, max=100)] = 100,
    runtime: RuntimeOption = None,
    url: UrlOption = None,
    credential: CredentialOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Erase the payloads of runs that are over and can not change any more."""
    wanted = instant_of(before, "--before").isoformat()
    client = ServiceClient.find(runtime, url, credential)
    done = client.post("/v1/retention", {"before": wanted, "limit": limit})
    terminal = Terminal(format)
    if format is Format.JSON:
        terminal.object(done)
    else:
        terminal.facts([("erased", done["erased"])])


def _show_hold(terminal: Terminal, hold: dict[str, Any]) -> None:
    if terminal.format is Format.JSON:
        terminal.object(hold)
        return
    terminal.facts(
        [
            ("restore hold", "on" if hold["restoreHold"] else "off"),
            ("admission hold", "on" if hold["admissionsHold"] else "off"),
            ("because of", hold["code"]),
            ("since", hold["heldAt"]),
            ("under review", hold["runsUnderReview"]),
        ]
    )


def _show_doctor(terminal: Terminal, found: dict[str, Any]) -> None:
    states = ", ".join(f"{state} {count}" for state, count in sorted(found["states"].items()))
    terminal.facts(
        [
            ("deployment", found["deployment"]),
            ("runs", states or "none"),
            ("unknown effects", found["unknownEffects"]),
            ("pending starts", found["pendingStarts"]),
            ("open acts", _with_oldest(found["openActs"], found["oldestActAt"])),
            ("open signals", _with_oldest(found["openSignals"], found["oldestSignalAt"])),
            ("open hints", _with_oldest(found["openHints"], found["oldestHintAt"])),
            ("oldest due", found["oldestDueAt"]),
            ("last pass", _seconds(found["lastPassAgeSeconds"])),
            ("Temporal keeps", _seconds(found["namespaceRetentionSeconds"], "")),
            ("not erased", found["unerasedRuns"]),
        ]
    )
    terminal.line()
    if found["healthy"]:
        terminal.line("nothing needs a person")
        return
    rows = [(f["code"], f["count"], f["since"], f["remedy"]) for f in found["findings"]]
    terminal.table(("finding", "count", "since", "remedy"), rows, "Needs a person")


def _with_oldest(count: int, at: str | None) -> str:
    return f"{count}, the oldest since {at}" if at else str(count)


def _seconds(value: int | None, then: str = " ago") -> str | None:
    return None if value is None else f"{value} s{then}"
