"""Exports: proved offline, found to be cut or changed, and events that fit their schema."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from jsonschema import Draft202012Validator

from adapter.audit import ocsf
from adapter.audit.checkpoint import Checkpoint, Head, stated
from adapter.audit.export import (
    Included,
    Item,
    Scope,
    Sealed,
    first_line,
    item_line,
    last_line,
    prove_export,
)
from adapter.audit.merkle import path
from adapter.audit.proof import Fault, Proved
from adapter.audit.records import Record, record_hash
from adapter.crypto import PublicKeys, SigningKeys
from adapter.errors import Refused, Usage

KEYS = SigningKeys({1: bytes(range(32))}, 1, PublicKeys({}))
AT = datetime(2026, 12, 1, 3, 4, 5, 60, tzinfo=UTC)


def records(chain: str, count: int) -> list[Record]:
    """The beginning of a chain."""
    made: list[Record] = []
    for sequence in range(1, count + 1):
        previous = made[-1].hash if made else b""
        said = ("effect.refused", AT + timedelta(seconds=sequence), {"actor": "a1"}, {"n": 1})
        own = record_hash(chain, sequence, previous, *said)
        made.append(Record(chain, sequence, previous, own, *said))
    return made


def sealed(before: Checkpoint | None, *last: Record) -> Sealed:
    """A signed checkpoint over the chains of these records."""
    heads = [Head(one.chain, one.sequence, one.hash) for one in last]
    plain = stated("town", before, heads, AT, 1)
    return Sealed(replace(plain, signature=KEYS.sign(plain.statement)), heads)


ONE, TWO = records("one", 3), records("two", 2)
FIRST = sealed(None, ONE[0], TWO[1])
SECOND = sealed(FIRST.checkpoint, ONE[2])
TOWN = Scope("town")
WHOLE: list[Item] = [ONE[0], *TWO, FIRST, ONE[1], ONE[2], SECOND]


def lines(items: list[Item], scope: Scope = TOWN) -> list[str]:
    """An export of these items."""
    return [first_line(scope), *map(item_line, items), last_line(len(items))]


def prove(export: list[str], saved: Checkpoint | None = None) -> Proved:
    """Prove an export with the public keys alone."""
    return prove_export(export, PublicKeys.from_json(KEYS.public.to_json()), "town", saved)


def test_an_export_is_proved_with_the_public_keys_alone() -> None:
    found = prove(lines(WHOLE), SECOND.checkpoint)
    assert (found.records, found.chains, found.checkpoints, found.unsealed) == (5, 2, 2, 0)


def test_a_later_part_is_proved_from_its_base() -> None:
    scope = Scope("town", FIRST.checkpoint)
    assert prove(lines([ONE[1], ONE[2], SECOND], scope)).records == 2
    with pytest.raises(Fault):
        prove(lines([ONE[2], ONE[1], SECOND], scope))


def test_one_run_is_proved_with_the_way_to_each_checkpoint() -> None:
    way = path([head.leaf for head in FIRST.heads], 0)
    chain: list[Item] = [
        ONE[0],
        Included(FIRST.checkpoint, FIRST.heads[0], 0, way),
        ONE[1],
        ONE[2],
        Included(SECOND.checkpoint, SECOND.heads[0], 0, []),
    ]
    scope = Scope("town", run="one")
    assert prove(lines(chain, scope)).checkpoints == 2
    with pytest.raises(Fault):
        prove(lines(chain[:2] + chain[3:], scope))
    with pytest.raises(Usage):
        prove(lines(chain, scope), FIRST.checkpoint)


@pytest.mark.parametrize("gone", range(len(WHOLE)))
def test_no_item_can_be_left_out_before_the_last_checkpoint(gone: int) -> None:
    cut = WHOLE[:gone] + WHOLE[gone + 1 :]
    if gone < len(WHOLE) - 1:
        with pytest.raises(Fault):
            prove(lines(cut))
    with pytest.raises(Fault):
        prove(lines(cut), SECOND.checkpoint)


@pytest.mark.parametrize("line", range(1, len(WHOLE) + 1))
def test_no_digit_of_a_line_can_be_changed(line: int) -> None:
    changed = lines(WHOLE)
    members = json.loads(changed[line])
    part = members["checkpoint"] if members["type"] == "checkpoint" else members
    for name in ("hash", "previous", "root", "signature", "number", "sequence", "signedAt"):
        if value := part.get(name):
            part[name] = value + 1 if isinstance(value, int) else value.replace(value[-1], "7")
            if value != part[name]:
                with pytest.raises((Fault, Usage)):
                    prove([*changed[:line], json.dumps(members), *changed[line + 1 :]])
            part[name] = value


def test_a_file_that_ends_early_or_goes_on_is_found() -> None:
    whole = lines(WHOLE)
    for cut in (whole[:-1], whole[:-2] + whole[-1:], [*whole, whole[-1]]):
        with pytest.raises(Refused):
            prove(cut)
    for line in ("", "[]", "{}", '{"type":"record"}'):
        with pytest.raises(Usage):
            prove([whole[0], line, *whole[1:]] if line else [line])


def test_a_checkpoint_of_another_deployment_proves_nothing() -> None:
    with pytest.raises(Fault):
        prove_export(lines(WHOLE), KEYS.public, "village")


# What the framework wants of class 6003 and of the objects that we use, version 1.3.0.
_TEXT = {"type": "string", "minLength": 1}
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        *("activity_id", "actor", "api", "category_uid", "class_uid", "metadata", "severity_id"),
        *("src_endpoint", "time", "type_uid"),
    ],
    "properties": {
        "activity_id": {"enum": [0, 1, 2, 3, 4, 99]},
        "activity_name": _TEXT,
        "category_uid": {"const": 6},
        "category_name": {"const": "Application Activity"},
        "class_uid": {"const": 6003},
        "class_name": {"const": "API Activity"},
        "type_uid": {"enum": [600300, 600301, 600302, 600303, 600304, 600399]},
        "severity_id": {"enum": [0, 1, 2, 3, 4, 5, 6, 99]},
        "severity": _TEXT,
        "status_id": {"enum": [0, 1, 2, 99]},
        "status": {"enum": ["Unknown", "Success", "Failure"]},
        "time": {"type": "integer", "minimum": 1_000_000_000_000},
        "unmapped": {"type": "object"},
        "actor": {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {
                "app_name": _TEXT,
                "user": {"type": "object", "required": ["uid"], "properties": {"uid": _TEXT}},
            },
        },
        "api": {
            "type": "object",
            "additionalProperties": False,
            "required": ["operation"],
            "properties": {
                "operation": _TEXT,
                "service": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["name"],
                    "properties": {"name": _TEXT, "uid": _TEXT},
                },
            },
        },
        "src_endpoint": {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {"name": _TEXT, "svc_name": _TEXT},
        },
        "metadata": {
            "type": "object",
            "additionalProperties": False,
            "required": ["product", "version"],
            "properties": {
                "version": {"const": "1.3.0"},
                "product": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["vendor_name", "name"],
                    "properties": {"name": _TEXT, "vendor_name": _TEXT},
                },
                "uid": _TEXT,
                "sequence": {"type": "integer"},
                "event_code": _TEXT,
                "log_name": _TEXT,
                "log_provider": _TEXT,
            },
        },
        "resources": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"uid": _TEXT, "type": _TEXT},
            },
        },
    },
}
_KINDS = {
    "run.admitted": (600301, 1),
    "run.read": (600302, 1),
    "effect.refused": (600303, 2),
    "effect.unknown": (600303, 0),
    "run.erased": (600304, 1),
    "package.withdrawn": (600304, 1),
}


@pytest.mark.parametrize(("kind", "expected"), _KINDS.items())
def test_a_record_is_an_event_of_the_schema(kind: str, expected: tuple[int, int]) -> None:
    made = ocsf.event("town", replace(ONE[0], kind=kind))
    Draft202012Validator(_SCHEMA).validate(made)
    assert (made["type_uid"], made["status_id"]) == expected
    assert made["actor"] == {"user": {"uid": "a1"}}


def test_a_checkpoint_and_an_act_of_nobody_are_events_of_the_schema() -> None:
    for item in (FIRST, replace(ONE[0], chain="deployment", refs={})):
        made = ocsf.event("town", item)
        Draft202012Validator(_SCHEMA).validate(made)
        assert made["actor"] == {"app_name": "coordinator"}
