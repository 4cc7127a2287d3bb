"""What is known about a value before anything runs: types, members, enumerated values.

A ``Shape`` is a conservative reading of a JSON Schema: it knows what surely holds of every value
that fits, and where it knows nothing it says so. Keywords that it does not read (``not``, ``if``,
patterns, bounds) only make it less certain, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from activities.yaml.sources import pointer_parts
from interpreter.contract.values import JsonValue

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
DEEPEST = 32
_MOST_ALTERNATIVES = 64

_SCALAR_KEYWORDS = (
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
)

Thunk = Callable[[], "Shape"]


@dataclass(frozen=True)
class Shape:
    """What surely holds of a value; the default knows nothing.

    ``types`` None means any; ``values`` the only values, if they are enumerated; ``members`` what
    is declared about members, ``required`` those that are surely there, ``rest`` what holds of any
    other member (None: nothing is known; ``NOTHING``: there is none); ``prefix`` and ``items``
    likewise for a list; ``bounds`` are the scalar keywords (length, pattern, range, format) as
    small schemas; ``options`` are alternatives of which at least one holds.
    """

    types: frozenset[str] | None = None
    values: tuple[JsonValue, ...] | None = None
    members: Mapping[str, Thunk] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    rest: Thunk | None = None
    prefix: tuple[Thunk, ...] = ()
    items: Thunk | None = None
    least_items: int = 0
    format: str | None = None
    bounds: tuple[JsonValue, ...] = ()
    options: tuple[Thunk, ...] = ()

    @property
    def impossible(self) -> bool:
        """True when no value fits."""
        return self.types == frozenset() or self.values == ()

    def can_be(self, kind: str) -> bool:
        """True unless the value surely has another JSON type."""
        if self.types is None:
            return True
        return kind in self.types or (kind == "integer" and "number" in self.types)


ANY = Shape()
NOTHING = Shape(types=frozenset())


def type_of(value: JsonValue) -> str:
    """The JSON Schema type of a value; a float without a fraction is an integer."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def of_value(value: JsonValue) -> Shape:
    """The shape of exactly this value."""
    if isinstance(value, dict):
        return of_members({key: _later(item) for key, item in value.items()})
    if isinstance(value, list):
        return of_items(tuple(_later(item) for item in value))
    return Shape(types=frozenset({type_of(value)}), values=(value,))


def _later(value: JsonValue) -> Thunk:
    return lambda: of_value(value)


def of_members(members: Mapping[str, Thunk]) -> Shape:
    """An object with exactly these members."""
    return Shape(
        types=frozenset({"object"}),
        members=members,
        required=frozenset(members),
        rest=lambda: NOTHING,
    )


def of_items(items: tuple[Thunk, ...]) -> Shape:
    """A list of exactly these items."""
    return Shape(
        types=frozenset({"array"}), prefix=items, items=lambda: NOTHING, least_items=len(items)
    )


def of_type(kind: str, format: str | None = None) -> Shape:
    """Any value of one type."""
    return Shape(types=frozenset({kind}), format=format)


def either(shapes: list[Shape]) -> Shape:
    """One of several shapes."""
    possible = [shape for shape in shapes if not shape.impossible]
    if not possible:
        return NOTHING
    if len(possible) == 1:
        return possible[0]
    return Shape(options=tuple(_constant(shape) for shape in possible))


def _constant(shape: Shape) -> Thunk:
    return lambda: shape


def of_schema(schema: JsonValue) -> Shape:
    """The shape of the values that fit a JSON Schema."""
    return _Reader(schema).read(schema, 0)


class _Reader:
    """Reads one schema document; references are followed inside it."""

    def __init__(self, root: JsonValue) -> None:
        self._root = root

    def read(self, schema: JsonValue, depth: int) -> Shape:
        if schema is False:
            return NOTHING
        if not isinstance(schema, dict) or depth > DEEPEST:
            return ANY
        shape = self._own(schema, depth)
        parts = [self._reference(schema, depth)]
        parts += [self.read(part, depth + 1) for part in _schemas(schema.get("allOf"))]
        for keyword in ("anyOf", "oneOf"):
            options = _schemas(schema.get(keyword))
            if options:
                parts.append(Shape(options=tuple(self._later(one, depth) for one in options)))
        for part in parts:
            shape = both(shape, part)
        return shape

    def _later(self, schema: JsonValue, depth: int) -> Thunk:
        return lambda: self.read(schema, depth + 1)

    def _reference(self, schema: dict[str, JsonValue], depth: int) -> Shape:
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return ANY
        target: JsonValue = self._root
        for part in pointer_parts(reference[1:]) if reference[1:2] in ("", "/") else ["?"]:
            if not isinstance(target, dict) or part not in target:
                return ANY
            target = target[part]
        return self.read(target, depth + 1)

    def _own(self, schema: dict[str, JsonValue], depth: int) -> Shape:
        types = schema.get("type")
        names = [types] if isinstance(types, str) else types
        known = frozenset(one for one in names if one in TYPES) if isinstance(names, list) else None
        properties = schema.get("properties")
        members = {
            name: self._later(inner, depth)
            for name, inner in (properties.items() if isinstance(properties, dict) else ())
        }
        required = schema.get("required")
        return Shape(
            types=known,
            values=_values(schema),
            members=members,
            required=frozenset(required if isinstance(required, list) else ()),
            rest=self._rest(schema, depth),
            prefix=tuple(self._later(one, depth) for one in _schemas(schema.get("prefixItems"))),
            items=self._later(schema["items"], depth) if "items" in schema else None,
            least_items=schema["minItems"] if isinstance(schema.get("minItems"), int) else 0,
            format=schema["format"] if isinstance(schema.get("format"), str) else None,
            bounds=_bounds(schema),
        )

    def _rest(self, schema: dict[str, JsonValue], depth: int) -> Thunk | None:
        if "patternProperties" in schema:
            return None
        if "additionalProperties" in schema:
            return self._later(schema["additionalProperties"], depth)
        if schema.get("unevaluatedProperties") is False and not _combines(schema):
            return lambda: NOTHING
        return None


def _combines(schema: dict[str, JsonValue]) -> bool:
    """True when other keywords may evaluate members as well."""
    return any(
        one in schema
        for one in ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
    )


def _schemas(value: JsonValue) -> list[JsonValue]:
    return value[:_MOST_ALTERNATIVES] if isinstance(value, list) else []


def _bounds(schema: dict[str, JsonValue]) -> tuple[JsonValue, ...]:
    bounds = {keyword: schema[keyword] for keyword in _SCALAR_KEYWORDS if keyword in schema}
    return (bounds,) if bounds else ()


def _values(schema: dict[str, JsonValue]) -> tuple[JsonValue, ...] | None:
    if "const" in schema:
        return (schema["const"],)
    values = schema.get("enum")
    return tuple(values) if isinstance(values, list) else None


def both(one: Shape, other: Shape) -> Shape:
    """What is known when both hold."""
    if other is ANY:
        return one
    if one == ANY:
        return other
    members = dict(one.members)
    for name, inner in other.members.items():
        members[name] = _join(members[name], inner) if name in members else inner
    return Shape(
        types=_common_types(one.types, other.types),
        values=_common_values(one.values, other.values),
        members=members,
        required=one.required | other.required,
        rest=one.rest if other.rest is None else other.rest,
        prefix=one.prefix or other.prefix,
        items=one.items if other.items is None else other.items,
        least_items=max(one.least_items, other.least_items),
        format=one.format or other.format,
        bounds=one.bounds + other.bounds,
        # A second group of alternatives is left out: one of the first holds in any case.
        options=one.options or other.options,
    )


def _join(one: Thunk, other: Thunk) -> Thunk:
    return lambda: both(one(), other())


def _common_types(
    one: frozenset[str] | None, other: frozenset[str] | None
) -> frozenset[str] | None:
    if one is None or other is None:
        return other if one is None else one
    common = one & other
    if "integer" in one | other and "number" in one | other:
        common |= {"integer"}
    return common


def _common_values(
    one: tuple[JsonValue, ...] | None, other: tuple[JsonValue, ...] | None
) -> tuple[JsonValue, ...] | None:
    if one is None or other is None:
        return other if one is None else one
    return tuple(value for value in one if any(same(value, known) for known in other))


def same(one: JsonValue, other: JsonValue) -> bool:
    """JSON equality: a boolean is no number."""
    return type_of(one) == type_of(other) and bool(one == other)
