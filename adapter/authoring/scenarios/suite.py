"""A scenario file as it was read: its cases, and where each of their parts stands."""

from __future__ import annotations

from dataclasses import dataclass

from activities.yaml.sources import Sources, Spot, pointer_parts
from activities.yaml.tree import Tree, find
from adapter.authoring.diagnostics.diagnostic import Diagnostic
from interpreter.scenario import Case

SCENARIOS_FILE = "scenarios.yaml"
CURRENT = "coordinator/v1"
V1ALPHA1 = "id.registrystack.org/formats/coordinator/scenarios/v1alpha1"


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of one file, in its order; ``format`` is the file's ``apiVersion``."""

    file: str
    format: str
    cases: tuple[Case, ...]
    tree: Tree

    def spot(self, index: int, pointer: str = "") -> Spot:
        """The place of a part of case ``index``, or of its nearest parent that was written."""
        return find(self.tree, ["cases", str(index), *pointer_parts(pointer)])


@dataclass(frozen=True, slots=True)
class SuiteReading:
    """What a scenario file gave; ``suite`` is None exactly when ``diagnostics`` hold an error."""

    suite: Suite | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Sources
