"""Scenes of boxes, cylinders and cups on a table, seen by ray casting; and a cell whose arm obeys at once."""

import math
from dataclasses import dataclass, field

import numpy as np

from skill2real.backends.device import ArmState, Facts, Frame, Motion
from skill2real.backends.geometry import across, inverse, pose_matrix

FAR = 1e9
HOME = pose_matrix(np.array([0.35, 0.0, 0.5]), np.array([0.0, 0.0, -1.0]), np.array([0.0, 1.0, 0.0]))


@dataclass(frozen=True)
class Box:
    """Standing on `bottom`; length along yaw."""

    x: float
    y: float
    length: float
    width: float
    height: float
    yaw: float = 0.0
    bottom: float = 0.0
    colour: tuple[int, int, int] = (180, 40, 40)

    def hit(self, origin, rays):
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        o = turn @ (origin - [self.x, self.y, self.bottom + self.height / 2])
        d = rays @ turn.T
        half = np.array([self.length, self.width, self.height]) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = (-half - o) / d, (half - o) / d
        near, far = np.minimum(a, b).max(axis=-1), np.maximum(a, b).min(axis=-1)
        return np.where((near <= far) & (near > 0), near, FAR)


@dataclass(frozen=True)
class Cylinder:
    """Standing on `bottom`. wall > 0: a cup, open at the top, with this thickness of wall and floor."""

    x: float
    y: float
    radius: float
    height: float
    wall: float = 0.0
    bottom: float = 0.0
    colour: tuple[int, int, int] = (40, 60, 190)

    def hit(self, origin, rays):
        o = origin - [self.x, self.y, self.bottom]
        best = self._side(o, rays, self.radius, 0.0, self.height)
        inner = self.radius - self.wall
        if self.wall == 0.0:
            return np.minimum(best, self._disc(o, rays, self.height, 0.0, self.radius))
        best = np.minimum(best, self._disc(o, rays, self.height, inner, self.radius))
        best = np.minimum(best, self._disc(o, rays, self.wall, 0.0, inner))
        return np.minimum(best, self._side(o, rays, inner, self.wall, self.height, leaving=True))

    def _side(self, o, rays, radius, low, high, leaving=False):
        a = (rays[..., :2] ** 2).sum(axis=-1)
        b = (rays[..., :2] * o[:2]).sum(axis=-1)
        c = (o[:2] ** 2).sum() - radius**2
        root = b * b - a * c
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (-b + (1.0 if leaving else -1.0) * np.sqrt(np.maximum(root, 0.0))) / a
        z = o[2] + t * rays[..., 2]
        return np.where((root > 0) & (t > 0) & (z >= low) & (z <= high), t, FAR)

    def _disc(self, o, rays, height, inner, outer):
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (height - o[2]) / rays[..., 2]
        r = np.hypot(o[0] + t * rays[..., 0], o[1] + t * rays[..., 1])
        return np.where((t > 0) & (r >= inner) & (r <= outer), t, FAR)


@dataclass
class Scene:
    """Things on a table of height `table`, as wide as the cell. noise: of depth at one metre, metres."""

    things: list
    table: float = 0.0
    noise: float = 0.0
    shots: int = 0

    def frame(self, camera, eye, target, size=(192, 192), view_angle=60.0):
        toward = np.asarray(target, float) - np.asarray(eye, float)
        toward /= np.linalg.norm(toward)
        pose = pose_matrix(np.asarray(eye, float), toward, across(np.array([0.0, -1.0, 0.0]), toward))
        return self.seen_from(camera, pose, size, view_angle)

    def seen_from(self, camera, camera_to_base, size=(192, 192), view_angle=60.0):
        width, height = size
        f = width / 2 / math.tan(math.radians(view_angle) / 2)
        k = np.array([[f, 0.0, width / 2 - 0.5], [0.0, f, height / 2 - 0.5], [0.0, 0.0, 1.0]])
        u, v = np.meshgrid(np.arange(width), np.arange(height))
        local = np.stack([(u - k[0, 2]) / f, (v - k[1, 2]) / f, np.ones_like(u, float)], axis=-1)
        rays, origin = local @ camera_to_base[:3, :3].T, camera_to_base[:3, 3]
        with np.errstate(divide="ignore", invalid="ignore"):
            plane = (self.table - origin[2]) / rays[..., 2]
        depth = np.where(plane > 0, plane, FAR)
        colour = np.full((height, width, 3), 150, np.uint8)
        for thing in self.things:
            t = thing.hit(origin, rays)
            nearer = t < depth
            depth[nearer] = t[nearer]
            colour[nearer] = thing.colour
        depth[depth > 5.0] = 0.0
        if self.noise:
            self.shots += 1
            error = np.random.default_rng(self.shots).standard_normal(depth.shape)
            depth = np.where(depth > 0, depth + self.noise * depth**2 * error, 0.0)
        return Frame(camera, colour, depth.astype(np.float32), k, camera_to_base)

    def above(self, x, y, height=0.5):
        """From straight above a place."""
        return self.frame("wrist", (x, y, self.table + height), (x, y, self.table))

    def front(self):
        """From a stand on the far side of the table, looking towards the robot."""
        return self.frame("scene", (1.3, 0.0, 0.8), (0.45, 0.0, 0.05))


@dataclass
class Cell:
    """A Device without physics: the arm is at once where it is sent. moves: what it was told."""

    scene: Scene
    tool: np.ndarray = field(default_factory=lambda: HOME.copy())
    width: float = 0.08
    holding: bool = False
    moves: list = field(default_factory=list)

    camera_to_tool = np.array([[-1.0, 0, 0, 0], [0, -1.0, 0, 0.05], [0, 0, 1.0, -0.1], [0, 0, 0, 1.0]])

    def facts(self):
        return Facts(
            box=((0.2, 0.8), (-0.45, 0.45), (-0.05, 0.9)),
            cameras=("scene", "wrist"),
            arms=("arm",),
            max_width=0.08,
            hand_width=0.2,
            finger_length=0.045,
            wrist_cameras={"wrist": self.camera_to_tool},
            camera_arm={"wrist": "arm"},
        )

    def frame(self, camera):
        if camera == "scene":
            return self.scene.front()
        return self.scene.seen_from("wrist", self.tool @ self.camera_to_tool)

    def arm(self, arm):
        return ArmState(self.tool, self.width, 0.0, self.holding)

    def reachable(self, arm, targets):
        (x0, x1), (y0, y1), (z0, z1) = self.facts().box
        for count, target in enumerate(targets):
            x, y, z = target[:3, 3]
            if not (x0 <= x <= x1 and y0 <= y <= y1 and z0 <= z <= z1):
                return count
        return len(targets)

    def follow(self, arm, targets, speed, force, press, tolerance, also):
        self.moves.append([t.copy() for t in targets])
        self.tool = targets[-1]
        return Motion("", len(targets), 0.0, 0.0, False)

    def touch(self, arm, direction, distance, speed, force):
        self.moves.append((direction, distance))
        return Motion("no_contact", 0, 0.0, 0.0, False)

    def grip(self, arm, width, force):
        self.moves.append(width)
        self.width = width
        return Motion("", 0, 0.0, 0.0, False)

    def home(self, arm):
        self.moves.append("home")
        return Motion("", 1, 0.0, 0.0, False)


def in_tool(pose, points):
    """Points (N, 3) of the base frame as a tool of this 4×4 pose sees them."""
    return points @ inverse(pose)[:3, :3].T + inverse(pose)[:3, 3]
