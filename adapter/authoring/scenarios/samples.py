"""Values made up from JSON Schemas: the simplest one that fits, and its variations."""

from __future__ import annotations

from collections.abc import Iterator

from interpreter.contract.values import JsonValue
from interpreter.machine.schemas import Schemas

MOST_VARIANTS = 96
DEEPEST = 24

_TEXTS = {
    "date-time": "2026-03-02T09:00:00Z",
    "date": "2026-03-02",
    "time": "09:00:00Z",
    "duration": "PT1H",
    "email": "someone@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "uri-reference": "/example",
    "uuid": "00000000-0000-4000-8000-000000000001",
    "json-pointer": "/example",
    "regex": "x",
}


class _Choices:
    """The decisions of one sample, as the digits of a number that counts through them all."""

    def __init__(self, digits: list[int]) -> None:
        self._digits = digits
        self._limits: list[int] = []

    def among(self, count: int) -> int:
        """Which of ``count`` alternatives this sample takes."""
        position = len(self._limits)
        self._limits.append(count)
        if position >= len(self._digits):
            self._digits.append(0)
        return self._digits[position]

    def following(self) -> list[int] | None:
        """The decisions of the next sample, or None after the last one."""
        digits = self._digits[: len(self._limits)]
        for position in range(len(digits) - 1, -1, -1):
            if digits[position] + 1 < self._limits[position]:
                return [*digits[:position], digits[position] + 1]
        return None


def variants(schema: JsonValue, most: int = MOST_VARIANTS) -> Iterator[JsonValue]:
    """Different values that fit a schema, the simplest first; none when no try fits.

    Optional members are left out. Patterns and other conditions that can not be aimed at are only
    met by chance.
    """
    schemas = Schemas()
    digits: list[int] | None = []
    for _ in range(most):
        if digits is None:
            return
        choices = _Choices(digits)
        value = _Sampler(schema, choices).value(schema, 0)
        if schemas.fits(schema, value):
            yield value
        digits = choices.following()


def sample(schema: JsonValue) -> JsonValue:
    """The simplest value that fits a schema, or the simplest try if none does."""
    for value in variants(schema):
        return value
    return _Sampler(schema, _Choices([])).value(schema, 0)


class _Sampler:
    """Makes one value of a schema by the choices it is given."""

    def __init__(self, root: JsonValue, choices: _Choices) -> None:
        self._root = root
        self._choices = choices

    def value(self, schema: JsonValue, depth: int) -> JsonValue:
        if not isinstance(schema, dict) or depth > DEEPEST:
            return {}
        schema = self._merged(schema, depth)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][self._choices.among(len(schema["enum"]))]
        if "default" in schema:
            return schema["default"]
        return self._typed(schema, depth)

    def _merged(self, schema: dict[str, JsonValue], depth: int) -> dict[str, JsonValue]:
        """The schema with what it refers to and one of its alternatives laid over it."""
        merged = {k: v for k, v in schema.items() if k not in ("$ref", "allOf", "anyOf", "oneOf")}
        parts = list(schema.get("allOf", ()))
        if isinstance(schema.get("$ref"), str):
            parts.append(self._referred(schema["$ref"]))
        for key in ("anyOf", "oneOf"):
            alternatives = schema.get(key)
            if alternatives:
                parts.append(alternatives[self._choices.among(len(alternatives))])
        for part in parts:
            if isinstance(part, dict) and depth <= DEEPEST:
                merged = _laid_over(merged, self._merged(part, depth + 1))
        return merged

    def _referred(self, reference: str) -> JsonValue:
        target = self._root
        for token in reference.removeprefix("#").split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            target = target.get(key, {}) if isinstance(target, dict) else {}
        return target

    def _typed(self, schema: dict[str, JsonValue], depth: int) -> JsonValue:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = kind[self._choices.among(len(kind))]
        match kind:
            case "string":
                return _text(schema)
            case "integer" | "number":
                return _number(schema)
            case "boolean":
                return self._choices.among(2) == 1
            case "null":
                return None
            case "array":
                items = schema.get("items", True)
                count = schema.get("minItems", 0)
                return [self.value(items, depth + 1) for _ in range(min(count, 16))]
            case _:
                return self._object(schema, depth)

    def _object(self, schema: dict[str, JsonValue], depth: int) -> JsonValue:
        properties = schema.get("properties", {})
        required = list(schema.get("required", ()))
        spare = [name for name in properties if name not in required]
        missing = schema.get("minProperties", 0) - len(required)
        for _ in range(min(missing, len(spare))):
            required.append(spare.pop(self._choices.among(len(spare))))
        members = {name: self.value(properties.get(name, True), depth + 1) for name in required}
        for number in range(missing - (len(required) - len(schema.get("required", ())))):
            members[f"member{number + 1}"] = "example"
        return members


def _laid_over(below: dict[str, JsonValue], above: dict[str, JsonValue]) -> dict[str, JsonValue]:
    merged = {**below, **above}
    for key in ("properties", "$defs"):
        if key in below and key in above:
            merged[key] = {**below[key], **above[key]}
    if "required" in below and "required" in above:
        extra = [name for name in above["required"] if name not in below["required"]]
        merged["required"] = [*below["required"], *extra]
    return merged


def _text(schema: dict[str, JsonValue]) -> str:
    text = _TEXTS.get(schema.get("format", ""), "example")
    shortest = schema.get("minLength", 0)
    if len(text) < shortest:
        text += "x" * (min(shortest, 16_384) - len(text))
    return text[: schema.get("maxLength", len(text))]


def _number(schema: dict[str, JsonValue]) -> JsonValue:
    """The number nearest to zero that lies inside the schema's bounds, if they are whole ones."""
    low = _bound(schema, "minimum", "exclusiveMinimum", 1)
    high = _bound(schema, "maximum", "exclusiveMaximum", -1)
    value: int | float = 0
    if low is not None and low > value:
        value = low
    if high is not None and high < value:
        value = high
    return int(value) if schema.get("type") == "integer" else value


def _bound(
    schema: dict[str, JsonValue], inclusive: str, exclusive: str, step: int
) -> int | float | None:
    if exclusive in schema:
        beyond: int | float = schema[exclusive] + step
        return beyond
    return schema.get(inclusive)
