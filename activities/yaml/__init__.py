"""The one strict reader of YAML: bytes to a tree that knows where each value stands."""

from activities.yaml.code import Code, Severity
from activities.yaml.problems import Problem, Problems, Related, Sink
from activities.yaml.reader import LARGEST_FILE_BYTES, read_yaml
from activities.yaml.sources import Source, Sources, Spot
from activities.yaml.tree import Broken, Entry, Scalar, Sequence, Table, Tree, find, name_of

__all__ = [
    "LARGEST_FILE_BYTES",
    "Broken",
    "Code",
    "Entry",
    "Problem",
    "Problems",
    "Related",
    "Scalar",
    "Sequence",
    "Severity",
    "Sink",
    "Source",
    "Sources",
    "Spot",
    "Table",
    "Tree",
    "find",
    "name_of",
    "read_yaml",
]
