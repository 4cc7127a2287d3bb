"""The analysis of routes agrees with looking at every single route."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from adapter.authoring.check.routes import NOT_RUN, Routes
from interpreter.definition.mappings import LiteralValue
from interpreter.definition.nodes import AnyNode, ChooseNode, FinishNode

NAMES = tuple("abcdefgh")
VALUE = LiteralValue(literal=None)

Graph = dict[str, AnyNode]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Steps that lead only forward, in any number of cases."""
    nodes: Graph = {}
    for index, name in enumerate(NAMES):
        later = NAMES[index + 1 :]
        targets = draw(st.lists(st.sampled_from(later), max_size=3)) if later else []
        outlets = {f"{name}{number}": target for number, target in enumerate(targets)}
        node = ChooseNode(choose=VALUE, outlets=outlets) if targets else FinishNode(outcome="x")
        nodes[name] = node
    return nodes


def routes_to(nodes: Graph, target: str, at: str = "a") -> Iterator[dict[str, str]]:
    """Every route from the start to a step: step -> the outlet it was left through."""
    if at == target:
        yield {}
    for outlet, following in nodes[at].outlets.items():
        for rest in routes_to(nodes, target, following):
            yield {at: outlet, **rest}


@given(graphs())
def test_what_has_run_is_the_union_over_all_routes(nodes: Graph) -> None:
    analysis = Routes(nodes, "a")
    for target in NAMES:
        every = list(routes_to(nodes, target))
        found = analysis.before(target)
        assert (found is None) == (not every)
        for step in NAMES if every else ():
            expected = {route.get(step, NOT_RUN) for route in every}
            assert (found or {}).get(step, frozenset({NOT_RUN})) == expected


@given(graphs())
def test_avoiding_steps_leaves_exactly_the_routes_without_them(nodes: Graph) -> None:
    analysis = Routes(nodes, "a")
    for target in NAMES[4:]:
        every = list(routes_to(nodes, target))
        for avoided in combinations(NAMES[1:4], 2):
            left = [route for route in every if not set(avoided) & {*route, target}]
            assert (analysis.before(target, avoided) is None) == (not left)


@given(graphs(), st.sampled_from(NAMES))
def test_a_step_that_leads_back_is_in_a_cycle(nodes: Graph, back: str) -> None:
    assert Routes(nodes, "a").cycles() == []
    looped: Graph = {**nodes, "h": ChooseNode(choose=VALUE, outlets={"again": back})}
    leads = back == "h" or bool(list(routes_to(nodes, "h", back)))
    cycles = Routes(looped, "a").cycles()
    assert bool(cycles) is leads
    for cycle in cycles:
        following = [*cycle[1:], cycle[0]]
        for one, other in zip(cycle, following, strict=True):
            assert other in looped[one].outlets.values()
