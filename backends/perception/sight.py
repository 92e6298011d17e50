"""One picture with depth as points in the base frame, and which of them belong to the robot itself."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..device import Frame, Matrix
from ..geometry import Array, inverse, transform

Mask = NDArray[np.bool_]

_FAR = 1e3  # stands for no reading where the nearest one is looked for
_BEYOND = 0.3  # how far things may stand outside the box in which the tool may move
_BEHIND = 0.06  # … and how far towards the robot's base, where the robot itself stands
_HAND_HALF = 0.075  # half the hand's extent across the closing direction, camera mount and margin included
_ARM_RADIUS = 0.16
_BLIND_AREA = 200  # pixels
_FOOT_RADIUS = 0.2  # the robot's own foot, around the base frame's origin


@dataclass(frozen=True)
class Hand:
    """Where a hand was when the picture was taken, and how far open. All lengths in metres. root: x, y of
    its arm's own base in the base frame."""

    tool_to_base: Matrix
    width: float
    hand_width: float
    finger_length: float
    carries_camera: bool
    root: tuple[float, float] = (0.0, 0.0)


class Sight:
    """points: float64 H×W×3 in the base frame. pitch: H×W, the distance on the thing between neighbouring
    pixels. seen: pixels with depth, inside the cell, that are not the robot. robot: pixels that are.
    bridged: like points, but pixels without a reading next to some with one take the nearest surface's;
    for telling what is connected, never for measuring. bridging: those pixels that can so be used together
    with seen."""

    def __init__(
        self,
        frame: Frame,
        box: tuple[tuple[float, float], ...],
        hands: list[Hand],
        table: float | None = None,
    ) -> None:
        self.frame = frame
        depth = np.where(np.isfinite(frame.depth), frame.depth, 0.0).astype(np.float64)
        self.height, self.width = depth.shape
        k = frame.intrinsics
        u = (np.arange(self.width) - k[0, 2]) / k[0, 0]
        v = (np.arange(self.height) - k[1, 2]) / k[1, 1]
        rays = np.stack(np.broadcast_arrays(u[None, :], v[:, None], 1.0), axis=-1)
        measured = depth > 0.0
        nearest = cv2.erode(np.where(measured, depth, _FAR), np.ones((3, 3), np.uint8))
        near = np.where(measured, depth, np.where(nearest < _FAR, nearest, 0.0))
        self.bridged: Array = transform(frame.camera_to_base, rays * near[..., None])
        self.points: Array = np.where(measured[..., None], self.bridged, frame.camera_to_base[:3, 3])
        self.pitch: Array = near / min(k[0, 0], k[1, 1])
        self.origin: Array = frame.camera_to_base[:3, 3]
        self.robot: Mask = np.zeros(depth.shape, dtype=bool)
        for hand in hands:
            self.robot |= (near > 0.0) & _of_robot(self.bridged, hand)
        x, y, z = self.bridged[..., 0], self.bridged[..., 1], self.bridged[..., 2]
        (x0, x1), (y0, y1), (z0, _) = box
        inside = (x > x0 - _BEHIND) & (x < x1 + _BEYOND) & (y > y0 - _BEYOND) & (y < y1 + _BEYOND)
        self.bridging: Mask = (near > 0.0) & inside & (z > z0 - 0.1) & ~self.robot
        self.seen: Mask = measured & self.bridging
        self.table = 0.0 if table is None else table
        self.memo: dict[float, list[Any]] = {}  # things found, by the height asked for
        self._carried = any(hand.carries_camera for hand in hands)

    @cached_property
    def blind(self) -> Mask:
        """Where a camera on a hand sees nothing because of that hand: wide parts without reading, at the
        picture's edge."""
        missing = (self.pitch == 0.0).astype(np.uint8)
        if not self._carried or not missing.any():
            return np.zeros(missing.shape, dtype=bool)
        _, labels, stats, _ = cv2.connectedComponentsWithStats(missing, connectivity=4)
        edge = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
        wide = [label for label in edge if label and stats[label, cv2.CC_STAT_AREA] >= _BLIND_AREA]
        return np.asarray(np.isin(labels, wide))

    @cached_property
    def normals(self) -> Array:
        """H×W×3 unit normals towards the camera, zero where unknown; smoothed over 5×5 pixels."""
        weight = _box_sum(self.seen.astype(float))[..., None]
        smooth = _box_sum(np.where(self.seen[..., None], self.points, 0.0)) / np.maximum(weight, 1.0)
        du, dv = np.zeros_like(smooth), np.zeros_like(smooth)
        du[:, 2:-2] = smooth[:, 4:] - smooth[:, :-4]
        dv[2:-2, :] = smooth[4:, :] - smooth[:-4, :]
        normal = np.cross(dv, du)
        normal *= np.sign(((self.origin - self.points) * normal).sum(axis=-1, keepdims=True))
        length = np.linalg.norm(normal, axis=-1, keepdims=True)
        known = self.seen[..., None] & (length > 1e-12) & (weight > 12.0)
        return np.where(known, normal / np.maximum(length, 1e-12), 0.0)

    def pixels_of(self, points: Array) -> tuple[Array, Array, Array]:
        """u, v and depth at which points (N, 3) of the base frame would be seen; depth <= 0: behind the
        camera."""
        p = transform(inverse(self.frame.camera_to_base), points)
        k = self.frame.intrinsics
        depth = np.where(p[:, 2] > 1e-6, p[:, 2], np.nan)
        return k[0, 0] * p[:, 0] / depth + k[0, 2], k[1, 1] * p[:, 1] / depth + k[1, 2], p[:, 2]


def _of_robot(points: Array, hand: Hand) -> Mask:
    """Points of the hand itself, of the arm (above the tool, near the vertical plane from the base to it)
    and of the robot's foot; a camera on the hand sees no arm."""
    local = transform(inverse(hand.tool_to_base), points)
    x, y, z = np.abs(local[..., 0]), np.abs(local[..., 1]), local[..., 2]
    near = (z > -0.3) & (x < hand.hand_width / 2 + 0.02)
    palm = near & (z < -hand.finger_length + 0.01) & (y < _HAND_HALF)
    fingers = near & (z < 0.012) & (y < 0.02) & (np.abs(x - hand.width / 2 - 0.015) < 0.02)
    tool = hand.tool_to_base[:3, 3]
    away = tool[:2] - hand.root
    reach = float(np.hypot(away[0], away[1]))
    px, py = points[..., 0] - hand.root[0], points[..., 1] - hand.root[1]
    foot = np.hypot(px, py) < _FOOT_RADIUS
    if hand.carries_camera or reach < 1e-6:
        return np.asarray(palm | fingers | foot)
    heading = away / reach
    along = px * heading[0] + py * heading[1]
    off = np.abs(py * heading[0] - px * heading[1])
    arm = (points[..., 2] > tool[2] + 0.02) & (along < reach + 0.1) & (off < _ARM_RADIUS)
    return np.asarray(palm | fingers | arm | foot)


def _box_sum(image: Array) -> Array:
    """5×5 sums of an H×W or H×W×C image, zeros beyond its edge."""
    return np.asarray(cv2.boxFilter(image, -1, (5, 5), normalize=False, borderType=cv2.BORDER_CONSTANT))
