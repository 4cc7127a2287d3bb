"""The commands `audit …`: proving, exporting and showing the journal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from adapter.audit import ocsf
from adapter.audit.checkpoint import Checkpoint
from adapter.audit.export import (
    Gap,
    Included,
    Item,
    Scope,
    first_line,
    item_line,
    last_line,
    prove_export,
)
from adapter.audit.proof import Proof, Proved
from adapter.audit.records import Record, instant
from adapter.cli.loops import run_to_end
from adapter.cli.options import FormatOption, RuntimeOption, instant_of
from adapter.cli.terminal import Format, Terminal
from adapter.config.files import read_named_file
from adapter.config.json_text import strict_json
from adapter.config.loading import Runtime, load_runtime
from adapter.config.location import find_runtime
from adapter.crypto import PublicKeys
from adapter.errors import Refused, Usage
from adapter.ledger import Ledger
from adapter.ledger.journal import DEPLOYMENT_CHAIN
from adapter.wiring.deployment import open_ledger, signing_keys

_KEYS_FORMAT: Final = "coordinator-journal-keys/v1"
_LARGEST_FILE: Final = 1_048_576
_ACTOR: Final = "coordinatorctl"
_WHOLE_CHARACTERS: Final = 48
"""Ids of runs and names of operations are shown whole, digests and references are not."""

KeysOption = Annotated[
    Path | None,
    typer.Option("--keys", metavar="FILE", help="public keys; else those of the runtime file"),
]


class ExportFormat(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    OCSF = "ocsf"


def verify(
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="EXPORT", help="an export, instead of the ledger"),
    ] = None,
    keys: KeysOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE", help="an earlier checkpoint, kept elsewhere"),
    ] = None,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Prove the journal, or an export of it; the first bad record is named, and ends it with 1."""
    saved = None if checkpoint is None else _saved(checkpoint)
    named = None if keys is None else _read_keys(keys)
    if file is None:
        loaded = load_runtime(find_runtime(runtime))
        proved = run_to_end(_prove_ledger(loaded, named, saved))
    else:
        deployment, public = named or _own_keys(load_runtime(find_runtime(runtime)))
        try:
            with file.open(encoding="utf-8") as lines:
                proved = prove_export(lines, public, deployment, saved)
        except (OSError, UnicodeDecodeError) as error:
            raise Usage(
                "audit.export-unreadable",
                "the export can not be read",
                place=str(file),
                remedy="give a file that `coordinatorctl audit export` has written",
            ) from error
    _show_proved(Terminal(format), proved)


def export(
    format: Annotated[
        ExportFormat, typer.Option("--format", help="jsonl to be proved, ocsf for other tools")
    ] = ExportFormat.JSONL,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="RFC3339", help="what was sealed after this instant"),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="the records of one run")
    ] = None,
    runtime: RuntimeOption = None,
) -> None:
    """Write the journal as lines of JSON, in the order of its proof, with its checkpoints."""
    if since is not None and run is not None:
        raise Usage(
            "usage.invalid",
            "a run is exported whole",
            place="--since",
            remedy="leave --since or --run out",
        )
    begin = None if since is None else instant_of(since, "--since")
    loaded = load_runtime(find_runtime(runtime))
    run_to_end(_export(loaded, Terminal(), format, begin, run))


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="id of the run, or `deployment`")],
    reasons: Annotated[
        bool, typer.Option("--reasons", help="also the texts that operators gave; itself on record")
    ] = False,
    runtime: RuntimeOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show the records of a run, or of the deployment's own chain."""
    loaded = load_runtime(find_runtime(runtime))
    run_to_end(_show(loaded, Terminal(format), run, reasons))


def checkpoint(runtime: RuntimeOption = None) -> None:
    """Print the last signed checkpoint; kept elsewhere, it shows if the journal is ever cut."""
    loaded = load_runtime(find_runtime(runtime))
    found = run_to_end(_latest(loaded))
    if found is None:
        raise Refused(
            "audit.unsigned",
            "no checkpoint was signed yet",
            place="journal",
            remedy="let a worker or the service run with audit.signingKey",
        )
    Terminal().object(found.to_json())


def keys(runtime: RuntimeOption = None) -> None:
    """Print the public keys of the runtime file, for `audit verify --keys` elsewhere."""
    deployment, public = _own_keys(load_runtime(find_runtime(runtime)))
    made = {"format": _KEYS_FORMAT, "deployment": deployment, "keys": public.to_json()}
    Terminal().object(made)


async def _prove_ledger(
    runtime: Runtime, named: tuple[str, PublicKeys] | None, saved: Checkpoint | None
) -> Proved:
    _, public = named or _own_keys(runtime)
    async with _ledger(runtime) as ledger, ledger.journal.reading() as reading:
        return await reading.prove(Proof(runtime.document.deployment, public, saved=saved))


async def _export(
    runtime: Runtime,
    terminal: Terminal,
    format: ExportFormat,
    since: datetime | None,
    run: str | None,
) -> None:
    deployment, count = runtime.document.deployment, 0
    async with _ledger(runtime) as ledger, ledger.journal.reading() as reading:
        base = None if since is None else await reading.base(since)
        items = reading.items(base.number if base else 0) if run is None else reading.chain(run)
        first = await anext(items, None)
        if first is None and run is not None:
            raise _chain_unknown(run)
        items = _all_of(first, items)
        if format is ExportFormat.OCSF:
            async for item in items:
                if not isinstance(item, Gap):
                    event = json.dumps(ocsf.event(deployment, item), ensure_ascii=False)
                    terminal.line(event)
            return
        terminal.line(first_line(Scope(deployment, base, run)))
        async for item in items:
            count += 1
            terminal.line(item_line(item))
        terminal.line(last_line(count))


async def _all_of(first: Item | None, others: AsyncIterator[Item]) -> AsyncIterator[Item]:
    if first is not None:
        yield first
    async for item in others:
        yield item


def _chain_unknown(run: str) -> Refused:
    return Refused(
        "audit.chain-unknown",
        "the journal has no such chain",
        place=run[:64],
        remedy="give the id of a run, or `deployment`",
        status=404,
    )


async def _show(runtime: Runtime, terminal: Terminal, run: str, reasons: bool) -> None:
    async with _ledger(runtime) as ledger:
        records, sealed = await _chain(ledger, run)
        texts = await _texts(ledger, run, records) if reasons else {}
    if not records:
        raise _chain_unknown(run)
    rows = [_row(record, sealed.get(record.sequence), texts) for record in records]
    if terminal.format is Format.JSON:
        terminal.object({"chain": run, "records": rows})
        return
    columns = ["#", "recorded", "what", "refs", "detail", "checkpoint"]
    columns += ["reason"] if texts else []
    terminal.table(columns, [tuple(map(_text, row.values())) for row in rows])


async def _chain(ledger: Ledger, run: str) -> tuple[list[Record], dict[int, int]]:
    """The records of a chain, and by sequence the checkpoint that has sealed each."""
    records: list[Record] = []
    sealed: dict[int, int] = {}
    async with ledger.journal.reading() as reading:
        async for item in reading.chain(run):
            if isinstance(item, Record):
                records.append(item)
            elif isinstance(item, Included):
                fresh = [one.sequence for one in records if one.sequence not in sealed]
                sealed |= dict.fromkeys(fresh, item.checkpoint.number)
    return records, sealed


async def _texts(ledger: Ledger, run: str, records: Sequence[Record]) -> dict[str, str]:
    """The texts behind the references of these records, by reference; written down first."""
    references = {str(value) for one in records for value in _refs(one).values()}
    about = None if run == DEPLOYMENT_CHAIN else run
    await ledger.audit.note("reasons.read", {"actor": _ACTOR}, run_id=about)
    found = await ledger.reasons.texts(references)
    acts = [] if about is None else await ledger.acts.of_run(run)
    for text in map(ledger.acts.reason, acts):
        found[ledger.keyed.reference("reason", text)] = text
    return found


def _refs(record: Record) -> dict[str, Any]:
    return record.refs if isinstance(record.refs, dict) else {}


async def _latest(runtime: Runtime) -> Checkpoint | None:
    async with _ledger(runtime) as ledger:
        return await ledger.journal.latest()


@asynccontextmanager
async def _ledger(runtime: Runtime) -> AsyncIterator[Ledger]:
    async with open_ledger(runtime, pool_size=2, recovery_only=True) as ledger:
        yield ledger


def _own_keys(runtime: Runtime) -> tuple[str, PublicKeys]:
    own = signing_keys(runtime)
    if own is None:
        raise Usage(
            "audit.keys-absent",
            "the runtime file names no key that signs the journal",
            place="/audit",
            remedy="name it under audit.signingKey, or give public keys with --keys",
        )
    return runtime.document.deployment, own.public


def _read_keys(file: Path) -> tuple[str, PublicKeys]:
    members = _read(file)
    try:
        if members["format"] != _KEYS_FORMAT:
            raise ValueError("another format")
        return str(members["deployment"]), PublicKeys.from_json(members["keys"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unusable(file, "audit keys") from error


def _saved(file: Path) -> Checkpoint:
    try:
        return Checkpoint.from_json(_read(file))
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable(file, "audit checkpoint") from error


def _read(file: Path) -> dict[str, Any]:
    data = read_named_file(file, _LARGEST_FILE, code="audit.file-unreadable", what="file")
    members = strict_json(data)
    if not isinstance(members, dict):
        raise TypeError("no object")
    return members


def _unusable(file: Path, command: str) -> Usage:
    return Usage(
        "audit.file-unreadable",
        "the file does not hold what is wanted",
        place=str(file),
        remedy=f"give what `coordinatorctl {command}` has printed",
    )


def _row(record: Record, checkpoint: int | None, texts: Mapping[str, str]) -> dict[str, Any]:
    given = [texts[reference] for reference in _refs(record).values() if reference in texts]
    row = {
        "sequence": record.sequence,
        "recordedAt": instant(record.recorded_at),
        "kind": record.kind,
        "refs": record.refs,
        "detail": record.detail,
        "checkpoint": checkpoint,
    }
    return row | {"reason": next(iter(given), None)} if texts else row


def _text(value: Any) -> Any:
    """A cell: digests and references are cut to what tells them apart, and show that they are."""
    if not isinstance(value, dict):
        return value
    return " ".join(f"{name}={_short(str(member))}" for name, member in sorted(value.items()))


def _short(text: str) -> str:
    return text if len(text) <= _WHOLE_CHARACTERS else f"{text[:17]}…"


def _show_proved(terminal: Terminal, proved: Proved) -> None:
    last = proved.last
    report = {
        "records": proved.records,
        "chains": proved.chains,
        "checkpoints": proved.checkpoints,
        "lastCheckpoint": None if last is None else last.number,
        "signedAt": None if last is None else instant(last.signed_at),
        "unsealedRecords": proved.unsealed,
        "unsealedSince": None if proved.since is None else instant(proved.since),
    }
    if terminal.format is Format.JSON:
        terminal.object(report)
        return
    terminal.facts(
        [
            ("records", proved.records),
            ("chains", proved.chains),
            ("checkpoints", proved.checkpoints),
            ("last", None if last is None else f"{last.number}, {report['signedAt']}"),
            ("not sealed yet", proved.unsealed or None),
            ("since", report["unsealedSince"]),
        ]
    )
    terminal.line("proved")
