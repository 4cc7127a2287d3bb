"""Mappings: where a value comes from."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from interpreter.contract.values import Document, JsonValue


class FromInput(Document):
    """The run input, or the member at a JSON pointer (RFC 6901) of it."""

    input: str


class FromStep(Document):
    """The output of a step that ran on this route, or a member of it."""

    step: str
    path: str = ""


class LiteralValue(Document):
    """A JSON value written in the definition."""

    literal: JsonValue


class ObjectOf(Document):
    """An object whose members are mapped one by one."""

    object: dict[str, Mapping]


class ListOf(Document):
    """A list whose items are mapped one by one."""

    list: tuple[Mapping, ...]


class FunctionCall(Document):
    """The value of a pure function over mapped arguments."""

    function: str
    arguments: tuple[Mapping, ...] = ()


ContextPath = Literal["/runId", "/admittedAt", "/deadlineAt", "/attempt", "/workflow", "/version"]


class FromContext(Document):
    """A fact about the run that was fixed at admission."""

    context: ContextPath


class FirstOf(Document):
    """The first alternative whose steps ran on this route; the checker proves that one did."""

    first: tuple[Mapping, ...] = Field(min_length=1)


_TAGS = ("input", "step", "literal", "object", "list", "function", "context", "first")


def _tag(value: Any) -> str | None:
    """The member that names a mapping's kind."""
    for tag in _TAGS:
        if (tag in value) if isinstance(value, dict) else hasattr(value, tag):
            return tag
    return None


Mapping: TypeAlias = Annotated[
    Annotated[FromInput, Tag("input")]
    | Annotated[FromStep, Tag("step")]
    | Annotated[LiteralValue, Tag("literal")]
    | Annotated[ObjectOf, Tag("object")]
    | Annotated[ListOf, Tag("list")]
    | Annotated[FunctionCall, Tag("function")]
    | Annotated[FromContext, Tag("context")]
    | Annotated[FirstOf, Tag("first")],
    Discriminator(_tag),
]

for _model in (ObjectOf, ListOf, FunctionCall, FirstOf):
    _model.model_rebuild()
