"""How files are named, how long they and their functions are, and how they begin."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from tests.house.places import PACKAGES, ROOT, python_files, tree

_LONGEST_FILE = 400
_LONGEST_FUNCTION = 60
_LONGEST_PROSE = 140
# A table or a generated file may be longer; its reason stands beside it.
_LONG_FILES: dict[str, str] = {
    "interpreter/language/compiling/chains.py": "one chain of accesses is one traversal",
    "interpreter/language/parsing/expressions.py": "expressions, one rule after another",
    "interpreter/language/parsing/tree.py": "a table: the node classes of the grammar",
    "interpreter/language/running/run.py": "the state of one evaluation and its limits",
}
_LONG_FUNCTIONS: dict[str, str] = {}
_NAMES_FOR_ANYTHING = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "base",
    "core",
    "manager",
    "misc",
    "service",
    "handler",
}
# The command `coordinator` is the service itself.
_ALLOWED_NAMES = {"adapter/cli/service.py"}


def _functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]


def test_no_file_of_the_packages_is_too_long() -> None:
    lengths = {
        str(path): len((ROOT / path).read_text().splitlines()) for path in python_files(*PACKAGES)
    }
    too_long = {path for path, lines in lengths.items() if lines > _LONGEST_FILE}
    assert too_long == set(_LONG_FILES)


def test_no_function_of_the_packages_is_too_long() -> None:
    too_long = {
        f"{path}:{function.name}"
        for path in python_files(*PACKAGES)
        for function in _functions(path)
        if (function.end_lineno or 0) - function.lineno >= _LONGEST_FUNCTION
    }
    assert too_long == set(_LONG_FUNCTIONS)


def test_no_file_or_folder_is_named_for_a_role() -> None:
    named = {
        str(path)
        for path in python_files(*PACKAGES, "tests")
        if _NAMES_FOR_ANYTHING & {path.stem.lstrip("_"), *path.parts[:-1]}
    }
    assert named <= _ALLOWED_NAMES


def test_every_file_begins_with_what_it_owns() -> None:
    silent = [
        str(path)
        for path in python_files(*PACKAGES, "tests", "examples", "benchmarks")
        if not ast.get_docstring(tree(path))
    ]
    assert silent == []


def test_every_file_postpones_annotations() -> None:
    # One rule for all files, so that a type may be named before it is defined.
    missing = [
        str(path)
        for path in python_files(*PACKAGES, "tests")
        if path.name != "__init__.py"
        and "from __future__ import annotations" not in (ROOT / path).read_text()
    ]
    assert missing == []


def _rooms() -> list[str]:
    return [
        ".".join(path.parts[:-1]) for path in python_files(*PACKAGES) if path.stem == "__init__"
    ]


@pytest.mark.parametrize("room", _rooms())
def test_the_public_names_of_a_room_exist_once(room: str) -> None:
    module = importlib.import_module(room)
    names: list[str] = getattr(module, "__all__", [])
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


def test_whom_a_process_believes_over_tls_is_decided_once() -> None:
    makers = {"create_default_context", "SSLContext"}
    making = {
        str(path)
        for path in python_files(*PACKAGES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in makers
    }
    assert making == {"activities/credentials/trust.py"}


def test_the_packages_are_typed() -> None:
    assert all((ROOT / package / "py.typed").is_file() for package in PACKAGES)


def _prose(path: Path) -> list[tuple[int, str]]:
    """The lines of a page that wrap: no table, heading or block of code, by their numbers."""
    lines, in_block = [], False
    for number, line in enumerate((ROOT / path).read_text().splitlines(), start=1):
        fence = line.lstrip().startswith("```")
        in_block ^= fence
        if not (in_block or fence or line.startswith(("|", "#", "    ", "<"))):
            lines.append((number, line))
    return lines


def test_the_prose_of_the_pages_is_wrapped() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/reference/*.md")]
    long = {
        f"{page.relative_to(ROOT)}:{number}"
        for page in pages
        if page.name != "CHANGELOG.md"
        for number, line in _prose(page)
        if len(line) > _LONGEST_PROSE
    }
    assert long == set()
