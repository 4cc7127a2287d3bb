"""Compiling chains: reading and assigning properties and indexes, and calling methods."""

from __future__ import annotations

from typing import Any, NamedTuple

from interpreter.language.assigning import Target
from interpreter.language.code import Code, Step
from interpreter.language.compiling_calls import CallCompiler
from interpreter.language.failures import unbound_this
from interpreter.language.linking import INDEX, METHOD, PROPERTY, Link, Write, follow
from interpreter.language.running import Frame, Place, check_size, temporary
from interpreter.language.syntax import (
    NOT_LITERAL,
    Chain,
    Expression,
    MethodCall,
    Property,
    This,
    Variable,
    literal_value,
    place_of_expression,
    start_of_expression,
)
from interpreter.language.tokens import NOWHERE
from interpreter.language.values import Value, copy_value

_FRAMES_OF_LINK = 6
"""Python calls that following one link may nest, a method of a package included."""


class _Chain(NamedTuple):
    """A chain taken apart.

    ``collect`` evaluates indexes and arguments and gives them as one value a link; ``before`` is
    the operations before it. ``fixed`` are the indexes when all are known, else None.
    """

    links: tuple[Link, ...]
    before: int
    collect: Step
    fixed: tuple[Value, ...] | None
    frames: int
    is_quiet: bool


class ChainCompiler(CallCompiler):
    """Compiles chains."""

    def _chain(self, node: Chain) -> Code:
        chain = self._take_apart(node)
        root = node.left
        # One operation for the expression itself and one for a name at the root.
        before = 1 + chain.before
        if isinstance(root, Variable) and not root.path:
            slot = self._slot(root)
            if slot is not None:
                return self._slot_chain(chain, slot, before + 1)
        if isinstance(root, Variable | This):
            locate = self._root_locator(root)
            run = _followed(chain, locate)
            return Code(before, run, frames=chain.frames + 1)
        inner = self.expression(root)
        step = inner.run

        def located(frame: Frame) -> Place:
            return temporary(step(frame))

        # Indexes and arguments are evaluated before the root.
        run = _followed(chain, located, inner.operations)
        return Code(before, run, frames=max(chain.frames, inner.frames) + 2)

    def _root_locator(self, root: Variable | This) -> Any:
        """A closure that counts the root and gives its place."""
        if isinstance(root, This):
            return _this_locator(root.place)
        locate = self.locator(root)

        def counted(frame: Frame) -> Place:
            frame[0].n += 1
            place: Place = locate(frame)
            return place

        return counted

    def _slot_chain(self, chain: _Chain, slot: int, before: int) -> Code:
        read_only = self._is_constant(slot)
        links = chain.links

        def locate(frame: Frame) -> Place:
            return Place(frame, slot, is_reference=True, read_only=read_only)

        slow = _followed(chain, locate)
        if any(link.kind == METHOD for link in links):
            return Code(before, slow, frames=chain.frames + 1)
        peek: Step
        if chain.fixed is None:
            peek = _indexed_read(chain, slot, read_only)
        elif len(links) == 1:
            peek = _single_read(slot, chain.fixed[0], slow)
        else:
            peek = _fixed_read(slot, chain.fixed, slow)
        return Code(
            before,
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
        after = chain.before
        frames = max(right.frames, chain.frames) + 1
        collect, links = chain.collect, chain.links
        if isinstance(root, Variable) and not root.path:
            slot = self._slot(root)
            if slot is not None and compound is None and not self._is_constant(slot):
                last = chain.fixed[-1] if chain.fixed is not None else None
                if len(links) == 1 and links[0].kind == PROPERTY:
                    run = _property_write(slot, last, target, links)
                elif chain.fixed is None and len(links) == 1:
                    run = _index_write(slot, collect, after, target, links)
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
            run.n += after
            values = collect(frame)
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
        # Each link of a longer chain takes one operation, and so does a single link with
        # something to evaluate.
        extra = 0 if single else len(links)
        steps: list[tuple[int, Any]] = []
        fixed: list[Value] | None = []
        frames = 0
        is_quiet = True
        for link, element in zip(links, elements, strict=True):
            if link.kind == PROPERTY:
                steps.append((0, link.name))
                if fixed is not None:
                    fixed.append(link.name)
                continue
            if isinstance(element, MethodCall):
                is_quiet = False
                fixed = None
                operations, nesting, collect = self._all_arguments(element.arguments)
                if single and element.arguments:
                    extra = 1
                steps.append((operations, collect))
                frames = max(frames, nesting)
                continue
            known = literal_value(element) if single else NOT_LITERAL
            if known is not NOT_LITERAL:
                steps.append((0, _Known(known)))
                if fixed is not None:
                    fixed.append(known)
                continue
            code = self.expression(element)
            if single:
                extra = 1
            if fixed is not None and type(code.constant) in (int, str):
                fixed.append(code.constant)
            else:
                fixed = None
            is_quiet = is_quiet and code.is_quiet
            steps.append((code.operations, code.run))
            frames = max(frames, code.frames)
        first = steps[0][0]
        rest = tuple((0 if at == 0 else step[0], step[1]) for at, step in enumerate(steps))
        total = extra + first
        if fixed is not None and not single:
            # All indexes are known: their operations can be counted at once.
            total = extra + sum(operations for operations, _ in steps)
            rest = tuple((0, step) for _, step in rest)
        return _Chain(
            links,
            total,
            _collector(rest),
            tuple(fixed) if fixed is not None else None,
            frames + _FRAMES_OF_LINK + len(links),
            is_quiet,
        )


class _Known:
    """A literal index, not evaluated at all."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


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


def _collector(steps: tuple[tuple[int, Any], ...]) -> Step:
    """A closure that gives the index or arguments of each link."""
    if all(isinstance(step, str | _Known) for _, step in steps):
        known = [step.value if isinstance(step, _Known) else step for _, step in steps]
        return lambda frame: [copy_value(value) for value in known]
    if len(steps) == 1:
        only = steps[0][1]
        return lambda frame: [only(frame)]

    def collect(frame: Frame) -> Value:
        values = []
        run = frame[0]
        for operations, step in steps:
            if isinstance(step, str):
                values.append(step)
            else:
                run.n += operations
                values.append(step(frame))
        return values

    return collect


def _this_locator(place: int) -> Any:
    def locate(frame: Frame) -> Place:
        frame[0].n += 1
        this: Place | None = frame[1]
        if this is None:
            raise unbound_this(place)
        return Place(this.holder, this.key, is_reference=True, read_only=this.read_only)

    return locate


def _no_root(frame: Frame) -> Place:
    raise unbound_this(NOWHERE)


def _followed(chain: _Chain, locate: Any, more: int = 0) -> Step:
    collect, links = chain.collect, chain.links

    def run(frame: Frame) -> Value:
        values = collect(frame)
        state = frame[0]
        state.n += more
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
    collect, links = chain.collect, chain.links
    count = len(links)

    def read(frame: Frame) -> Value:
        keys = collect(frame)
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


def _index_write(
    slot: int, collect: Step, operations: int, target: Target, links: tuple[Link, ...]
) -> Any:
    def make(value_of: Step) -> Step:
        def write(frame: Frame) -> Value:
            value = value_of(frame)
            run = frame[0]
            run.n += operations
            keys = collect(frame)
            holder = frame[slot]
            run.n += 1
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
