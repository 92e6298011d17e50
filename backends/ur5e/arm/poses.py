"""Between poses of this package (4×4, base frame) and those of the controller (vectors, UR base frame)."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...device import Matrix
from .messages import Sample

UR_TO_BASE: Matrix = np.diag([-1.0, -1.0, 1.0, 1.0])
"""4×4, its own inverse: the UR base frame has x backward and y to the right, where the cable leaves the
foot."""


def is_rigid(pose: NDArray[np.float64]) -> bool:
    """Whether this is a 4×4 of a rotation and a translation, all finite."""
    return pose.shape == (4, 4) and bool(
        np.isfinite(pose).all()
        and np.allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-4)
        and np.linalg.det(pose[:3, :3]) > 0
        and np.array_equal(pose[3], (0.0, 0.0, 0.0, 1.0))
    )


def pose_of(sample: Sample) -> Matrix:
    """tool_to_base of a reading."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(sample.pose[3:]).as_matrix()
    pose[:3, 3] = sample.pose[:3]
    result: Matrix = UR_TO_BASE @ pose
    return result


def ur_vector(pose: Matrix) -> list[float]:
    """(x, y, z, rx, ry, rz) of a 4×4, in the same frame: m and a rotation vector in rad."""
    return [*pose[:3, 3].tolist(), *Rotation.from_matrix(pose[:3, :3]).as_rotvec().tolist()]


def distance(sample: Sample, target: Matrix) -> float:
    """m from the tool point of a reading to that of a pose."""
    return float(np.linalg.norm(target[:3, 3] - pose_of(sample)[:3, 3]))
