"""``${NAME}`` in a public runtime file: from the environment, or a stand-in while offline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from activities.yaml.problems import Related, Sink
from activities.yaml.scalars import Refused, resolve
from activities.yaml.sources import Spot
from activities.yaml.tree import Entry, Scalar, Sequence, Table, Tree

_EXPRESSION = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_BEGINNING = re.compile(r"\$\{[A-Za-z_]")
_ENVELOPE = ("/apiVersion", "/kind")


class Silence:
    """A sink in front of another one that keeps quiet about what stands in for something else.

    The value of ``${NAME}`` is not known offline, so nothing can be said about it or below it
    (contract 1.1).
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._quiet: set[str] = set()

    def stands_in(self, pointer: str) -> bool:
        """True for a value that is only known in the deployment."""
        return pointer in self._quiet

    def holds_stand_ins(self, pointer: str) -> bool:
        """True when this value or anything inside it is only known in the deployment."""
        return any(one == pointer or one.startswith(f"{pointer}/") for one in self._quiet)

    def about(self, pointer: str) -> None:
        """Say nothing more about this value or anything inside it."""
        self._quiet.add(pointer)

    def add(
        self,
        code: str,
        spot: Spot,
        message: str,
        remedy: str = "",
        related: Iterable[Related] = (),
    ) -> None:
        """Pass a finding on, unless it is about a stand-in."""
        pointer = spot.pointer
        while pointer not in self._quiet and pointer:
            pointer = pointer.rpartition("/")[0]
        if pointer not in self._quiet:
            self._sink.add(code, spot, message, remedy, related)


def substituted(tree: Tree, environment: Mapping[str, str] | None, silence: Silence) -> Tree:
    """The tree with every expression replaced; without ``environment`` by a stand-in.

    Refused are expressions in the envelope, malformed ones, and variables that are not set.
    """
    if isinstance(tree, Table):
        entries = {
            key: Entry(one.key, substituted(one.value, environment, silence))
            for key, one in tree.entries.items()
        }
        return Table(tree.spot, entries)
    if isinstance(tree, Sequence):
        items = tuple(substituted(item, environment, silence) for item in tree.items)
        return Sequence(tree.spot, items)
    if isinstance(tree, Scalar) and isinstance(tree.value, str):
        return _scalar(tree, tree.value, environment, silence)
    return tree


def _scalar(
    tree: Scalar, text: str, environment: Mapping[str, str] | None, silence: Silence
) -> Scalar:
    if not _BEGINNING.search(text):
        return tree
    if tree.spot.pointer in _ENVELOPE or text.startswith("secret:"):
        message = "a substitution is not allowed in this value"
        silence.add("config.substitution", tree.spot, message, "write the value itself")
        silence.about(tree.spot.pointer)
        return tree
    if _BEGINNING.search(_EXPRESSION.sub("", text)):
        message = "a substitution is not well formed"
        silence.add("config.substitution", tree.spot, message, "write `${NAME}`")
        silence.about(tree.spot.pointer)
        return tree
    if environment is None:
        silence.about(tree.spot.pointer)
        return tree
    return _from_environment(tree, text, environment, silence)


def _from_environment(
    tree: Scalar, text: str, environment: Mapping[str, str], silence: Silence
) -> Scalar:
    unset = [
        name
        for name, default in _EXPRESSION.findall(text)
        if name not in environment and f"${{{name}:-" not in text
    ]
    if unset:
        message = f"the variable {unset[0]} has no value here, and no default"
        remedy = f"set {unset[0]} and give --environment, or write a default"
        silence.add("config.substitution", tree.spot, message, remedy)
        silence.about(tree.spot.pointer)
        return tree
    written = _EXPRESSION.sub(lambda m: environment.get(m[1], m[2] or ""), text)
    if not _EXPRESSION.fullmatch(text):
        return Scalar(tree.spot, written)
    value = resolve(written)
    return Scalar(tree.spot, written if isinstance(value, Refused) else value)
