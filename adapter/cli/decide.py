"""The command `decide`: what a reviewer would do, at the pretend or the simulated casework."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from adapter.cli.casework_client import PretendCasework
from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.simulation_client import SimulationClient, simulation_of
from adapter.cli.terminal import Format, Terminal
from adapter.config.loading import load_runtime
from adapter.config.location import find_runtime
from adapter.errors import Refused, Usage

_CONNECTION = "reviews"
_PATH = "/casework"


class Decision(StrEnum):
    """What a reviewer may decide."""

    APPROVED = "approved"
    REJECTED = "rejected"


def decide(
    decision: Annotated[Decision, typer.Argument(help="approved or rejected")],
    review: Annotated[
        str | None,
        typer.Option("--review", metavar="ID", help="the review; the only pending one without it"),
    ] = None,
    comment: Annotated[str | None, typer.Option("--comment")] = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Decide a pending review of the development deployment."""
    terminal = Terminal(format)
    simulation = simulation_of(load_runtime(find_runtime(runtime)).document)
    if simulation is not None:
        _decide_simulated(SimulationClient(simulation), decision, review, comment, terminal)
        return
    desk = PretendCasework(_pretend_origin(runtime))
    decided = desk.decide(review or _only_pending(desk), decision.value, comment)
    if format is Format.JSON:
        terminal.object(decided)
    else:
        terminal.line(f"review {decided['reviewRequestId']} is {decision.value}")


def _decide_simulated(
    simulation: SimulationClient,
    decision: Decision,
    review: str | None,
    comment: str | None,
    terminal: Terminal,
) -> None:
    members = {"decision": decision.value} | ({} if comment is None else {"comment": comment})
    done = simulation.complete(name=review or "", members=members)
    if terminal.format is Format.JSON:
        terminal.object(done)
    else:
        terminal.line(f"review {done['id']} is {decision.value}")


def _only_pending(desk: PretendCasework) -> str:
    pending = desk.pending()
    if len(pending) == 1:
        return str(pending[0]["reviewRequestId"])
    ids = ", ".join(str(one["reviewRequestId"]) for one in pending[:5])
    raise Refused(
        "decide.no-single-review",
        f"{len(pending)} reviews are pending" + (f": {ids}" if ids else ""),
        place="--review",
        remedy="name one with --review" if pending else "start a run that asks for a review",
    )


def _pretend_origin(runtime: RuntimeOption) -> str:
    document = load_runtime(find_runtime(runtime)).document
    connection = document.connections.get(_CONNECTION)
    if (
        document.mode != "development"
        or connection is None
        or not connection.base_url.endswith(_PATH)
    ):
        raise Usage(
            "decide.not-development",
            "only the pretend casework of a development deployment is decided here",
            place="--runtime",
            remedy="decide real reviews in the product itself",
        )
    return connection.base_url.removesuffix(_PATH)
