"""The command `decide`: what a reviewer would do, at the pretend or the simulated casework."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from adapter.cli.casework_client import PretendCasework
from adapter.cli.options import FormatOption, RuntimeOption
from adapter.cli.runs import segment
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
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="RUN", help="the run that asked for the review"),
    ] = None,
    comment: Annotated[str | None, typer.Option("--comment")] = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Decide a pending review of the development deployment."""
    terminal = Terminal(format)
    simulation = simulation_of(load_runtime(find_runtime(runtime)).document)
    if simulation is not None:
        if run is not None:
            raise Usage(
                "usage.invalid",
                "simulated products do not know which run a call belongs to",
                place="--run",
                remedy="name the result with --review, or leave both out for the only one",
            )
        _decide_simulated(SimulationClient(simulation), decision, review, comment, terminal)
        return
    desk = PretendCasework(_pretend_origin(runtime))
    decided = desk.decide(review or _only_pending(desk, run), decision.value, comment)
    if format is Format.JSON:
        terminal.object(decided)
    else:
        terminal.line(f"review {_with_run(decided)} is {decision.value}")


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


def _only_pending(desk: PretendCasework, run: str | None) -> str:
    pending = [one for one in desk.pending() if run is None or one["correlationId"] == segment(run)]
    if len(pending) == 1:
        return str(pending[0]["reviewRequestId"])
    named = ", ".join(_with_run(one) for one in pending[:5])
    raise Refused(
        "decide.no-single-review",
        f"{len(pending)} reviews are pending" + (f": {named}" if named else ""),
        place="--review" if run is None else "--run",
        remedy="name one with --review" if pending else "start a run that asks for a review",
    )


def _with_run(review: dict[str, Any]) -> str:
    """A review and the run that asked for it, which is what its correlation id says."""
    return f"{review['reviewRequestId']} (run {review['correlationId']})"


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
