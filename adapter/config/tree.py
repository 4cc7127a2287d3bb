"""A YAML text as plain values that remember their lines, with YAML's traps refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from adapter.config.findings import Finding, pointer
from interpreter.contract.values import JsonValue

LARGEST_BYTES = 1_048_576
_DEEPEST = 64
_PREFIX = "tag:yaml.org,2002:"
_WHOLE = re.compile(r"^(0|-?[1-9][0-9]{0,17})$")
_NUMBER_LIKE = frozenset({_PREFIX + "int", _PREFIX + "float"})


@dataclass(slots=True)
class Tree:
    """A document's value, the line of every pointer, and what is wrong with its form."""

    value: JsonValue = None
    lines: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def line(self, place: str) -> int:
        """The 1-based line of a pointer, or of the nearest parent that the file has."""
        while place not in self.lines and place:
            place = place.rpartition("/")[0]
        return self.lines.get(place, 0)


def read_tree(data: bytes) -> Tree:
    """The tree of one YAML document.

    Refused: more than 1 MiB, other than UTF-8, several documents, anchors, aliases, tags, merge
    keys, duplicate and non-string keys, and numbers that YAML versions read differently.
    """
    tree = Tree()
    if len(data) > LARGEST_BYTES:
        return _failed(tree, "yaml.too-large", f"more than {LARGEST_BYTES} bytes", "shorten it")
    try:
        text = data.decode()
        _refuse_sharing_and_tags(tree, text)
        node = None if tree.findings else yaml.compose(text, Loader=yaml.SafeLoader)
    except UnicodeDecodeError:
        return _failed(tree, "yaml.not-utf8", "the file is not UTF-8", "save it as UTF-8")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        return _failed(tree, "yaml.syntax", "this is not one YAML document", "correct it", line)
    except (yaml.YAMLError, RecursionError):
        return _failed(tree, "yaml.syntax", "this is not one YAML document", "correct it")
    if node is not None:
        tree.value = _value(tree, node, [])
    return tree


def _failed(tree: Tree, code: str, message: str, remedy: str, line: int = 0) -> Tree:
    tree.findings.append(Finding(code, "", message, remedy, line))
    return tree


def _refuse_sharing_and_tags(tree: Tree, text: str) -> None:
    # Told from the events: composing an alias would already have followed it.
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            remedy = "write the value out where it is used"
            _failed(tree, "yaml.anchor", "anchors and aliases are not used here", remedy, line)
        elif getattr(event, "tag", None):
            _failed(tree, "yaml.tag", "tags are not used here", "remove it", line)


def _value(tree: Tree, node: Node, location: list[str | int]) -> JsonValue:
    place = pointer(location)
    tree.lines.setdefault(place, node.start_mark.line + 1)
    if len(location) > _DEEPEST:
        return _wrong(tree, node, location, "yaml.too-deep", "nested too deep", "flatten it")
    if isinstance(node, MappingNode):
        return _mapping(tree, node, location)
    if isinstance(node, SequenceNode):
        return [_value(tree, item, [*location, index]) for index, item in enumerate(node.value)]
    assert isinstance(node, ScalarNode)
    return _scalar(tree, node, location)


def _mapping(tree: Tree, node: MappingNode, location: list[str | int]) -> JsonValue:
    result: dict[str, JsonValue] = {}
    for key, member in node.value:
        if key.tag != _PREFIX + "str" or not isinstance(key, ScalarNode):
            _wrong(tree, key, location, "yaml.non-string-key", "a key is no string", "quote it")
            continue
        inside = [*location, key.value]
        if key.value in result:
            remedy = "keep one of them"
            _wrong(tree, key, inside, "yaml.duplicate-key", "the key stands twice", remedy)
            continue
        tree.lines[pointer(inside)] = key.start_mark.line + 1
        result[key.value] = _value(tree, member, inside)
    return result


def _scalar(tree: Tree, node: ScalarNode, location: list[str | int]) -> JsonValue:
    if node.tag == _PREFIX + "str" or node.style in ("'", '"'):
        return node.value
    if node.tag == _PREFIX + "bool" and node.value in ("true", "false"):
        return node.value == "true"
    if node.tag == _PREFIX + "null" and node.value in ("null", "~", ""):
        message, remedy = "the value is empty", "leave the key out, or give it a value"
        return _wrong(tree, node, location, "config.null-value", message, remedy)
    if node.tag == _PREFIX + "int" and _WHOLE.match(node.value):
        return int(node.value)
    if node.tag == _PREFIX + "float" and re.fullmatch(r"-?[0-9]+\.[0-9]+", node.value):
        return float(node.value)
    if node.tag in _NUMBER_LIKE:
        message, remedy = "YAML versions read this number differently", "write plain digits"
        return _wrong(tree, node, location, "yaml.ambiguous-number", message, remedy)
    message, remedy = "YAML versions read this value differently", "quote it if it is a text"
    return _wrong(tree, node, location, "yaml.ambiguous-value", message, remedy)


def _wrong(
    tree: Tree, node: Node, location: list[str | int], code: str, message: str, remedy: str
) -> None:
    line = node.start_mark.line + 1
    tree.findings.append(Finding(code, pointer(location), message, remedy, line))
