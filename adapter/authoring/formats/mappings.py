"""Reads mappings: where a step's values come from."""

from __future__ import annotations

import re
from collections.abc import Callable

from activities.yaml.sources import child_pointer
from activities.yaml.tree import Broken, Scalar, Sequence, Table, Tree, name_of
from adapter.authoring.diagnostics.nearest import suggestion
from adapter.authoring.draft import Origins
from adapter.authoring.formats.shape import FUNCTION_NAME, LOCAL_ID, Section
from interpreter.contract.values import JsonValue
from interpreter.definition import mappings as m

DEEPEST_MAPPING = 32
MOST_ARGUMENTS = 16
LARGEST_INTEGER = 2**53 - 1
"""RFC 8785 writes integers only up to here exactly."""

_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*\Z")
CONTEXT_PATHS = ("/runId", "/admittedAt", "/deadlineAt", "/attempt", "/workflow", "/version")
_FORMS = ("input", "step", "literal", "object", "list", "function", "context", "first")


class MappingReader:
    """Reads the mappings of one project and remembers where each part stands.

    ``whole_values`` restricts arguments to the whole input or a step's whole output, as the older
    format does.
    """

    def __init__(self, origins: Origins, *, whole_values: bool = False) -> None:
        self._origins = origins
        self._whole_values = whole_values

    def read(
        self, section: Section, key: str, at: str, *, required: bool = True
    ) -> m.Mapping | None:
        """The mapping under ``key``; ``at`` is its pointer in the definition."""
        tree = section.raw(key, required=required)
        if tree is None:
            return None
        if self._whole_values:
            return self._call_only(section, tree, at)
        return self._mapping(section, tree, at, 0)

    def _call_only(self, section: Section, tree: Tree, at: str) -> m.Mapping | None:
        table = self._table(section, tree)
        if table is None:
            return None
        self._origins.put(at, table.spot)
        return self._function(section, Section(table, section.report, "a mapping"), at, 0)

    def _table(self, section: Section, tree: Tree) -> Table | None:
        if isinstance(tree, Table):
            return tree
        section.broken = True
        if not isinstance(tree, Broken):
            message = f"a mapping is needed, not {name_of(tree)}"
            remedy = (
                "say where the value comes from, for example `{input: /name}` or `{literal: 1}`"
            )
            section.report.add("config.invalid-type", tree.spot, message, remedy)
        return None

    def _mapping(self, section: Section, tree: Tree, at: str, depth: int) -> m.Mapping | None:
        table = self._table(section, tree)
        if table is None:
            return None
        if depth >= DEEPEST_MAPPING:
            message = f"mappings are nested deeper than {DEEPEST_MAPPING} levels"
            section.refuse("yaml.too-deep", table.spot, message)
            return None
        self._origins.put(at, table.spot)
        inner = Section(table, section.report, "this mapping")
        read = self._form(inner, at, depth)
        inner.close()
        section.broken = section.broken or inner.broken
        return None if inner.broken else read

    def _form(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        if "type" in inner.tree.entries:
            return self._older(inner)
        given = [form for form in _FORMS if form in inner.tree.entries]
        if len(given) != 1:
            self._no_form(inner, given)
            return None
        readers: dict[str, Callable[[Section, str, int], m.Mapping | None]] = {
            "input": self._input,
            "step": self._step,
            "literal": self._literal,
            "object": self._object,
            "list": self._list,
            "context": self._context,
            "first": self._first,
        }
        form = given[0]
        if form == "function":
            return self._function(inner, inner, at, depth)
        return readers[form](inner, at, depth)

    def _no_form(self, inner: Section, given: list[str]) -> None:
        keys = list(inner.tree.entries)
        for key in keys:
            inner.has(key)
        if given:
            message = "this mapping says twice where its value comes from"
            remedy = "keep one of " + ", ".join(f"`{one}`" for one in given)
        else:
            message = "this mapping does not say where its value comes from"
            remedy = suggestion(keys[0], _FORMS) if keys else ""
        remedy = remedy or "use one of " + ", ".join(f"`{one}`" for one in _FORMS)
        inner.refuse("config.unknown-variant", inner.spot, message, remedy)

    def _older(self, inner: Section) -> m.Mapping | None:
        """``{type: input}`` and ``{type: step, step: id}``."""
        kind = inner.word("type", ("input", "step"))
        if kind == "input":
            return m.FromInput(input="")
        if kind == "step":
            step = inner.text("step", LOCAL_ID)
            return None if step is None else m.FromStep(step=step)
        inner.has("step")
        return None

    def _pointer(self, inner: Section, key: str, *, required: bool) -> str | None:
        tree = inner.raw(key, required=required)
        if tree is None:
            return None
        text = tree.value if isinstance(tree, Scalar) else None
        if not isinstance(text, str):
            message = f"`{key}` needs a JSON pointer, not {name_of(tree)}"
            inner.refuse("config.expected-string", tree.spot, message)
            return None
        if not _POINTER.match(text):
            message = f"`{key}` is not a well-formed JSON pointer"
            remedy = "begin each part with `/`, and write `~` as `~0` and `/` as `~1`"
            inner.refuse("coordinator.mapping.pointer", tree.spot, message, remedy)
            return None
        return text

    def _input(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        pointer = self._pointer(inner, "input", required=True)
        self._origins.put(f"{at}/input", inner.place("input"))
        return None if pointer is None else m.FromInput(input=pointer)

    def _step(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        step = inner.text("step", LOCAL_ID)
        path = self._pointer(inner, "path", required=False)
        if path is not None:
            self._origins.put(f"{at}/path", inner.place("path"))
        return None if step is None else m.FromStep(step=step, path=path or "")

    def _literal(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        value = inner.foreign("literal")
        if inner.broken:
            return None
        if _beyond_exact(value):
            message = "a number in this literal is too large to be written exactly"
            remedy = "keep integers within 2^53, or write the number as text"
            inner.refuse("config.out-of-range", inner.place("literal"), message, remedy)
            return None
        return m.LiteralValue(literal=value)

    def _object(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        table = inner.table("object")
        if table is None:
            return None
        members: dict[str, m.Mapping] = {}
        for name, entry in table.entries.items():
            below = child_pointer(f"{at}/object", name)
            read = self._mapping(inner, entry.value, below, depth + 1)
            if read is not None:
                members[name] = read
        return m.ObjectOf(object=members)

    def _list(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        items = self._items(inner, "list", at, depth)
        return None if items is None else m.ListOf(list=items)

    def _first(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        items = self._items(inner, "first", at, depth)
        if items is None:
            return None
        if not items:
            inner.refuse(
                "config.invalid-length", inner.place("first"), "`first` has no alternative"
            )
            return None
        return m.FirstOf(first=items)

    def _items(self, inner: Section, key: str, at: str, depth: int) -> tuple[m.Mapping, ...] | None:
        sequence = inner.sequence(key)
        if sequence is None:
            return None
        read = [
            self._mapping(inner, item, f"{at}/{key}/{index}", depth + 1)
            for index, item in enumerate(sequence.items)
        ]
        return tuple(one for one in read if one is not None)

    def _context(self, inner: Section, at: str, depth: int) -> m.Mapping | None:
        word = inner.word("context", CONTEXT_PATHS)
        return None if word is None else m.FromContext.model_validate({"context": word})

    def _function(self, section: Section, inner: Section, at: str, depth: int) -> m.Mapping | None:
        name = inner.text("function", LOCAL_ID if self._whole_values else FUNCTION_NAME)
        sequence = inner.sequence("arguments", required=self._whole_values)
        arguments = self._arguments(inner, sequence, at, depth) if sequence else ()
        if self._whole_values:
            inner.close()
        if inner is not section:
            section.broken = section.broken or inner.broken
        if name is None or inner.broken:
            return None
        return m.FunctionCall(function=name, arguments=arguments)

    def _arguments(
        self, inner: Section, sequence: Sequence, at: str, depth: int
    ) -> tuple[m.Mapping, ...]:
        if len(sequence.items) > MOST_ARGUMENTS:
            message = f"a function takes at most {MOST_ARGUMENTS} arguments"
            inner.refuse("coordinator.function.arity", sequence.spot, message)
        read: list[m.Mapping | None] = []
        for index, item in enumerate(sequence.items):
            below = f"{at}/arguments/{index}"
            if self._whole_values:
                read.append(self._whole_value(inner, item, below))
            else:
                read.append(self._mapping(inner, item, below, depth + 1))
        return tuple(one for one in read if one is not None)

    def _whole_value(self, inner: Section, item: Tree, at: str) -> m.Mapping | None:
        table = self._table(inner, item)
        if table is None:
            return None
        self._origins.put(at, table.spot)
        argument = Section(table, inner.report, "an argument")
        read = self._older(argument)
        argument.close()
        inner.broken = inner.broken or argument.broken
        return read


def _beyond_exact(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(_beyond_exact(item) for item in value.values())
    if isinstance(value, list):
        return any(_beyond_exact(item) for item in value)
    return isinstance(value, int) and abs(value) > LARGEST_INTEGER
