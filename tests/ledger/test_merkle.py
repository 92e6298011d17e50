"""The tree against the standard's own definition, against pymerkle, and its proofs against forgery."""

from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymerkle import InmemoryTree

from skill2real.ledger.errors import ProofFailed
from skill2real.ledger.merkle import Tree, leaf_hash, verify_consistency, verify_inclusion


def defined_root(data: list[bytes]) -> bytes:
    """RFC 6962 section 2.1, word for word."""
    if not data:
        return sha256(b"").digest()
    if len(data) == 1:
        return sha256(b"\x00" + data[0]).digest()
    k = 1
    while k * 2 < len(data):
        k *= 2
    return sha256(b"\x01" + defined_root(data[:k]) + defined_root(data[k:])).digest()


def defined_path(m: int, data: list[bytes]) -> list[bytes]:
    """RFC 6962 section 2.1.1."""
    if len(data) == 1:
        return []
    k = 1
    while k * 2 < len(data):
        k *= 2
    if m < k:
        return [*defined_path(m, data[:k]), defined_root(data[k:])]
    return [*defined_path(m - k, data[k:]), defined_root(data[:k])]


def defined_consistency(m: int, data: list[bytes], whole: bool = True) -> list[bytes]:
    """RFC 6962 section 2.1.2."""
    if m == len(data):
        return [] if whole else [defined_root(data)]
    k = 1
    while k * 2 < len(data):
        k *= 2
    if m <= k:
        return [*defined_consistency(m, data[:k], whole), defined_root(data[k:])]
    return [*defined_consistency(m - k, data[k:], False), defined_root(data[:k])]


def grow(data: list[bytes], steps: list[int]) -> Tree:
    """The tree, extended in batches of the given sizes."""
    tree = Tree()
    rest = data
    for step in steps:
        tree.extend(leaf_hash(d) for d in rest[:step])
        rest = rest[step:]
    tree.extend(leaf_hash(d) for d in rest)
    return tree


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=8), max_size=70), st.lists(st.integers(0, 9), max_size=8), st.data())
def test_roots_and_proofs_are_those_of_the_standard(data, steps, draw):
    tree = grow(data, steps)
    assert len(tree) == len(data)
    size = draw.draw(st.integers(0, len(data)))
    root = tree.root(size)
    assert root == defined_root(data[:size])
    old = draw.draw(st.integers(0, size))
    proof = tree.consistency(old, size)
    assert proof == (defined_consistency(old, data[:size]) if old else [])
    verify_consistency(old, size, proof, tree.root(old), root)
    if size:
        index = draw.draw(st.integers(0, size - 1))
        path = tree.inclusion(index, size)
        assert path == defined_path(index, data[:size])
        verify_inclusion(leaf_hash(data[index]), index, size, path, root)


def test_pymerkle_agrees():
    data = [b"event %d" % i for i in range(70)]
    oracle = InmemoryTree(algorithm="sha256")
    tree = Tree()
    for n, item in enumerate(data, 1):
        oracle.append_entry(item)
        tree.extend((leaf_hash(item),))
        assert tree.root() == oracle.get_root()
        for index in {0, n // 2, n - 1}:
            path = oracle.prove_inclusion(index + 1, n).serialize()["path"]
            assert [h.hex() for h in tree.inclusion(index)] == path[1:]


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 40), st.data())
def test_no_other_leaf_place_or_path_verifies(size, draw):
    tree = Tree(leaf_hash(b"%d" % i) for i in range(size))
    index = draw.draw(st.integers(0, size - 1))
    path, root, leaf = tree.inclusion(index), tree.root(), leaf_hash(b"%d" % index)
    forged = [
        (leaf_hash(b"other"), index, size, path, root),
        (leaf, index, size, [*path, root], root),
        (leaf, index, size, path, leaf_hash(b"root")),
        (leaf, size, size, path, root),
        (leaf, -1, size, path, root),
    ]
    forged += [(leaf, other, size, path, root) for other in range(size) if other != index]
    forged += [(leaf, index, size, path[:i] + path[i + 1 :], root) for i in range(len(path))]
    forged += [(leaf, index, size, [*path[:i], leaf, *path[i + 1 :]], root) for i in range(len(path))]
    for attempt in forged:
        with pytest.raises(ProofFailed):
            verify_inclusion(*attempt)


def test_consistency_of_every_small_pair_and_no_forgery():
    leaves = [leaf_hash(b"%d" % i) for i in range(33)]
    tree = Tree(leaves)
    rewritten = Tree([leaf_hash(b"other"), *leaves[1:]])
    for size in range(1, 34):
        for old in range(1, size + 1):
            proof = tree.consistency(old, size)
            verify_consistency(old, size, proof, tree.root(old), tree.root(size))
            with pytest.raises(ProofFailed):
                verify_consistency(old, size, proof, rewritten.root(old), tree.root(size))
            with pytest.raises(ProofFailed):
                verify_consistency(old, size, proof, tree.root(old), rewritten.root(size))
            with pytest.raises(ProofFailed):
                verify_consistency(old, size, [*proof, leaves[0]], tree.root(old), tree.root(size))
            if proof:
                with pytest.raises(ProofFailed):
                    verify_consistency(old, size, proof[:-1], tree.root(old), tree.root(size))
    with pytest.raises(ProofFailed):
        verify_consistency(5, 4, [], tree.root(5), tree.root(4))


def test_sizes_out_of_range_are_refused():
    tree = Tree(leaf_hash(b"%d" % i) for i in range(3))
    for wrong in (
        lambda: tree.root(4),
        lambda: tree.root(-1),
        lambda: tree.inclusion(3),
        lambda: tree.inclusion(2, 2),
        lambda: tree.consistency(3, 2),
        lambda: tree.extend((b"short",)),
    ):
        with pytest.raises(ValueError, match="not"):
            wrong()
    assert len(tree) == 3
