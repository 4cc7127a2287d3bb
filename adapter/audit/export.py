"""Exports of the journal as JSON lines: how they are written, read back and proved offline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from adapter.audit.checkpoint import Checkpoint, Head
from adapter.audit.proof import Proof, Proved
from adapter.audit.records import Record, canonical, instant
from adapter.config.json_text import strict_json
from adapter.crypto import PublicKeys
from adapter.errors import Refused, Usage
from interpreter.contract.values import JsonValue

FORMAT: Final = "coordinator-journal/v1"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A checkpoint with all its leaves; every record under them came before."""

    checkpoint: Checkpoint
    heads: Sequence[Head]


@dataclass(frozen=True, slots=True)
class Included:
    """A checkpoint with one of its leaves, and the way from there to the root."""

    checkpoint: Checkpoint
    head: Head
    index: int
    path: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Gap:
    """A checkpoint that is not there, where the records that it sealed would be."""

    number: int


Item = Record | Sealed | Included | Gap


@dataclass(frozen=True, slots=True)
class Scope:
    """What an export holds: the whole journal, what follows ``base``, or one run's chain."""

    deployment: str
    base: Checkpoint | None = None
    run: str | None = None


def first_line(scope: Scope) -> str:
    """What an export is of."""
    base = None if scope.base is None else scope.base.to_json()
    kind = {"type": "journal", "format": FORMAT, "deployment": scope.deployment}
    return _line({**kind, "base": base, "run": scope.run})


def last_line(items: int) -> str:
    """That an export is whole, with the number of lines between the first and this one."""
    return _line({"type": "end", "items": items})


def item_line(item: Item) -> str:
    """A record or a checkpoint."""
    if isinstance(item, Record):
        return _line({"type": "record", **record_json(item)})
    if isinstance(item, Gap):
        return _line({"type": "gap", "number": item.number})
    if isinstance(item, Sealed):
        heads: list[JsonValue] = [_head_json(head) for head in item.heads]
        return _line(
            {"type": "checkpoint", "checkpoint": item.checkpoint.to_json(), "heads": heads}
        )
    return _line(
        {
            "type": "inclusion",
            "checkpoint": item.checkpoint.to_json(),
            "head": _head_json(item.head),
            "leaf": item.index,
            "path": [sibling.hex() for sibling in item.path],
        }
    )


def record_json(record: Record) -> dict[str, JsonValue]:
    """A record with its hashes in hexadecimal."""
    return {
        "chain": record.chain,
        "sequence": record.sequence,
        "previous": record.previous.hex(),
        "hash": record.hash.hex(),
        "kind": record.kind,
        "recordedAt": instant(record.recorded_at),
        "refs": record.refs,
        "detail": record.detail,
    }


def prove_export(
    lines: Iterable[str], keys: PublicKeys, deployment: str, saved: Checkpoint | None = None
) -> Proved:
    """Prove an export with nothing but the public keys.

    Raises Fault, Refused ``audit.export-truncated`` for a file that ends early, and Usage
    ``audit.export-unreadable`` or ``audit.export-partial`` (a run's export holds too little to be
    compared with a saved checkpoint).
    """
    rest = _members(lines)
    first = next(rest, None)
    if first is None or first.get("type") != "journal" or first.get("format") != FORMAT:
        raise _unreadable(1)
    if first.get("run") is not None and saved is not None:
        raise Usage(
            "audit.export-partial",
            "the export holds one run, so it can not be compared with a saved checkpoint",
            place="--checkpoint",
            remedy="export the whole journal, or leave the checkpoint out",
        )
    try:
        base = None if first["base"] is None else Checkpoint.from_json(first["base"])
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(1) from error
    proof = Proof(deployment, keys, base=base, saved=saved)
    for number, members in enumerate(rest):
        if members.get("type") == "end":
            if members.get("items") != number or next(rest, None) is not None:
                raise _truncated()
            return proof.end()
        try:
            item = _item(members)
        except (KeyError, TypeError, ValueError) as error:
            raise _unreadable(number + 2) from error
        feed(proof, item)
    raise _truncated()


def feed(proof: Proof, item: Item) -> None:
    """Give a proof its next record or checkpoint."""
    if isinstance(item, Record):
        proof.record(item)
    elif isinstance(item, Sealed):
        proof.checkpoint(item.checkpoint, item.heads)
    elif isinstance(item, Gap):
        proof.gap(item.number)
    else:
        proof.inclusion(item.checkpoint, item.head, item.index, item.path)


def _item(members: dict[str, Any]) -> Item:
    kind = members["type"]
    if kind == "record":
        return Record(
            str(members["chain"]),
            int(members["sequence"]),
            bytes.fromhex(members["previous"]),
            bytes.fromhex(members["hash"]),
            str(members["kind"]),
            datetime.fromisoformat(members["recordedAt"]),
            members["refs"],
            members["detail"],
        )
    if kind == "gap":
        return Gap(int(members["number"]))
    checkpoint = Checkpoint.from_json(members["checkpoint"])
    if kind == "checkpoint":
        return Sealed(checkpoint, [_head(head) for head in members["heads"]])
    if kind != "inclusion":
        raise ValueError("another kind of line")
    siblings = [bytes.fromhex(sibling) for sibling in members["path"]]
    return Included(checkpoint, _head(members["head"]), int(members["leaf"]), siblings)


def _head(members: Any) -> Head:
    chain, sequence, head = members
    return Head(str(chain), int(sequence), bytes.fromhex(head))


def _head_json(head: Head) -> list[JsonValue]:
    return [head.chain, head.sequence, head.head.hex()]


def _members(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        try:
            members = strict_json(line.encode())
        except ValueError as error:
            raise _unreadable(number) from error
        if not isinstance(members, dict):
            raise _unreadable(number)
        yield members


def _line(members: dict[str, JsonValue]) -> str:
    return canonical(members).decode()


def _unreadable(number: int) -> Usage:
    return Usage(
        "audit.export-unreadable",
        "this is no line of an export of the journal",
        place=f"line {number}",
        remedy="give a file that `coordinatorctl audit export` has written as jsonl",
    )


def _truncated() -> Refused:
    return Refused(
        "audit.export-truncated",
        "the export does not end as it should: lines are missing or were added",
        place="--file",
        remedy="export again, and keep the file whole",
    )
