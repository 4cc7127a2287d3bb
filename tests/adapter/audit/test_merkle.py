"""Merkle trees: the known roots of RFC 6962's test data, and every path of every small tree."""

from __future__ import annotations

import hashlib

import pytest

from adapter.audit.merkle import path, root, root_of_path

# The leaves that implementations of Certificate Transparency are tested with, and their roots.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


@pytest.mark.parametrize("size", ROOTS)
def test_the_roots_are_those_of_certificate_transparency(size: int) -> None:
    assert root(LEAVES[:size]).hex() == ROOTS[size]


@pytest.mark.parametrize("size", range(1, 18))
def test_every_path_leads_to_the_root(size: int) -> None:
    leaves = [number.to_bytes(2, "big") for number in range(size)]
    whole = root(leaves)
    for index, leaf in enumerate(leaves):
        way = path(leaves, index)
        assert root_of_path(leaf, index, size, way) == whole
        assert root_of_path(b"other", index, size, way) != whole
        assert root_of_path(leaf, index, size, [*way, whole]) is None
        if size > 1:
            assert root_of_path(leaf, (index + 1) % size, size, way) != whole
            assert root_of_path(leaf, index, size, way[:-1]) is None


def test_a_leaf_is_never_read_as_a_node() -> None:
    pair = [hashlib.sha256(b"\x00" + leaf).digest() for leaf in LEAVES[:2]]
    assert root([b"".join(pair)]) != root(LEAVES[:2])
