"""One value for a schema: made keyword by keyword, judged by the validator, tried again if not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from adapter.authoring.samples import merging, texts
from adapter.authoring.samples.choices import Choices, Seeded
from adapter.authoring.samples.merging import (
    CONTAINS,
    NOTS,
    TYPES,
    Contradiction,
    Schema,
    canonical,
    intersection,
)
from interpreter.contract.schemas import validator
from interpreter.contract.values import JsonValue
from interpreter.errors import CoordinatorError

MOST_TRIES = 64
_DEEP = 6
_DEEPEST = 40
_LOCAL_TRIES = 4
_MOST_LOCAL_TRIES = 200
_MOST_ITEMS = 64
ABSENT: Any = object()

_KEYWORDS_OF_TYPE = {
    "object": (
        *("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
        *("patternProperties", "propertyNames", "dependentRequired", "dependentSchemas"),
    ),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", CONTAINS),
    "string": ("minLength", "maxLength", merging.PATTERNS, merging.FORMATS),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


class NoSample(CoordinatorError):
    """No value was found: nothing fits the schema, or only what can not be aimed at."""

    def __init__(self) -> None:
        super().__init__(
            "sample.none",
            "no value could be made up for the schema",
            remedy="give a value of your own",
        )


def generate(
    schema: JsonValue, seed: str, example: JsonValue = ABSENT, *, optional: bool = True
) -> JsonValue:
    """A value that fits ``schema`` (draft 2020-12, references inside it only); NoSample if none.

    The same arguments give the same value. Optional members are filled in where they fit, or only
    where ``example`` has them. Where the schema leaves a value open, that of ``example`` at the
    same place is taken.
    """
    compiled = validator(schema)
    for attempt in range(MOST_TRIES):
        # An example that does not fit its schema must not stand in the way of a value that does.
        followed = example if attempt < MOST_TRIES // 2 else ABSENT
        drawn = Seeded(f"{seed}\n{attempt}")
        maker = Maker(schema, drawn, Extent(attempt, optional), drawn)
        try:
            value = maker.value(schema, "", 0, followed)
        except (Contradiction, RecursionError):
            continue
        if compiled.is_valid(value):
            return value
    raise NoSample


class Extent:
    """How much of what is optional one try writes: everything, nothing, or what falls."""

    def __init__(self, attempt: int, optional: bool) -> None:
        self._attempt = attempt
        self._optional = optional

    def wants(self, choices: Choices, depth: int) -> bool:
        if depth > _DEEP or self._attempt % 4 == 1 or not (self._optional or self._attempt > 8):
            return False
        return self._attempt % 4 == 0 or choices.among(2) == 1


class Maker:
    """Makes one value of a schema; Contradiction if its choices lead nowhere.

    ``choices`` are between parts of the schema, ``words`` what its texts and numbers are made of.
    """

    def __init__(self, root: JsonValue, choices: Choices, extent: Extent, words: Choices) -> None:
        self._root = root
        self._choices = choices
        self._words = words
        self._extent = extent
        self._spare = _MOST_LOCAL_TRIES

    def value(self, schema: JsonValue, name: str, depth: int, example: JsonValue) -> JsonValue:
        """A value for a raw schema; ``name`` is the member that it stands under."""
        for _ in range(_LOCAL_TRIES):
            try:
                return self._value(schema, name, depth, example)
            except Contradiction:
                # Other choices may do; but what is deep inside must not be tried without end.
                self._spare -= 1
                if self._spare <= 0:
                    raise
        raise Contradiction

    def _value(self, schema: JsonValue, name: str, depth: int, example: JsonValue) -> JsonValue:
        flat = self._laid({}, schema, depth)
        if "enum" in flat:
            values = [one for one in flat["enum"] if _type_fits(flat, one)]
            if not values:
                raise Contradiction
            return values[self._choices.among(len(values))]
        kind = self._kind(flat, example, depth)
        match kind:
            case "":
                return {} if example is ABSENT else example
            case "object":
                return self._object(flat, depth, example if isinstance(example, dict) else {})
            case "array":
                return self._array(flat, name, depth, example if isinstance(example, list) else [])
            case "string":
                return texts.text(flat, name, self._words)
            case "integer" | "number":
                whole = kind == "integer"
                return texts.number(flat, whole=whole, choices=self._words)
            case "boolean":
                return self._choices.among(2) == 1
            case _:
                return None

    def _kind(self, flat: Schema, example: JsonValue, depth: int) -> str:
        """The type to make; empty when the schema says nothing at all."""
        types = flat.get("type")
        implied = [name for name, keys in _KEYWORDS_OF_TYPE.items() if any(k in flat for k in keys)]
        if types is None:
            return implied[self._choices.among(len(implied))] if implied else ""
        if depth > _DEEP and len(types) > 1:
            return str(min(types, key=TYPES.index))
        if example is not ABSENT:
            types = [one for one in types if _is(one, example)] or types
        elif len(types) > 1 and depth <= _DEEP:
            # Null says the least; another try may still take it.
            types = [one for one in types if one != "null"]
        return str(types[self._choices.among(len(types))])

    def _laid(self, below: Schema, schema: JsonValue, depth: int) -> Schema:
        """``below`` with a schema, its references, alternatives and conditions laid over it.

        Of alternatives one is taken that does not contradict what lies below.
        """
        if depth > _DEEPEST:
            raise Contradiction
        own = canonical(schema)
        parts: list[JsonValue] = list(own.pop("allOf", ()))
        for key in ("$ref", "$dynamicRef"):
            if key in own:
                parts.append(_referred(self._root, own.pop(key)))
        alternatives = [own.pop(key) for key in ("anyOf", "oneOf") if key in own]
        if "if" in own:
            condition, then = own.pop("if"), own.pop("then", True)
            untrue = {"allOf": [{"not": condition}, *_opposites(condition, below | own)]}
            otherwise = {"allOf": [untrue, own.pop("else", True)]}
            alternatives.append([{"allOf": [condition, then]}, otherwise])
        laid = intersection(below, own)
        for part in parts:
            laid = self._laid(laid, part, depth + 1)
        for schemas in alternatives:
            laid = self._with_one_of(laid, schemas, depth)
        return laid

    def _with_one_of(self, below: Schema, schemas: list[JsonValue], depth: int) -> Schema:
        left = sorted(schemas, key=_weight) if depth > _DEEP else list(schemas)
        while left:
            taken = 0 if depth > _DEEP else self._choices.among(len(left))
            try:
                return self._laid(below, left.pop(taken), depth + 1)
            except Contradiction:
                continue
        raise Contradiction

    def _object(self, flat: Schema, depth: int, example: dict[str, JsonValue]) -> JsonValue:
        declared = flat.get("properties", {})
        names = list(flat.get("required", ()))
        most = flat.get("maxProperties", max(len(declared), len(names), len(example)) + 64)
        for name, schema in declared.items():
            if name not in names and schema is not False and len(names) < most:
                if self._extent.wants(self._choices, depth) or name in example:
                    names.append(name)
        open_ended = "additionalProperties" not in flat and "patternProperties" not in flat
        if open_ended:
            names += [name for name in example if name not in names]
        self._add_dependents(flat, names)
        members = {}
        for name in names[: max(most, 0)]:
            schema = _member(flat, name)
            members[name] = self.value(schema, name, depth + 1, example.get(name, ABSENT))
        self._fill_up(flat, members, depth)
        return self._with_dependent_schemas(flat, members, depth, example)

    def _add_dependents(self, flat: Schema, names: list[str]) -> None:
        needed = flat.get("dependentRequired", {})
        for name in names:
            names += [one for one in needed.get(name, ()) if one not in names]

    def _fill_up(self, flat: Schema, members: dict[str, JsonValue], depth: int) -> None:
        """Members until there are enough: declared ones first, then of names that are free."""
        fewest = flat.get("minProperties", 0)
        if flat.get("additionalProperties", ABSENT) not in (ABSENT, False) and not members:
            fewest = max(fewest, 1 if self._extent.wants(self._choices, depth) else 0)
        spare = [name for name in flat.get("properties", {}) if name not in members]
        for number in range(fewest * 4):
            if len(members) >= fewest:
                return
            name = spare.pop(0) if spare else self._free_name(flat, number, depth)
            schema = _member(flat, name)
            if schema is not False:
                members[name] = self.value(schema, name, depth + 1, ABSENT)

    def _free_name(self, flat: Schema, number: int, depth: int) -> str:
        patterns = list(flat.get("patternProperties", {}))
        if flat.get("additionalProperties") is False and patterns:
            named: JsonValue = {"type": "string", "pattern": patterns[number % len(patterns)]}
        elif "propertyNames" in flat:
            named = merging.both({"type": "string"}, flat["propertyNames"])
        else:
            return f"member{number + 1}"
        return str(self.value(named, "", depth + 1, ABSENT))

    def _with_dependent_schemas(
        self, flat: Schema, members: dict[str, JsonValue], depth: int, example: dict[str, JsonValue]
    ) -> JsonValue:
        parts = [part for name, part in flat.get("dependentSchemas", {}).items() if name in members]
        if not parts:
            return members
        rest = {key: value for key, value in flat.items() if key != "dependentSchemas"}
        for part in parts:
            rest = self._laid(rest, part, depth + 1)
        return self._object(rest, depth, {**example, **members})

    def _array(self, flat: Schema, name: str, depth: int, example: list[JsonValue]) -> JsonValue:
        prefix, rest = flat.get("prefixItems", []), flat.get("items", True)
        fewest, most = flat.get("minItems", 0), flat.get("maxItems", _MOST_ITEMS)
        wanted = len(example) if example and "items" not in flat else 0
        if not wanted and self._extent.wants(self._choices, depth):
            wanted = max(len(prefix), 1)
        if rest is False:
            most = min(most, len(prefix))
        items: list[JsonValue] = self._contained(flat, name, depth)
        count = min(max(fewest, wanted, len(items)), most)
        if count > _MOST_ITEMS * 16:
            raise Contradiction
        found: list[JsonValue] = []
        for position in range(count):
            schema = prefix[position] if position < len(prefix) else rest
            shown = example[position] if position < len(example) else ABSENT
            if items and position >= len(prefix):
                found.append(items.pop(0))
            else:
                found.append(self._item(flat, schema, name, depth, shown, found))
        return found

    def _contained(self, flat: Schema, name: str, depth: int) -> list[JsonValue]:
        found: list[JsonValue] = []
        for schema, fewest, _ in flat.get(CONTAINS, ()):
            both = merging.both(flat.get("items", True), schema)
            for _ in range(min(fewest, _MOST_ITEMS)):
                found.append(self._item(flat, both, name, depth, ABSENT, found))
        return found

    def _item(
        self,
        flat: Schema,
        schema: JsonValue,
        name: str,
        depth: int,
        example: JsonValue,
        others: list[JsonValue],
    ) -> JsonValue:
        item = self.value(schema, name, depth + 1, example)
        for _ in range(16 if flat.get("uniqueItems") else 0):
            if not any(merging.same(item, other) for other in others):
                break
            item = self.value(schema, name, depth + 1, ABSENT)
        return item


def _member(flat: Schema, name: str) -> JsonValue:
    """What an object's schema says about a member: by name, by patterns of names, or by default."""
    found = [s for p, s in flat.get("patternProperties", {}).items() if _searches(p)(name)]
    if name in flat.get("properties", {}):
        found.append(flat["properties"][name])
    if not found:
        found.append(flat.get("additionalProperties", True))
    schema = found[0]
    for another in found[1:]:
        schema = merging.both(schema, another)
    return schema


@cache
def _searches(pattern: str) -> Any:
    return re.compile(pattern).search


def _referred(root: JsonValue, reference: str) -> JsonValue:
    """The schema at ``#/pointer``, or the root itself; anchors are looked up."""
    if not reference.startswith("#/"):
        return _anchored(root, reference.removeprefix("#")) if len(reference) > 1 else root
    target = root
    for token in reference.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        try:
            target = target[int(key)] if isinstance(target, list) else target[key]
        except (LookupError, TypeError, ValueError):
            raise Contradiction from None
    return target


def _anchored(schema: JsonValue, anchor: str) -> JsonValue:
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if anchor in (one.get("$anchor"), one.get("$dynamicAnchor")):
                return one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    raise Contradiction


def _opposites(condition: JsonValue, own: Schema) -> Iterator[JsonValue]:
    """What makes a simple condition about members untrue: another value for one of them."""
    if not isinstance(condition, dict):
        return
    for name, schema in condition.get("properties", {}).items():
        shut = canonical(schema).get("enum") if isinstance(schema, dict) else None
        raw = own.get("properties", {}).get(name)
        offered = canonical(raw).get("enum") if isinstance(raw, dict) else None
        if shut is None or offered is None:
            continue
        left = [one for one in offered if not any(merging.same(one, other) for other in shut)]
        if left:
            yield {"properties": {name: {"enum": left}}, "required": [name]}
            return


def _weight(schema: JsonValue) -> int:
    """How much a schema leads on to; the least is taken where values get deep."""
    if not isinstance(schema, dict):
        return 1
    if {"$ref", "allOf", "anyOf", "oneOf"} & schema.keys():
        return 4
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return 3 if schema.get("required") else 2
    if kind == "array":
        return 3 if schema.get("minItems") else 1
    return 0


def _type_fits(flat: Schema, value: JsonValue) -> bool:
    types = flat.get("type")
    if types is not None and not any(_is(one, value) for one in types):
        return False
    shut = flat.get(NOTS, ())
    plain = [s for s in shut if isinstance(s, dict) and s.keys() <= {"enum", "const"}]
    return not any(merging.same(value, one) for s in plain for one in canonical(s).get("enum", ()))


def _is(kind: str, value: JsonValue) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            whole = isinstance(value, float) and value.is_integer()
            return (isinstance(value, int) and not isinstance(value, bool)) or whole
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)
