"""Patches that lie flat on the table and differ from it in colour: a stain, a sheet, a mark."""

import cv2
import numpy as np

from .segmenting import Piece
from .sight import Mask, Sight

_LEVEL = 0.012  # m: what is so near the table's height lies on it
_APART = 16.0  # distance in CIE Lab from the table's own colour
_LEAST = 25  # pixels


def find_patches(sight: Sight, within: Mask | None = None) -> list[Piece]:
    """Separate patches on the table whose colour is not the one that most of it has."""
    near = sight.seen & (np.abs(sight.points[..., 2] - sight.table) < _LEVEL)
    if near.sum() < _LEAST:
        return []
    lab = cv2.cvtColor(sight.frame.colour.astype(np.float32) / 255.0, cv2.COLOR_RGB2Lab)
    own = np.median(lab[near], axis=0)
    other = near & (np.linalg.norm(lab - own, axis=-1) > _APART)
    if within is not None:
        other &= within
    # a pixel wide: the edges of things that stand on the table, and their shadows' rims
    opened = cv2.morphologyEx(other.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(opened, connectivity=8)
    return [
        Piece(sight, np.asarray(labels == k), sight.table)
        for k in range(1, count)
        if stats[k, cv2.CC_STAT_AREA] >= _LEAST
    ]
