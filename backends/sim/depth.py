"""The depth error model of a D435-like stereo camera: disparity noise, its steps, holes at edges."""

import numpy as np
from numpy.typing import NDArray

BASELINE = 0.050  # m between the two imagers
NOISE = 0.0013  # m at 1 m, standard deviation; grows with the square of the distance
STEP = 0.0006  # m at 1 m, smallest step of disparity as depth; grows with the square of the distance
NEAREST, FARTHEST = 0.10, 4.0  # m
_EDGE = 0.02  # relative jump of depth between neighbours that makes an edge
_LOST = 0.5  # share of edge pixels without a reading


def measure(depth: NDArray[np.float64], focal: float, generator: np.random.Generator) -> NDArray[np.float32]:
    """What the camera reads of a true depth picture (H×W, metres): float32, 0 = no reading. focal: pixels."""
    inverse = 1.0 / depth  # proportional to disparity
    noisy = inverse + NOISE * generator.standard_normal(depth.shape)
    noisy = np.round(noisy / STEP) * STEP
    with np.errstate(divide="ignore"):
        seen = np.where(noisy > 0, 1.0 / noisy, 0.0)
    lost = _edges(depth) & (generator.random(depth.shape) < _LOST)
    lost |= _hidden(inverse * focal * BASELINE) | (depth < NEAREST) | (depth > FARTHEST)
    seen[lost] = 0.0
    return seen.astype(np.float32)


def _edges(depth: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Pixels beside a jump of depth."""
    edge = np.zeros(depth.shape, dtype=np.bool_)
    across = np.abs(np.diff(depth, axis=1)) > _EDGE * np.minimum(depth[:, 1:], depth[:, :-1])
    down = np.abs(np.diff(depth, axis=0)) > _EDGE * np.minimum(depth[1:], depth[:-1])
    edge[:, 1:] |= across
    edge[:, :-1] |= across
    edge[1:] |= down
    edge[:-1] |= down
    return edge


def _hidden(disparity: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Pixels that the second imager, to the right, does not see, since something covers them there."""
    place = np.arange(disparity.shape[1]) - disparity
    nearest = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
    hidden = np.zeros(disparity.shape, dtype=np.bool_)
    hidden[:, :-1] = nearest[:, 1:] < place[:, :-1] - 0.5
    return hidden
