"""RFC 6962 Merkle tree: root, inclusion and consistency proofs at any size, and their verification.

A tree keeps every complete subtree's hash by level, 32 bytes each, so that adding a leaf costs about one
hash, and a proof at any earlier size needs no leaf to be read again.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from .errors import ProofFailed

HASH_SIZE = 32
EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Hash of a leaf that holds `data`."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def _split(size: int) -> int:
    """The largest power of two below `size` (size > 1)."""
    return 1 << ((size - 1).bit_length() - 1)


class Tree:
    """Leaf hashes and all complete subtrees above them. Leaves are counted from 0."""

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self._levels: list[bytearray] = [bytearray()]
        self.extend(leaves)

    def __len__(self) -> int:
        return len(self._levels[0]) // HASH_SIZE

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add leaf hashes (not leaf data) at the end."""
        bottom = self._levels[0]
        for leaf in leaves:
            if len(leaf) != HASH_SIZE:
                raise ValueError(f"a leaf hash has {HASH_SIZE} bytes, not {len(leaf)}")
            bottom += leaf
        level = 0
        # Level by level, hash the pairs that have become complete.
        while len(self._levels[level]) >= 2 * HASH_SIZE:
            below = self._levels[level]
            if level + 1 == len(self._levels):
                self._levels.append(bytearray())
            above = self._levels[level + 1]
            before = len(above)
            for at in range(2 * len(above), len(below) - 2 * HASH_SIZE + 1, 2 * HASH_SIZE):
                above += sha256(b"\x01" + below[at : at + 2 * HASH_SIZE]).digest()
            if len(above) == before:
                break
            level += 1

    def _range(self, start: int, end: int) -> bytes:
        """Root of the leaves start…end−1, where start is a multiple of the range's covering power of two."""
        size = end - start
        if size & (size - 1) == 0:
            level = size.bit_length() - 1
            at = (start >> level) * HASH_SIZE
            return bytes(self._levels[level][at : at + HASH_SIZE])
        middle = start + _split(size)
        return node_hash(self._range(start, middle), self._range(middle, end))

    def _size(self, size: int | None) -> int:
        size = len(self) if size is None else size
        if not 0 <= size <= len(self):
            raise ValueError(f"tree size must lie between 0 and {len(self)}, not {size}")
        return size

    def root(self, size: int | None = None) -> bytes:
        """Root of the first `size` leaves (default: all)."""
        size = self._size(size)
        return self._range(0, size) if size else EMPTY_ROOT

    def inclusion(self, index: int, size: int | None = None) -> list[bytes]:
        """Audit path of leaf `index` (from 0) in the tree of the first `size` leaves, lowest node first."""
        size = self._size(size)
        if not 0 <= index < size:
            raise ValueError(f"leaf must lie between 0 and {size - 1}, not {index}")
        path: list[bytes] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _split(end - start)
            if index < middle:
                path.append(self._range(middle, end))
                end = middle
            else:
                path.append(self._range(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, old: int, size: int | None = None) -> list[bytes]:
        """Proof that the first `size` leaves extend the first `old`; empty where old is 0 or size."""
        size = self._size(size)
        if not 0 <= old <= size:
            raise ValueError(f"old size must lie between 0 and {size}, not {old}")
        if old in (0, size):
            return []
        path: list[bytes] = []
        start, end, whole = 0, size, True
        while old != end:
            middle = start + _split(end - start)
            if old <= middle:
                path.append(self._range(middle, end))
                end = middle
            else:
                path.append(self._range(start, middle))
                start, whole = middle, False
        if not whole:
            path.append(self._range(start, end))
        return path[::-1]


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> None:
    """Raise ProofFailed unless `path` leads from leaf `index` to `root` in a tree of `size` leaves."""
    if not 0 <= index < size:
        raise ProofFailed(f"leaf {index} cannot lie in a tree of {size} leaves")
    node, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise ProofFailed("the inclusion proof is too long")
        if node & 1 or node == last:
            found = node_hash(sibling, found)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        node, last = node >> 1, last >> 1
    if last:
        raise ProofFailed("the inclusion proof is too short")
    if found != root:
        raise ProofFailed(f"the inclusion proof of leaf {index} leads to another root")


def verify_consistency(old: int, size: int, path: Sequence[bytes], old_root: bytes, root: bytes) -> None:
    """Raise ProofFailed unless `path` proves that the tree of `size` leaves extends that of `old`."""
    if not 0 <= old <= size:
        raise ProofFailed(f"a tree of {size} leaves cannot extend one of {old}")
    if old == 0 or old == size:
        if path:
            raise ProofFailed("the consistency proof should be empty")
        if (old_root != root) if old else (old_root != EMPTY_ROOT):
            raise ProofFailed("the roots of equal trees differ")
        return
    nodes = list(path)
    if old & (old - 1) == 0:  # a complete old tree is its own first node
        nodes.insert(0, old_root)
    if not nodes:
        raise ProofFailed("the consistency proof is empty")
    node, last = old - 1, size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    before = after = nodes[0]
    for sibling in nodes[1:]:
        if last == 0:
            raise ProofFailed("the consistency proof is too long")
        if node & 1 or node == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        node, last = node >> 1, last >> 1
    if last:
        raise ProofFailed("the consistency proof is too short")
    if before != old_root or after != root:
        raise ProofFailed(f"the tree of {size} leaves does not extend the one of {old}")
