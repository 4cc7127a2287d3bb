"""Compiling chains: reading and assigning properties and indexes, and calling methods."""

from __future__ import annotations

from typing import Any, NamedTuple

from interpreter.language.compiling.calls import CallCompiler, list_of
from interpreter.language.compiling.code import Code, Step, in_order, nested
from interpreter.language.compiling.operators import constant_code
from interpreter.language.failures import unbound_this
from interpreter.language.parsing.traits import (
    NOT_LITERAL,
    literal_value,
    place_of_expression,
    start_of_expression,
)
from interpreter.language.parsing.tree import (
    Chain,
    Expression,
    MethodCall,
    Property,
    This,
    Variable,
)
from interpreter.language.places import NOWHERE
from interpreter.language.running.assigning import Target
from interpreter.language.running.linking import INDEX, METHOD, PROPERTY, Link, Write, follow
from interpreter.language.running.run import Frame, Place, check_size, temporary
from interpreter.language.values import Value, copy_value

_FRAMES_OF_LINK = 6
"""Python calls that following one link may nest, a method of a package included."""


class _Chain(NamedTuple):
    """A chain taken apart.

    ``collect`` evaluates indexes and arguments and gives them as one value a link; ``before`` and
    ``after`` are the operations before and behind it, the one of a name at the root included.
    ``fixed`` are the indexes when all are known, else None.
    """

    links: tuple[Link, ...]
    before: int
    after: int
    collect: Step
    fixed: tuple[Value, ...] | None
    frames: int
    is_quiet: bool


class ChainCompiler(CallCompiler):
    """Compiles chains."""

    def _chain(self, node: Chain) -> Code:
        chain = self._take_apart(node)
        root = node.left
        if isinstance(root, Variable) and not root.path:
            slot = self._slot(root)
            if slot is not None:
                return self._slot_chain(chain, slot)
        if isinstance(root, Variable | This):
            run = _followed(chain, self._root_locator(root))
            return Code(1 + chain.before, run, frames=chain.frames + 1)
        inner = self.expression(root)
        step, operations = inner.run, inner.operations - 1

        def located(frame: Frame) -> Place:
            frame[0].n += operations
            return temporary(step(frame))

        # Indexes and arguments are evaluated before the root.
        run = _followed(chain, located)
        return Code(1 + chain.before, run, frames=max(chain.frames, inner.frames) + 2)

    def _root_locator(self, root: Variable | This) -> Any:
        """A closure that gives the place of the root."""
        return _this_locator(root.place) if isinstance(root, This) else self.locator(root)

    def _slot_chain(self, chain: _Chain, slot: int) -> Code:
        read_only = self._is_constant(slot)
        links = chain.links

        def locate(frame: Frame) -> Place:
            return Place(frame, slot, is_reference=True, read_only=read_only)

        slow = _followed(chain, locate)
        if any(link.kind == METHOD for link in links):
            return Code(1 + chain.before, slow, frames=chain.frames + 1)
        peek: Step
        if chain.fixed is None:
            peek = _indexed_read(chain, slot, read_only)
        elif len(links) == 1:
            peek = _single_read(slot, chain.fixed[0], slow)
        else:
            peek = _fixed_read(slot, chain.fixed, slow)
        return Code(
            1 + chain.before,
            lambda frame: copy_value(peek(frame)),
            peek=peek,
            frames=chain.frames + 2,
            is_quiet=chain.is_quiet,
        )

    # Assignment -----------------------------------------------------------------------------

    def assignment(self, node: Chain, right: Code, compound: str | None, place: int) -> Code:
        """Compile ``chain = right``; the operation of the statement is not included."""
        chain = self._take_apart(node)
        root = node.left
        name = root.name if isinstance(root, Variable) else ""
        target = Target(compound, place, name, start_of_expression(root))
        value_of = right.run
        before, after = chain.before, chain.after
        frames = max(right.frames, chain.frames) + 1
        collect, links = chain.collect, chain.links
        if isinstance(root, Variable) and not root.path:
            slot = self._slot(root)
            if slot is not None and compound is None and not self._is_constant(slot):
                if len(links) == 1 and links[0].kind == PROPERTY:
                    run = _property_write(slot, links[0].name, target, links)
                elif len(links) == 1:
                    run = _index_write(slot, chain, target)
                else:
                    run = None
                if run is not None:
                    return Code(right.operations, run(value_of), frames=frames)
        if isinstance(root, Variable | This):
            locate = self._root_locator(root)
        else:
            # The folding of a constant may leave no variable at the root; the engine gives up.
            locate = _no_root

        def assign_slowly(frame: Frame) -> Value:
            value = value_of(frame)
            run = frame[0]
            run.n += before
            values = collect(frame)
            run.n += after
            follow(run, links, 0, values, locate(frame), Write(target, value))
            return None

        return Code(right.operations, assign_slowly, frames=frames)

    # Links ----------------------------------------------------------------------------------

    def _take_apart(self, node: Chain) -> _Chain:
        links: list[Link] = []
        elements: list[Expression] = []
        parent = node
        while True:
            right = parent.right
            goes_on = isinstance(right, Chain) and not parent.last
            element = right.left if goes_on and isinstance(right, Chain) else right
            links.append(_link(parent, element))
            elements.append(element)
            if not goes_on or not isinstance(right, Chain):
                break
            parent = right
        return self._arguments_of(tuple(links), elements)

    def _arguments_of(self, links: tuple[Link, ...], elements: list[Expression]) -> _Chain:
        single = len(links) == 1
        parts = [
            self._argument_of(link, element, single)
            for link, element in zip(links, elements, strict=True)
        ]
        before = pending = 0
        all_safe = True
        steps: list[tuple[int, Step | None, Value]] = []
        for part in parts:
            pending += part.operations
            if all_safe:
                before, pending = before + pending, 0
            if part.step is None:
                steps.append((0, None, part.known))
                continue
            steps.append((pending, part.step, None))
            pending = 0
            all_safe = all_safe and part.is_safe
        # The root is counted behind the arguments, with the links after the last of them.
        after = pending + 1
        if all_safe:
            before, after = before + after, 0
        is_fixed = all(part.is_known for part in parts)
        return _Chain(
            links,
            before,
            after,
            _collector(tuple(steps)),
            tuple(part.known for part in parts) if is_fixed else None,
            max(part.frames for part in parts) + _FRAMES_OF_LINK + len(links),
            all(part.is_quiet for part in parts),
        )

    def _argument_of(self, link: Link, element: Expression, single: bool) -> _Argument:
        """What a link needs evaluated. Each link of a longer chain takes one operation."""
        extra = 0 if single else 1
        if link.kind == PROPERTY:
            return _Argument(extra, None, link.name, True, True, True, 0)
        if isinstance(element, MethodCall):
            parts = [self.argument(argument) for argument in element.arguments]
            operations, steps = in_order(parts)
            if single and parts:
                extra = 1
            is_safe = all(part.is_safe for part in parts)
            frames = nested(*parts)
            return _Argument(
                extra + operations, list_of(steps), None, False, False, is_safe, frames
            )
        if single:
            known = literal_value(element)
            if known is not NOT_LITERAL:
                is_key = type(known) in (int, str)
                step = None if is_key else constant_code(known).run
                return _Argument(0, step, known, is_key, True, True, 1)
        code = self.expression(element)
        if type(code.constant) in (int, str):
            return _Argument(1 + code.operations, None, code.constant, True, True, True, 1)
        return _Argument(
            1 + code.operations,
            code.run,
            None,
            False,
            code.is_quiet,
            code.is_safe,
            code.frames,
        )


class _Argument(NamedTuple):
    """The index or arguments of one link: ``step`` evaluates them unless they are ``known``."""

    operations: int
    step: Step | None
    known: Value
    is_known: bool
    is_quiet: bool
    is_safe: bool
    frames: int


def _link(parent: Chain, element: Expression) -> Link:
    place = start_of_expression(element)
    if not parent.dotted:
        return Link(INDEX, "", parent.optional, place, parent.place, NOWHERE)
    if isinstance(element, MethodCall):
        first = element.arguments[0] if element.arguments else None
        first_place = NOWHERE if first is None else place_of_expression(first)
        return Link(METHOD, element.name, parent.optional, place, parent.place, first_place)
    name = element.name if isinstance(element, Property) else ""
    return Link(PROPERTY, name, parent.optional, place, parent.place, NOWHERE)


def _collector(steps: tuple[tuple[int, Step | None, Value], ...]) -> Step:
    """A closure that gives the index or arguments of each link."""
    if all(step is None for _, step, _ in steps):
        known = [value for _, _, value in steps]
        return lambda frame: known
    if len(steps) == 1:
        only = steps[0][1]
        assert only is not None
        return lambda frame: [only(frame)]

    def collect(frame: Frame) -> Value:
        values = []
        run = frame[0]
        for operations, step, value in steps:
            if step is None:
                values.append(value)
            else:
                run.n += operations
                values.append(step(frame))
        return values

    return collect


def _this_locator(place: int) -> Any:
    def locate(frame: Frame) -> Place:
        this: Place | None = frame[1]
        if this is None:
            raise unbound_this(place)
        return Place(this.holder, this.key, is_reference=True, read_only=this.read_only)

    return locate


def _no_root(frame: Frame) -> Place:
    raise unbound_this(NOWHERE)


def _followed(chain: _Chain, locate: Any) -> Step:
    collect, links, after = chain.collect, chain.links, chain.after

    def run(frame: Frame) -> Value:
        values = collect(frame)
        state = frame[0]
        state.n += after
        return follow(state, links, 0, values, locate(frame), None)[0]

    return run


# Fast ways. They read without an effect and give up to the slow way when anything is unusual;
# that one counts the operations of each link itself.


def _single_read(slot: int, key: Value, slow: Step) -> Step:
    is_name = type(key) is str

    def read(frame: Frame) -> Value:
        holder = frame[slot]
        if type(holder) is dict and is_name:
            frame[0].n += 1
            return holder.get(key)
        return slow(frame)

    return read


def _fixed_read(slot: int, keys: tuple[Value, ...], slow: Step) -> Step:
    count = len(keys)

    def read(frame: Frame) -> Value:
        value = frame[slot]
        for key in keys:
            kind = type(value)
            if kind is dict and type(key) is str:
                value = value.get(key)
            elif kind is list and type(key) is int and -len(value) <= key < len(value):
                value = value[key]
            else:
                return slow(frame)
        frame[0].n += count
        return value

    return read


def _indexed_read(chain: _Chain, slot: int, read_only: bool) -> Step:
    collect, links, after = chain.collect, chain.links, chain.after
    count = len(links)

    def read(frame: Frame) -> Value:
        keys = collect(frame)
        frame[0].n += after
        value = frame[slot]
        for key in keys:
            kind = type(value)
            if kind is dict and type(key) is str:
                value = value.get(key)
            elif kind is list and type(key) is int and -len(value) <= key < len(value):
                value = value[key]
            else:
                place = Place(frame, slot, is_reference=True, read_only=read_only)
                return follow(frame[0], links, 0, keys, place, None)[0]
        frame[0].n += count
        return value

    return read


def _property_write(slot: int, name: str, target: Target, links: tuple[Link, ...]) -> Any:
    def make(value_of: Step) -> Step:
        def write(frame: Frame) -> Value:
            value = value_of(frame)
            holder = frame[slot]
            run = frame[0]
            if type(holder) is dict:
                run.n += 2
                holder[name] = value
                check_size(holder, target.place)
                return None
            run.n += 1
            place = Place(frame, slot, is_reference=True)
            follow(run, links, 0, [name], place, Write(target, value))
            return None

        return write

    return make


def _index_write(slot: int, chain: _Chain, target: Target) -> Any:
    collect, links = chain.collect, chain.links
    before, after = chain.before, chain.after

    def make(value_of: Step) -> Step:
        def write(frame: Frame) -> Value:
            value = value_of(frame)
            run = frame[0]
            run.n += before
            keys = collect(frame)
            run.n += after
            holder = frame[slot]
            (key,) = keys
            kind = type(holder)
            if (kind is dict and type(key) is str) or (
                kind is list and type(key) is int and 0 <= key < len(holder)
            ):
                run.n += 1
                holder[key] = value
                check_size(value, target.place)
                return None
            place = Place(frame, slot, is_reference=True)
            follow(run, links, 0, keys, place, Write(target, value))
            return None

        return write

    return make
