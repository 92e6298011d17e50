"""What colour a thing has: median and spread in CIE Lab, and shares of twelve hues."""

from dataclasses import dataclass

import cv2
import numpy as np

from ..geometry import Array
from .segmenting import Piece

HUES = 12
_COLOURED = 10.0  # chroma in Lab from which a pixel counts half as coloured
_RED = 30.0  # degrees in the a, b plane around which the first share lies, so that pure red falls inside it


@dataclass(frozen=True)
class Appearance:
    """lab, spread: (3,), L in 0…100; spread is the middle half's width as a standard deviation. hues
    (12,): share of the pixels that are coloured and of this hue, from red through yellow, green and blue;
    they add up to the share of coloured pixels, so something grey has none rather than random ones."""

    lab: Array
    spread: Array
    hues: Array


def describe(piece: Piece) -> Appearance:
    """Colour of the pixels inside the piece's edge (of all of them where it is thin)."""
    mask = piece.mask.astype(np.uint8)
    inner = cv2.erode(mask, np.ones((3, 3), np.uint8), borderValue=0).astype(bool)
    chosen = inner if inner.sum() >= max(12, 0.3 * mask.sum()) else piece.mask
    pixels = piece.sight.frame.colour[chosen].astype(np.float32) / 255.0
    lab = cv2.cvtColor(pixels[None], cv2.COLOR_RGB2Lab)[0].astype(np.float64)
    q1, median, q3 = np.quantile(lab, (0.25, 0.5, 0.75), axis=0)
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    coloured = 1.0 / (1.0 + np.exp(-(chroma - _COLOURED) / 2.0))
    # each pixel is shared between the two nearest hues, so that a small change of light changes little
    place = (np.degrees(np.arctan2(lab[:, 2], lab[:, 1])) - _RED) % 360.0 / (360.0 / HUES)
    low = np.floor(place).astype(int)
    part = place - low
    hues = np.bincount(low % HUES, weights=coloured * (1.0 - part), minlength=HUES)
    hues += np.bincount((low + 1) % HUES, weights=coloured * part, minlength=HUES)
    return Appearance(median, (q3 - q1) / 1.349, hues / len(lab))
